/** @file Finds the JSON in a model's answer, whatever stands around it, and never makes up what is not there. */

import { jsonrepair } from 'jsonrepair'
import { tryJson } from '../../util/json.ts'

/** What was read, or why nothing was. */
export type Parsed<T> = { value: T; problem?: undefined } | { value?: undefined; problem: string }

/** What was read from an answer; `strict` where the answer was JSON as a whole, with nothing to search or repair. */
export type ParsedAnswer<T> = Parsed<T> & { strict: boolean }

/** Reads a JSON value that has the right shape, or says what is wrong with it. */
export type Reader<T> = (json: unknown, strict: boolean) => Parsed<T>

/** Longer than any answer that was asked for; what is longer is not read. */
const LONGEST_ANSWER_CHARACTERS = 2_000_000

/** An answer in two parts. */
export interface ThinkingSplit {
  /** What stands before the answer; empty where there is no reasoning. */
  reasoning: string
  /** The block's opening tag is there: what is in it is reasoning beyond doubt. */
  opened: boolean
  /** Null where the block never ends, so that there is no answer. */
  answer: string | null
}

/**
 * Parts reasoning from answer. The block ends at its first closing tag: text that the answer quotes cannot move the end.
 * @example
 * splitThinking('<think>2 + 2</think>4').answer // '4'
 */
export const splitThinking = (text: string): ThinkingSplit => {
  // Templates that open the block in the prompt leave only the closing tag in the answer.
  const end = /<\/think(?:ing)?>/i.exec(text)
  const opened = /^\s*<think(?:ing)?>/i.test(text)
  if (end === null) return { reasoning: opened ? text : '', opened, answer: opened ? null : text.trim() }
  return {
    reasoning: text.slice(0, end.index),
    opened,
    answer: text.slice(end.index + end[0].length).trim(),
  }
}

/**
 * Reads the JSON value of an answer. Tried in turn: the whole text; fenced blocks; balanced objects and lists, last first
 * (the verdict follows the reasoning); the same with doubled braces undone, and with raw newlines, inner quotes, trailing
 * commas and the like repaired. The first that `read` accepts counts. A value of the wrong type is never converted: the
 * string "true" is no boolean.
 */
export const parseAnswer = <T>(text: string, read: Reader<T>): ParsedAnswer<T> => {
  const problem = unreadable(text)
  if (problem !== null) return { problem, strict: false }
  const whole = tryJson(text)
  return whole === undefined
    ? { ...searchAnswer(text, read), strict: false }
    : { ...read(whole, true), strict: true }
}

/** Why an answer is not read at all; null for one that is. */
export const unreadable = (text: string): string | null =>
  text.length > LONGEST_ANSWER_CHARACTERS
    ? `the answer has ${text.length} characters, and at most ${LONGEST_ANSWER_CHARACTERS} are read`
    : null

const searchAnswer = <T>(text: string, read: Reader<T>): Parsed<T> => {
  const { answer } = splitThinking(text)
  if (answer === null) return { problem: NEVER_ENDS }
  if (answer === '') return { problem: EMPTY }
  let problem: string | undefined
  for (const { json } of jsonIn(answer)) {
    const reading = read(json, false)
    if (reading.problem === undefined) return reading
    problem ??= reading.problem
  }
  return { problem: problem ?? NO_JSON }
}

export const NEVER_ENDS = 'the reasoning block never ends'
export const EMPTY = 'the answer is empty'
export const NO_JSON = 'the answer holds no JSON'

/** JSON found in an answer. */
export interface FoundJson {
  json: unknown
  /** The JSON text that it was read from, repaired where it had to be. */
  text: string
}

/** Repairing takes time that grows with the square of the length: this is the sum of squares that one answer may cost. */
const REPAIR_BUDGET = 32_000 ** 2

const repaired = (text: string): FoundJson | null => {
  try {
    const mended = jsonrepair(text)
    return { json: JSON.parse(mended), text: mended }
  } catch {
    return null
  }
}

/** All JSON in a text that is not JSON as a whole: first what needs no repair, then everything repaired. */
export function* jsonIn(answer: string): Generator<FoundJson> {
  const candidates = candidatesIn(answer)
  for (const text of candidates) {
    const json = tryJson(text)
    if (json !== undefined) yield { json, text }
  }
  let budget = REPAIR_BUDGET
  for (const candidate of candidates) {
    const cost = candidate.length ** 2
    if (cost > budget) continue
    budget -= cost
    const found = repaired(candidate)
    if (found !== null) yield found
  }
}

/** Longer answers are searched at their end only, and in few places: an answer may be one long run of brackets. */
const SEARCHED_CHARACTERS = 50_000
const MAX_CANDIDATES = 24
const MAX_UNBALANCED = 32

interface Range {
  from: number
  to: number
}

const candidatesIn = (answer: string): string[] => {
  const text = answer.slice(-SEARCHED_CHARACTERS)
  const objects = balanced(text, '{', '}')
  const lists = balanced(text, '[', ']').filter(
    list => !objects.some(object => object.from <= list.from && list.to <= object.to),
  )
  const ranges = [...fencesIn(text).reverse(), ...lists.reverse(), ...objects.reverse(), ...outermost(text)]
  const unique = [...new Set(ranges.map(({ from, to }) => text.slice(from, to).trim()))].slice(
    0,
    MAX_CANDIDATES,
  )
  return [...unique, ...unique.flatMap(undoubled)]
}

/** Insides of fenced blocks. A block ends at the next fence of its own kind; only the last few fences are looked at. */
const fencesIn = (text: string): Range[] => {
  const fences = [...text.matchAll(/`{3,}|~{3,}/g)].slice(-2 * MAX_CANDIDATES)
  const found: Range[] = []
  for (let at = 0; at < fences.length; at++) {
    const { index, 0: fence } = fences[at]
    const close = fences.findIndex((other, place) => place > at && other[0].startsWith(fence))
    if (close < 0) continue
    found.push({ from: behindFence(text, index + fence.length), to: fences[close].index })
    at = close
  }
  return found
}

/** Behind the rest of a fence's line, which names a language. */
const behindFence = (text: string, from: number): number => {
  const end = text.indexOf('\n', from)
  const line = text.slice(from, end < 0 ? from : end)
  return line.includes('`') || end < 0 ? from : end + 1
}

/**
 * What stands in a fence that is the whole answer; the answer itself where it is not in one.
 * @example
 * withoutFence('```json\n{}\n```') // '{}'
 */
export const withoutFence = (answer: string): string => {
  const fence = /^(?:`{3,}|~{3,})/.exec(answer)?.[0]
  return fence !== undefined && answer.endsWith(fence) && answer.length > 2 * fence.length
    ? answer.slice(behindFence(answer, fence.length), -fence.length).trim()
    : answer
}

/** From the first opening brace to the last closing one, or to the end of an answer that lacks it. */
const outermost = (text: string): Range[] => {
  const from = text.indexOf('{')
  if (from < 0) return []
  const to = text.lastIndexOf('}')
  return [{ from, to: to > from ? to + 1 : text.length }]
}

/** `{{...}}`, as a judge writes that copies a prompt template: the outer braces undone, or all of them. */
const undoubled = (text: string): string[] => {
  if (!text.startsWith('{') || !text.endsWith('}')) return []
  const inside = text.slice(1, -1).trim()
  return inside.startsWith('{') && inside.endsWith('}')
    ? [inside, text.replaceAll('{{', '{').replaceAll('}}', '}')]
    : []
}

/** Outermost balanced parts, in order; brackets inside strings do not count. */
const balanced = (text: string, open: string, close: string): Range[] => {
  const found: Range[] = []
  let from = text.indexOf(open)
  let unbalanced = 0
  while (from >= 0 && unbalanced < MAX_UNBALANCED) {
    const end = endOf(text, from, open, close)
    if (end < 0) {
      unbalanced++
      from = text.indexOf(open, from + 1)
    } else {
      found.push({ from, to: end })
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
