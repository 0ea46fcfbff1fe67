/** @file The rubricem recipe as the command line knows it. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import type { RecipeEntry } from '../common/recipe.ts'
import { type RubricemConfig, rubricemSchema } from './config.ts'
import { planRubricem } from './plan.ts'
import { rubricemPresets } from './presets.ts'

export const rubricemEntry: RecipeEntry<RubricemConfig> = withDataFiles(
  {
    name: 'rubricem',
    summary:
      'research agents with credit by stage, a judge whose rubrics evolve, reflection and memory (RubricEM)',
    schema: rubricemSchema,
    presets: rubricemPresets,
    plan: planRubricem,
    run: async (config, options) => (await import('./run.ts')).runRubricem(config, options),
  },
  config => [...taskFiles(config), { path: config.anchors?.file }],
)
