/** @file Observations in words, and turns as actions. */

import { valueAt } from '../../tools/pointer.ts'
import { DataError } from '../../util/errors.ts'
import { parseJson } from '../../util/json.ts'
import { isRecord } from '../../util/own-value.ts'
import { safeText } from '../research/index.ts'
import type { ActionSettings } from './settings.ts'

/** A place of an observation that a template names: `{result.text}`; `{}` is all of it. */
const PLACE = /\{([\w./~-]*)\}/g

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)

/**
 * An observation in the words of a template. What the environment says is a stranger's: nothing in it can pass for a tag, a
 * control token or a speaker; what is not there is empty.
 */
export const fillTemplate = (
  template: string,
  observation: Readonly<Record<string, unknown>>,
  maxChars: number,
): string =>
  template.replace(PLACE, (_, path: string) => safeText(textOf(valueAt(observation, path)), maxChars))

/** @throws DataError for a template of which no place is in an observation */
export const assertPlaces = (
  template: string,
  observation: Readonly<Record<string, unknown>>,
  where: string,
): void => {
  const places = [...template.matchAll(PLACE)].map(([, path]) => path)
  if (places.length === 0 || places.some(path => valueAt(observation, path) !== undefined)) return
  throw new DataError(
    `${where}: expected a place that the first observation has, got ${places.map(path => `{${path}}`).join(', ')}; it has ${Object.keys(observation).join(', ') || 'nothing'}`,
    { hint: 'name one of its fields, or {} for all of it' },
  )
}

/** Why a turn is no action, in words for the policy. */
export class ActionFault extends Error {}

export type Action = Record<string, unknown>

/** How far back from the end of a turn an object is looked for. */
const MOST_OBJECTS = 50

/** The last object of a text that is JSON; null for none. */
const lastObject = (text: string): Action | null => {
  const end = text.lastIndexOf('}')
  let at = text.lastIndexOf('{', end)
  for (let tries = 0; at >= 0 && end >= 0 && tries < MOST_OBJECTS; tries++) {
    const value = objectOf(text.slice(at, end + 1))
    // The outermost one that ends there: objects inside it are parts of it.
    if (value !== null) return outermost(text, at, end) ?? value
    at = at === 0 ? -1 : text.lastIndexOf('{', at - 1)
  }
  return null
}

const outermost = (text: string, inner: number, end: number): Action | null => {
  let found: Action | null = null
  let at = inner
  for (let tries = 0; at > 0 && tries < MOST_OBJECTS; tries++) {
    at = text.lastIndexOf('{', at - 1)
    if (at < 0) break
    const value = objectOf(text.slice(at, end + 1))
    if (value !== null) found = value
  }
  return found
}

const objectOf = (text: string): Action | null => {
  try {
    const value = parseJson(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

/**
 * The action that a turn is.
 * @throws ActionFault for a turn that is none
 */
export const actionOf = (turn: string, settings: ActionSettings): Action => {
  if (settings.kind === 'text') return { [settings.field]: turn.trim() }
  if (settings.kind === 'json') {
    const found = lastObject(turn)
    if (found) return found
    throw new ActionFault('The turn holds no JSON object.')
  }
  const { tag, field } = settings
  const open = turn.lastIndexOf(`<${tag}>`)
  const close = turn.indexOf(`</${tag}>`, open)
  if (open < 0 || close < 0) throw new ActionFault(`The turn holds no <${tag}>...</${tag}>.`)
  return { [field]: turn.slice(open + tag.length + 2, close).trim() }
}
