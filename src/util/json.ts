/** @file JSON from outside: an error says where and what, nothing is nested without end, and every string is text. */

import { DataError } from './errors.ts'

/** Deepest nesting of lists and objects that is taken; what walks through them calls itself for every level. */
export const MAX_DEPTH = 200

const children = (value: unknown): unknown[] =>
  value !== null && typeof value === 'object' ? Object.values(value) : []

const isContainer = (value: unknown): boolean => value !== null && typeof value === 'object'

/**
 * Whether lists and objects lie in each other more than `MAX_DEPTH` deep, or a value contains itself. Goes level by level, so
 * that no depth is too deep for it. @param maxValues gives up, with true, where a value unfolds to more values than these
 */
export const isTooDeep = (value: unknown, maxValues = Number.POSITIVE_INFINITY): boolean => {
  let level = [value].filter(isContainer)
  let values = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= MAX_DEPTH) return true
    const next: unknown[] = []
    for (const container of level) {
      for (const child of children(container)) {
        if (isContainer(child)) next.push(child)
        if (++values > maxValues) return true
      }
    }
    level = next
  }
  return false
}

/** `\ud800` to `\udfff`, which JSON can write and UTF-8 cannot hold. */
const MAY_HAVE_SURROGATES = /\\u[dD][89a-fA-F]|[\ud800-\udfff]/

const LONE_SURROGATE = /\p{Surrogate}/u

/** The text with every half of a surrogate pair, which UTF-8 cannot hold, made U+FFFD. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd')

const refuseLoneSurrogates = (_key: string, value: unknown): unknown => {
  const texts = typeof value === 'string' ? [value] : isContainer(value) ? Object.keys(value as object) : []
  for (const text of texts) {
    const at = text.search(LONE_SURROGATE)
    if (at < 0) continue
    const unit = text.charCodeAt(at).toString(16)
    throw new DataError(
      `expected text, got half of a character (\\u${unit}) in ${JSON.stringify(shortened(text, at))}`,
      { hint: 'write the character whole, or leave it out' },
    )
  }
  return value
}

/**
 * @param text of JSON
 * @throws DataError for a string or key with half of a surrogate pair
 */
export const assertWholeText = (text: string): void => {
  if (MAY_HAVE_SURROGATES.test(text)) JSON.parse(text, refuseLoneSurrogates)
}

/** The value of a JSON text; undefined for what is none. Of texts whose faults nobody is shown. */
export const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const shortened = (text: string, at: number): string => text.slice(Math.max(0, at - 20), at + 20)

/**
 * The value of a JSON text.
 * @param place named in errors; '' where whoever calls names it
 * @throws DataError for what is no JSON, nested deeper than `MAX_DEPTH`, or has a string with half of a surrogate pair, which
 * is no text and would become U+FFFD wherever it is written.
 */
export const parseJson = (text: string, place = ''): unknown => {
  const at = place === '' ? '' : `${place}: `
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new DataError(`${at}expected JSON, got text that is none (${jsonProblem(error)})`, { cause: error })
  }
  if (isTooDeep(value))
    throw new DataError(`${at}expected lists and objects at most ${MAX_DEPTH} deep, got deeper ones`, {
      hint: 'write it flatter',
    })
  try {
    assertWholeText(text)
  } catch (error) {
    throw new DataError(`${at}${(error as Error).message}`, { cause: error })
  }
  return value
}

/** Where JSON.parse stopped. It repeats the text around it, which may be long. */
const jsonProblem = (error: unknown): string => {
  const { message } = error as Error
  return message.length > 160 ? `${message.slice(0, 157)}...` : message
}
