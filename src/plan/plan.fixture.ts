/** @file A recipe's preset as the command line resolves it, without a command line. */

import type { RecipeEntry } from '../recipes/index.ts'

export const resolvedPreset = <Config>({ schema, presets }: RecipeEntry<Config>, name: string): Config =>
  schema.parse(presets[name].config)
