/** @file The distill recipe as the command line knows it. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import type { RecipeEntry } from '../common/recipe.ts'
import { quickPacking } from '../ruscarl/entry.ts'
import { type DistillConfig, distillSchema } from './config.ts'
import { planDistill } from './plan.ts'

export const distillEntry: RecipeEntry<DistillConfig> = withDataFiles(
  {
    name: 'distill',
    summary:
      'the model that is shown the rubric teaches the one that is not, token by token, without a judge',
    schema: distillSchema,
    presets: {
      quick: quickPacking(),
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
