/** @file The rlcer recipe as the command line knows it. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import type { RecipeEntry } from '../common/recipe.ts'
import { type RlcerConfig, rlcerSchema } from './config.ts'
import { planRlcer } from './plan.ts'
import { rlcerPresets } from './presets.ts'

export const rlcerEntry: RecipeEntry<RlcerConfig> = withDataFiles(
  {
    name: 'rlcer',
    summary:
      'thinking paid for by rubrics that the policy proposes itself, as far as they go with being right (RLCER)',
    schema: rlcerSchema,
    presets: rlcerPresets,
    plan: planRlcer,
    run: async (config, options) => (await import('./run.ts')).runRlcer(config, options),
  },
  config => [...taskFiles(config), { path: config.anchors?.file }],
)
