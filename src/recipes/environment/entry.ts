/** @file The environment recipe as the command line knows it. */

import { withDataFiles } from '../common/data-files.ts'
import { machinePlan } from '../common/feasible.ts'
import { planTraining } from '../common/plan.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { shapeFolder } from '../common/remote.ts'
import { type EnvironmentConfig, environmentSchema } from './config.ts'
import { checkEnvironment, runEnvironment } from './run.ts'

const NO_COLD_START = (): never => {
  throw new Error('this recipe has no cold start')
}

const taskLines = ({ task }: EnvironmentConfig): string[] =>
  task.kind === 'openenv'
    ? [
        `environment  OpenEnv at ${task.url}, not asked yet: ${task.train} seeds to train on, ${task.test} to test on, at most ${task.maxTurns} turns`,
        `rubric       ${task.rubric ?? 'none'}`,
      ]
    : [`environment  ${task.tools.length} sources of tools, questions of ${task.file ?? 'no file'}`]

const plan = (config: EnvironmentConfig): RunPlan => {
  checkEnvironment(config, 'plan')
  const { task, rollout, steps, reward } = config
  const planned = { ...config, coldStart: null, rollout: { ...rollout, maxTokens: task.maxTokens } }
  const { start, parameters, learning, needs, work, sizes, time } = planTraining(planned, NO_COLD_START, {
    ...{ tokens: rollout.maxTokens, longest: rollout.maxTokens, together: rollout.prompts },
  })
  const machine = machinePlan(config, time, sizes.memoryBytes)
  return {
    lines: [
      `model        ${start}`,
      parameters,
      ...taskLines(config),
      `reward       ${reward.environment} x environment (${reward.of}) + ${reward.rubric} x rubric`,
      `training     ${steps} steps of ${rollout.prompts} problems x ${rollout.samples} episodes, at most ${task.maxTokens} tokens each`,
      `optimiser    AdamW, ${learning}`,
      ...needs,
      ...machine.lines,
    ],
    json: { steps, ...work, ...machine.json, ...sizes, model: shapeFolder(config) },
  }
}

/** What a small model needs whose words are few. */
const SMALL = {
  minibatches: 2,
  optimizer: { learningRate: { kind: 'linear', peak: 1e-3, warmup: 5, floor: 0.1 }, beta2: 0.95 },
  loss: { preset: 'gradus:ruscarl', kl: { kind: 'none', coef: 0 } },
}

export const environmentEntry: RecipeEntry<EnvironmentConfig> = withDataFiles(
  {
    name: 'environment',
    summary: 'acting in an OpenEnv server, or with tools of MCP servers, paid by its reward and a rubric',
    schema: environmentSchema,
    presets: {
      chat: {
        summary: 'a chat model in an OpenEnv server on this machine; name yours in model.folder and task.url',
        config: { model: { folder: 'models/Qwen2.5-0.5B-Instruct' } },
      },
      packing: {
        summary:
          'the shipped words of packing in the game of scripts/peers/openenv_echo.py, half a minute on one core',
        config: {
          ...SMALL,
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
    plan,
    run: (config, options) => runEnvironment(config, options),
  },
  ({ task }) =>
    task.kind === 'openenv'
      ? [{ path: task.rubric }]
      : [
          { path: task.file, columns: task.columns },
          { path: task.testFile, columns: task.columns },
          { path: task.rubric },
        ],
)
