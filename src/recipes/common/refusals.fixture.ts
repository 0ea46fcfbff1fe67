/** @file What plan and run of a recipe say to a configuration, for tests that both refuse the same. */

import { join } from 'node:path'
import { latestCheckpoint } from '../../runs/readers.ts'
import type { RecipeEntry } from './recipe.ts'

const refusalOf = async (work: () => unknown): Promise<string | null> => {
  try {
    await work()
    return null
  } catch (error) {
    const { name, message } = error as Error
    return `${name}: ${message}`
  }
}

/** Error of the plan and of the run, null where there is none; and whether the run left a checkpoint. */
export const refusals = async <Config>(
  { schema, plan, run }: RecipeEntry<Config>,
  settings: Record<string, unknown>,
  folder: string,
) => {
  const config = schema.parse(settings)
  const dir = join(folder, `run-${Math.random().toString(36).slice(2)}`)
  return {
    plan: await refusalOf(() => plan(config)),
    run: await refusalOf(() => run(config, { dir, resume: false })),
    trained: latestCheckpoint(dir) !== null,
  }
}
