/** @file The ruscarl recipe as the command line knows it. */

import type { RecipeEntry } from '../common/recipe.ts'
import { type RuscarlConfig, ruscarlSchema } from './config.ts'
import { planRuscarl } from './plan.ts'
import { presets } from './presets.ts'
import { runRuscarl } from './run.ts'

export const ruscarlEntry: RecipeEntry<RuscarlConfig> = {
  name: 'ruscarl',
  summary: 'rubrics as scaffolding while exploring, and as rewards (RuscaRL)',
  schema: ruscarlSchema,
  presets,
  plan: planRuscarl,
  run: (config, options) => runRuscarl(config, options),
}
