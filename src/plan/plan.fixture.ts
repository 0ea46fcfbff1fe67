/** @file A recipe's preset as the command line resolves it, without a command line. */

import type { RecipeEntry } from '../recipes/common/recipe.ts'

export const resolvedPreset = <Config>({ schema, presets }: RecipeEntry<Config>, name: string): Config =>
  schema.parse(presets[name].config)
