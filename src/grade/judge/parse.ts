/** @file Finds the JSON in a model's answer, whatever stands around it, and never makes up what is not there. */

import { jsonrepair } from 'jsonrepair'

/** What was read, or why nothing was. */
export type Reading<T> = { value: T; problem?: undefined } | { value?: undefined; problem: string }

/** What was read from an answer; `strict` where the answer was JSON as a whole, with nothing to search or repair. */
export type ParsedAnswer<T> = Reading<T> & { strict: boolean }

/** Reads a JSON value that has the right shape, or says what is wrong with it. */
export type Reader<T> = (json: unknown, strict: boolean) => Reading<T>

/**
 * An answer without its reasoning block; null where the block never ends, so that there is no answer. The block ends at
 * its first closing tag: text that the answer quotes cannot move the end.
 */
export const stripThinking = (text: string): string | null => {
  // Templates that open the block in the prompt leave only the closing tag in the answer.
  const end = /<\/think(?:ing)?>/i.exec(text)
  if (end) return text.slice(end.index + end[0].length).trim()
  return /^\s*<think(?:ing)?>/i.test(text) ? null : text.trim()
}

/** The value of a text that is JSON as a whole; undefined for any other. */
const parseStrict = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Reads the JSON value of an answer. Tried in turn: the whole text; fenced blocks; balanced objects and lists, last first
 * (the verdict follows the reasoning); the same with doubled braces undone, and with raw newlines, inner quotes, trailing
 * commas and the like repaired. The first that `read` accepts counts. A value of the wrong type is never converted: the
 * string "true" is no boolean.
 */
export const parseAnswer = <T>(text: string, read: Reader<T>): ParsedAnswer<T> => {
  const whole = parseStrict(text)
  return whole === undefined
    ? { ...searchAnswer(text, read), strict: false }
    : { ...read(whole, true), strict: true }
}

const searchAnswer = <T>(text: string, read: Reader<T>): Reading<T> => {
  const answer = stripThinking(text)
  if (answer === null) return { problem: 'the reasoning block never ends' }
  if (answer === '') return { problem: 'the answer is empty' }
  let problem: string | undefined
  const candidates = candidatesIn(answer)
  for (const parse of [parseStrict, parseRepaired])
    for (const candidate of candidates) {
      const json = parse(candidate)
      if (json === undefined) continue
      const reading = read(json, false)
      if (reading.problem === undefined) return reading
      problem ??= reading.problem
    }
  return { problem: problem ?? 'the answer holds no JSON' }
}

/** The JSON object or list of an answer, of any shape. */
export const parseJsonAnswer = (text: string): ParsedAnswer<unknown> =>
  parseAnswer(text, json =>
    json !== null && typeof json === 'object'
      ? { value: json }
      : { problem: 'expected a JSON object or list' },
  )

const parseRepaired = (text: string): unknown => {
  try {
    return JSON.parse(jsonrepair(text))
  } catch {
    return undefined
  }
}

/** Longer answers are searched at their end only, and in few places: an answer may be one long run of brackets. */
const SEARCHED_CHARACTERS = 50_000
const MAX_CANDIDATES = 24
const MAX_UNBALANCED = 32

const candidatesIn = (answer: string): string[] => {
  const text = answer.slice(-SEARCHED_CHARACTERS)
  const fences = [...text.matchAll(/(`{3,}|~{3,})[^\n`]*\n?([\s\S]*?)\1/g)].map(([, , inside]) =>
    inside.trim(),
  )
  const objects = balanced(text, '{', '}')
  const lists = balanced(text, '[', ']').filter(list => !objects.some(object => object.includes(list)))
  const plain = [...fences.reverse(), ...lists.reverse(), ...objects.reverse(), ...outermost(text)]
  const unique = [...new Set(plain)].slice(0, MAX_CANDIDATES)
  return [...unique, ...unique.flatMap(undoubled)]
}

/** From the first opening brace to the last closing one, or to the end of an answer that lacks it. */
const outermost = (text: string): string[] => {
  const from = text.indexOf('{')
  if (from < 0) return []
  const to = text.lastIndexOf('}')
  return [to > from ? text.slice(from, to + 1) : text.slice(from)]
}

/** `{{...}}`, as a judge writes that copies a prompt template: the outer braces undone, or all of them. */
const undoubled = (text: string): string[] =>
  /^\{\s*\{[\s\S]*\}\s*\}$/.test(text)
    ? [text.replace(/^\{\s*|\s*\}$/g, ''), text.replaceAll('{{', '{').replaceAll('}}', '}')]
    : []

/** Outermost balanced parts, in order; brackets inside strings do not count. */
const balanced = (text: string, open: string, close: string): string[] => {
  const found: string[] = []
  let from = text.indexOf(open)
  let unbalanced = 0
  while (from >= 0 && unbalanced < MAX_UNBALANCED) {
    const end = endOf(text, from, open, close)
    if (end < 0) {
      unbalanced++
      from = text.indexOf(open, from + 1)
    } else {
      found.push(text.slice(from, end))
      from = text.indexOf(open, end)
    }
    if (found.length > MAX_CANDIDATES) found.shift()
  }
  return found
}

const endOf = (text: string, from: number, open: string, close: string): number => {
  let depth = 0
  let inString = false
  for (let i = from; i < text.length; i++) {
    const character = text[i]
    if (inString) {
      if (character === '\\') i++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === open) depth++
    else if (character === close && --depth === 0) return i + 1
  }
  return -1
}
