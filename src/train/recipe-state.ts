/** @file What lives across a recipe's steps, in checkpoints: as JSON, and just as it was. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EARLIER_CHECKPOINT } from '../runs/run-state.ts'
import { writeFileAtomic } from '../util/atomic.ts'
import { CheckpointError, DataError } from '../util/errors.ts'
import { isRecord } from '../util/own-value.ts'
import type { RecipeState } from './recipe.ts'

export const RECIPE_STATE = 'recipe-state.json'

export interface SavedState {
  now: unknown
  /** What it was when the rollouts of each step were begun that were sampled ahead. */
  begun: readonly unknown[]
}

const nameOf = (value: unknown): string => {
  if (typeof value === 'object' && value !== null)
    return value.constructor?.name ?? 'an object of its own kind'
  return typeof value === 'number' || value === undefined ? String(value) : `a ${typeof value}`
}

/** Refuses what JSON would change without a word: a list of floats becomes an object, NaN becomes null, a map is emptied. */
const checkJson = (value: unknown, place: string): void => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value))
    return
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) checkJson(item, `${place}[${i}]`)
    return
  }
  const isPlain = typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value))
  if (!isPlain)
    throw new DataError(
      `${place}: expected JSON, got ${nameOf(value)}: it would not come back from a checkpoint as it is`,
      { hint: 'have `save` of the state give lists, plain objects, texts and finite numbers' },
    )
  for (const [key, item] of Object.entries(value as object))
    if (item !== undefined) checkJson(item, `${place}.${key}`)
}

/** Several states as one, by name; nothing where all are absent. */
export const joinedState = (
  parts: Readonly<Record<string, RecipeState | null | undefined>>,
): { state?: RecipeState } => {
  const states = Object.entries(parts).flatMap(([name, state]) => (state ? [[name, state] as const] : []))
  if (states.length === 0) return {}
  return {
    state: {
      save: () => Object.fromEntries(states.map(([name, state]) => [name, state.save()])),
      load: value => {
        for (const [name, state] of states) {
          if (!isRecord(value) || value[name] === undefined)
            throw new CheckpointError(`recipe's state: expected ${name} in it, got none`, {
              hint: EARLIER_CHECKPOINT,
            })
          state.load(value[name])
        }
      },
    },
  }
}

/**
 * The state as it is now, which later steps cannot change any more.
 * @throws DataError for what JSON does not keep
 */
export const snapshotOf = (state: Pick<RecipeState, 'save'>): unknown => {
  const value = state.save()
  checkJson(value, 'state')
  return JSON.parse(JSON.stringify(value))
}

/** Writes states into a checkpoint's folder. */
export const saveState = (folder: string, state: SavedState): void =>
  writeFileAtomic(join(folder, RECIPE_STATE), `${JSON.stringify(state)}\n`)

/** @throws CheckpointError where there is none, or a broken one */
export const loadState = (folder: string): SavedState => {
  const path = join(folder, RECIPE_STATE)
  const hint = EARLIER_CHECKPOINT
  if (!existsSync(path))
    throw new CheckpointError(`${path}: expected the recipe's state, got no file`, { hint })
  try {
    // Before there could be two steps of them, `ahead` was the state of the one.
    const state = JSON.parse(readFileSync(path, 'utf8')) as (Partial<SavedState> & { ahead?: unknown }) | null
    if (state !== null && typeof state === 'object' && 'now' in state)
      return { now: state.now, begun: state.begun ?? ('ahead' in state ? [state.ahead] : []) }
  } catch {}
  throw new CheckpointError(`${path}: expected the recipe's state as JSON`, { hint })
}
