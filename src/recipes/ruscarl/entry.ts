/** @file The ruscarl recipe as the command line knows it. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import type { RecipeEntry } from '../common/recipe.ts'
import { type RuscarlConfig, ruscarlSchema } from './config.ts'
import { planRuscarl } from './plan.ts'
import { ruscarlPresets } from './presets.ts'

export const ruscarlEntry: RecipeEntry<RuscarlConfig> = withDataFiles(
  {
    name: 'ruscarl',
    summary: 'rubrics as scaffolding while exploring, and as rewards (RuscaRL)',
    schema: ruscarlSchema,
    presets: ruscarlPresets,
    plan: planRuscarl,
    run: async (config, options) => (await import('./run.ts')).runRuscarl(config, options),
  },
  taskFiles,
)
