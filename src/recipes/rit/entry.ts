/** @file The rit recipe as the command line knows it. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import type { RecipeEntry } from '../common/recipe.ts'
import { type RitConfig, ritSchema } from './config.ts'
import { planRit } from './plan.ts'
import { ritPresets } from './presets.ts'

export const ritEntry: RecipeEntry<RitConfig> = withDataFiles(
  {
    name: 'rit',
    summary: 'rubrics for the thinking before an answer, fused with the answer’s reward through a gate (RiT)',
    schema: ritSchema,
    presets: ritPresets,
    plan: planRit,
    run: async (config, options) => (await import('./run.ts')).runRit(config, options),
  },
  config => [{ path: config.rubric.file }, ...taskFiles(config)],
)
