/** @file The environment recipe as the command line knows it. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import { miniature, type RecipeEntry } from '../common/recipe.ts'
import { type EnvironmentConfig, environmentSchema } from './config.ts'
import { planEnvironment } from './plan.ts'

export const environmentEntry: RecipeEntry<EnvironmentConfig> = withDataFiles(
  {
    name: 'environment',
    summary: 'acting in an OpenEnv server, or with tools of MCP servers, paid by its reward and a rubric',
    schema: environmentSchema,
    presets: {
      chat: {
        summary: 'a chat model in an OpenEnv server on this machine; name yours in model.folder and task.url',
        config: { model: { folder: 'Qwen/Qwen2.5-0.5B-Instruct' } },
      },
      packing: {
        summary:
          'the shipped words of packing in the game of scripts/peers/openenv_echo.py, half a minute on one core',
        config: {
          ...miniature(24),
          loss: { preset: 'gradus:ruscarl', kl: { kind: 'none', coef: 0 } },
          model: { folder: 'package:models/packing-start' },
          task: {
            kind: 'openenv',
            url: 'http://127.0.0.1:8000',
            format: 'plain',
            prompt: '{say}',
            maxTurns: 3,
            maxTokens: 80,
            train: 256,
            test: 64,
          },
          rollout: { prompts: 8, samples: 8, maxTokens: 24, temperature: 1 },
          steps: 120,
          evaluation: { problems: 64, problemsBetween: 64, every: 30 },
        },
      },
    },
    plan: planEnvironment,
    run: async (config, options) => (await import('./run.ts')).runEnvironment(config, options),
  },
  taskFiles,
)
