/** @file Which settings of a run a card tells: those that differ from the preset, or from the defaults. */

import { modelNameOf } from '../../model/model-place.ts'
import { loadRecipe, RECIPES_BY_NAME } from '../../recipes/by-name.ts'
import type { RecipeEntry } from '../../recipes/common/recipe.ts'
import { isShared, withoutFolders } from '../../runs/hub/index.ts'
import { differentSettings } from '../../runs/report/compare.ts'
import type { RunInfo } from '../../runs/rows.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { GradusError } from '../../util/errors.ts'
import { isRecord } from '../../util/own-value.ts'
import { resolveSettings } from '../train/settings.ts'

/** Settings that say nothing of the model. */
const ELSEWHERE = ['out', 'trackers', 'checkpoint.', 'policy.threads']

/**
 * What differs from the preset, or from the defaults; of a section that these do not have, what differs from its own defaults.
 */
export const changedSettings = async ({
  recipe = '',
  preset,
  config,
}: RunInfo): Promise<{ name: string; value: unknown }[]> => {
  const entry = Object.hasOwn(RECIPES_BY_NAME, recipe) ? await loadRecipe(recipe) : null
  const base = entry === null ? {} : await baseOf(entry, preset)
  return differentSettings(base, withoutOwnDefaults(entry, base, config))
    .filter(
      ({ name, b }) => b !== undefined && isShared(name) && !ELSEWHERE.some(other => name.startsWith(other)),
    )
    .map(({ name, b }) => ({ name, value: isNamedModel(name, b) ? b : withoutFolders(b) }))
}

/** A model's name on the hub is no path of this machine. */
const isNamedModel = (name: string, value: unknown): boolean =>
  name === 'model.folder' && typeof value === 'string' && modelNameOf(value) !== null

/** The settings without what a section that `base` lacks would have by itself: what is left reads as the same settings. */
const withoutOwnDefaults = (entry: RecipeEntry | null, base: object, config: unknown): unknown => {
  const read = (value: unknown): string | null => {
    const result = entry?.schema.safeParse(value)
    return result?.success ? canonicalJson(result.data) : null
  }
  const whole = read(config)
  if (whole === null) return config
  const left = structuredClone(config)
  takeOut(left, base, () => read(left) === whole)
  return left
}

/** Takes out of `node` whatever `other` does not have and whose lack `isSame` does not notice. */
const takeOut = (node: unknown, other: unknown, isSame: () => boolean): void => {
  if (Array.isArray(node)) for (const entry of node) takeOut(entry, {}, isSame)
  if (!isRecord(node)) return
  const known = isRecord(other) && other.kind === node.kind ? other : {}
  for (const [key, value] of Object.entries(node)) {
    const isKnown = Object.hasOwn(known, key) || (key === 'kind' && isRecord(other) && 'kind' in other)
    if (!isKnown) {
      node[key] = undefined
      if (isSame()) continue
      node[key] = value
    }
    takeOut(value, known[key], isSame)
  }
}

const baseOf = async (entry: RecipeEntry, preset: string | undefined): Promise<object> => {
  try {
    return preset === undefined
      ? (entry.schema.parse({}) as object)
      : (await resolveSettings({ target: entry.name, preset })).config
  } catch (error) {
    // A preset that is no more, or defaults that are not whole by themselves.
    if (error instanceof GradusError || (error as Error).name === 'ZodError') return {}
    throw error
  }
}
