/** @file The grpo recipe as the command line knows it: rubric rewards on rows of one's own, by GRPO, without a scaffold. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import type { RecipeEntry } from '../common/recipe.ts'
import { planRuscarl } from '../ruscarl/plan.ts'
import { asRuscarl, type GrpoConfig, grpoSchema } from './config.ts'

export const grpoEntry: RecipeEntry<GrpoConfig> = withDataFiles(
  {
    name: 'grpo',
    summary: 'your own prompts and rubrics, rewards by criterion, GRPO (no scaffold)',
    schema: grpoSchema,
    presets: {
      own: {
        summary: 'rows.jsonl in this folder, and the small chat model that ships',
        config: {
          model: { folder: 'package:models/chat-start' },
          task: { file: 'rows.jsonl', holdOut: 16 },
        },
      },
    },
    plan: config => planRuscarl(asRuscarl(config)),
    run: async (config, options) => (await import('./run.ts')).runGrpo(config, options),
  },
  taskFiles,
)
