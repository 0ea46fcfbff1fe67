/** @file Which settings of a run a card tells: those that differ from the preset, or from the defaults. */

import { modelNameOf } from '../../model/model-place.ts'
import { RECIPES } from '../../recipes/index.ts'
import { isTold, withoutFolders } from '../../runs/hub/index.ts'
import { differentSettings } from '../../runs/report/compare.ts'
import type { RunInfo } from '../../runs/rows.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { GradusError } from '../../util/errors.ts'
import { resolveSettings } from '../train/settings.ts'

/** Settings that say nothing of the model. */
const ELSEWHERE = ['out', 'trackers', 'checkpoint.', 'policy.threads']

/**
 * What differs from the preset, or from the defaults; of a section that these do not have, what differs from its own defaults.
 * Settings of an earlier version are compared as they are.
 */
export const changedSettings = ({ recipe, preset, config }: RunInfo): { name: string; value: unknown }[] => {
  const base = baseOf(recipe, preset)
  return differentSettings(base, withoutOwnDefaults(recipe, base, config))
    .filter(
      ({ name, b }) => b !== undefined && isTold(name) && !ELSEWHERE.some(other => name.startsWith(other)),
    )
    .map(({ name, b }) => ({ name, value: isNamedModel(name, b) ? b : withoutFolders(b) }))
}

/** A model's name on the hub is no path of this machine. */
const isNamedModel = (name: string, value: unknown): boolean =>
  name === 'model.folder' && typeof value === 'string' && modelNameOf(value) !== null

type Tree = Record<string, unknown>

const isTree = (value: unknown): value is Tree =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** The settings without what a section that `base` lacks would have by itself: what is left reads as the same settings. */
const withoutOwnDefaults = (recipe: string | undefined, base: object, config: unknown): unknown => {
  const schema = RECIPES[recipe ?? '']?.schema
  const read = (value: unknown): string | null => {
    const result = schema?.safeParse(value)
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
  if (!isTree(node)) return
  const known = isTree(other) && other.kind === node.kind ? other : {}
  for (const [key, value] of Object.entries(node)) {
    const isKnown = Object.hasOwn(known, key) || (key === 'kind' && isTree(other) && 'kind' in other)
    if (!isKnown) {
      node[key] = undefined
      if (isSame()) continue
      node[key] = value
    }
    takeOut(value, known[key], isSame)
  }
}

const baseOf = (recipe: string | undefined, preset: string | undefined): object => {
  const entry = RECIPES[recipe ?? '']
  if (entry === undefined) return {}
  try {
    return preset === undefined
      ? (entry.schema.parse({}) as object)
      : resolveSettings({ target: entry.name, preset }).config
  } catch (error) {
    // A preset that is no more, or defaults that are not whole by themselves.
    if (error instanceof GradusError || (error as Error).name === 'ZodError') return {}
    throw error
  }
}
