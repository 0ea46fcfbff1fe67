/** @file The distill recipe as the command line knows it. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import type { RecipeEntry } from '../common/recipe.ts'
import { type DistillConfig, distillSchema } from './config.ts'
import { planDistill } from './plan.ts'

/** What the small models of the miniatures need. */
const MINIATURE = {
  rollout: { prompts: 16, samples: 8, maxTokens: 26, temperature: 1 },
  minibatches: 2,
  optimizer: { learningRate: { kind: 'linear', peak: 1e-3, warmup: 5, floor: 0.1 }, beta2: 0.95 },
}

export const distillEntry: RecipeEntry<DistillConfig> = withDataFiles(
  {
    name: 'distill',
    summary:
      'the model that is shown the rubric teaches the one that is not, token by token, without a judge',
    schema: distillSchema,
    presets: {
      quick: {
        summary: '120 steps on the packing task from a shipped start, half a minute on 2 cores',
        config: {
          model: { folder: 'package:models/packing-start' },
          ...MINIATURE,
          steps: 120,
          evaluation: { problems: 300, every: 30, problemsBetween: 150 },
        },
      },
      own: {
        summary: 'rows.jsonl in this folder, and the small chat model that ships',
        config: {
          model: { folder: 'package:models/chat-start' },
          task: { kind: 'conversations', file: 'rows.jsonl', holdOut: 16 },
        },
      },
    },
    plan: planDistill,
    run: async (config, options) => (await import('./run.ts')).runDistill(config, options),
  },
  taskFiles,
)
