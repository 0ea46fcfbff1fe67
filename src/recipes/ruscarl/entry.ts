/** @file The ruscarl recipe as the command line knows it. */

import { withDataFiles } from '../common/data-files.ts'
import type { RecipeEntry } from '../common/recipe.ts'
import { type RuscarlConfig, ruscarlSchema } from './config.ts'
import { planRuscarl } from './plan.ts'
import { presets } from './presets.ts'
import { runRuscarl } from './run.ts'

export const ruscarlEntry: RecipeEntry<RuscarlConfig> = withDataFiles(
  {
    name: 'ruscarl',
    summary: 'rubrics as scaffolding while exploring, and as rewards (RuscaRL)',
    schema: ruscarlSchema,
    presets,
    plan: planRuscarl,
    run: (config, options) => runRuscarl(config, options),
  },
  ({ task: { file, testFile, rubric, columns } }) => [
    { path: file, columns },
    { path: testFile, columns },
    { path: rubric },
  ],
)
