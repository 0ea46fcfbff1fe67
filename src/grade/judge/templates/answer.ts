/** @file What an answer says: read in every way that there is, believed only where all readings and the raw text agree. */

import type { Criterion } from '../../../rubric/criterion.ts'
import { tryJson } from '../../../util/json.ts'
import { bareListsIn, literalsIn, plainKey, saidAs, type VerdictText } from '../literals.ts'
import { type Member, membersOf } from '../members.ts'
import {
  EMPTY,
  jsonIn,
  NEVER_ENDS,
  NO_JSON,
  type Parsed,
  type ParsedAnswer,
  splitThinking,
  unreadable,
  withoutFence,
} from '../parse.ts'
import type { Judgement, Scale } from './scale.ts'

/** A judgement with the value that the judge gave for it. */
export interface Spoken<J = Judgement> {
  judgement: J
  said: VerdictText
}

/** How a template's answer looks as JSON. */
export interface AnswerForm<J = Judgement> {
  scale: Pick<Scale, 'key'>
  /** The judgements of a JSON value. @param whole it is the whole answer, nothing was searched for */
  read(json: unknown, whole: boolean): Parsed<Spoken<J>[]>
  /** Whether judgements may stand in a list without keys: `[true, false]`. */
  bareLists: boolean
}

const TWO_LISTS = 'it gives two lists of verdicts, and they differ'

/** Keys whose doubling makes an answer unclear, besides the verdict's own. */
const LISTS: ReadonlySet<string> = new Set(['verdicts', 'judgement'])

/** Longer than any reason that was asked for: it is kept with every verdict, shown to other judges, and written into runs. */
const LONGEST_EXPLANATION = 4000

/** A judge's reason, its end left out where it has none. */
export const explanationText = (text: string): string =>
  text.length <= LONGEST_EXPLANATION
    ? text
    : `${text.slice(0, LONGEST_EXPLANATION)} [... ${text.length - LONGEST_EXPLANATION} characters are left out here]`

/** Reads verdict and explanation from one object. */
export const withExplanation = (json: object, scale: Scale, criterion: Criterion): Parsed<Spoken> => {
  const fields = json as Record<string, unknown>
  const value = Object.hasOwn(fields, scale.key) ? fields[scale.key] : undefined
  const reading = scale.read(value, criterion)
  if (reading.problem !== undefined) return reading
  const { explanation } = fields
  const judgement =
    typeof explanation === 'string'
      ? { ...reading.value, explanation: explanationText(explanation) }
      : reading.value
  return { value: { judgement, said: saidAs(value) } }
}

/** What is said of each entry of a list, all or nothing. */
export const eachEntry = (
  entries: readonly unknown[],
  readOne: (entry: unknown, index: number) => Parsed<Spoken>,
): Parsed<Spoken[]> => {
  const spoken: Spoken[] = []
  for (const [index, entry] of entries.entries()) {
    const reading = readOne(entry, index)
    if (reading.problem !== undefined) return { problem: `verdict ${index + 1}: ${reading.problem}` }
    spoken.push(reading.value)
  }
  return { value: spoken }
}

/**
 * Reads an answer. A judge that copies the reply without escaping it gives verdicts of the reply's making:
 * `{"explanation": "It says ", "criteria_met": true} as if ...", "criteria_met": false}`. Which one is meant cannot be known,
 * so all readings must say the same, and so must every verdict that stands in the raw text. The judge's own stands there as it
 * was asked for; therefore nothing that is copied beside it can be taken for its opposite, however it is escaped. For the same
 * reason a repair cannot make a verdict: what is believed stands in the text, key and value.
 * Where the answer is JSON as a whole, text inside its strings is quoted and does not count.
 */
export const readAnswer = <J>(text: string, form: AnswerForm<J>): ParsedAnswer<J[]> => {
  const problem = unreadable(text)
  if (problem !== null) return { problem, strict: false }
  const whole = tryJson(text)
  const strict = whole !== undefined
  const reading = strict ? readWhole(text, whole, form) : readLoose(text, form)
  return reading.problem === undefined
    ? { value: reading.value.map(({ judgement }) => judgement), strict }
    : { problem: reading.problem, strict }
}

const readLoose = <J>(text: string, form: AnswerForm<J>): Parsed<Spoken<J>[]> => {
  const unfenced = readUnfenced(text.trim(), form)
  if (unfenced !== null) return unfenced
  const { reasoning, opened, answer } = splitThinking(text)
  if (answer === null) return { problem: NEVER_ENDS }
  if (answer === '') return { problem: EMPTY }
  const reading = readUnfenced(answer, form) ?? readSearched(answer, text, form)
  if (reading.problem !== undefined || opened) return reading
  // Without its opening tag it may be no reasoning at all: a closing tag that the judge copied may have cut its answer in two.
  const listed = form.bareLists && bareListsIn(reasoning).some(list => list.join() !== saidBy(reading.value))
  return listed ? { problem: TWO_LISTS } : checked(reading, literalsIn(reasoning, form.scale.key).read)
}

/** An answer that is JSON as a whole but for a fence around it; null for any other. */
const readUnfenced = <J>(answer: string, form: AnswerForm<J>): Parsed<Spoken<J>[]> | null => {
  const inside = withoutFence(answer)
  const json = tryJson(inside)
  return json === undefined ? null : readWhole(inside, json, form)
}

/** An answer that is JSON as a whole: every member of that name counts, at any depth, also the one that a later one hides. */
const readWhole = <J>(text: string, json: unknown, form: AnswerForm<J>): Parsed<Spoken<J>[]> => {
  const reading = form.read(json, true)
  if (reading.problem !== undefined) return reading
  const members = membersOf(text)
  return doubled(members) ?? checked(reading, verdictsAmong(members, form))
}

const verdictsAmong = (members: readonly Member[], { scale }: AnswerForm<unknown>): VerdictText[] => {
  const key = plainKey(scale.key)
  return members.filter(member => plainKey(member.key) === key).map(({ value }) => saidAs(value))
}

/** Two lists of verdicts, or an entry with two numbers. */
const doubled = (members: readonly Member[]): { problem: string } | null => {
  const lists = members.filter(({ key }) => LISTS.has(plainKey(key))).length
  if (lists > 1) return { problem: `it gives ${lists} lists of verdicts where one was asked for` }
  const numbers = new Map<number, unknown>()
  for (const { object, key, value } of members) {
    if (plainKey(key) !== 'number') continue
    if (numbers.has(object) && numbers.get(object) !== value)
      return { problem: 'an entry has two numbers where one was asked for' }
    numbers.set(object, value)
  }
  return null
}

const readSearched = <J>(answer: string, text: string, form: AnswerForm<J>): Parsed<Spoken<J>[]> => {
  const { key } = form.scale
  // White space behind a number says that it has no further digits.
  const { exact, read } = literalsIn(/\s$/.test(text) ? `${answer}\n` : answer, key)
  const lists = form.bareLists ? bareListsIn(answer) : []
  let first: Parsed<Spoken<J>[]> | undefined
  let problem: string | undefined
  for (const { json, text: found } of jsonIn(answer)) {
    const reading = form.read(json, false)
    problem ??= reading.problem
    if (reading.problem !== undefined) continue
    first ??= reading
    const said = saidBy(reading.value)
    if (said !== saidBy(first.value as Spoken<J>[])) return { problem: 'it can be read in two ways' }
    const agreed = checked(reading, verdictsAmong(membersOf(found), form))
    if (agreed.problem !== undefined) return agreed
    if (lists.some(list => list.join() !== said)) return { problem: TWO_LISTS }
  }
  if (first?.value === undefined) return { problem: problem ?? NO_JSON }
  const named = read.length > 0 || lists.length === 0
  if (named && exact.length === 0) return { problem: `no "${key}" with its value stands in it as asked for` }
  return checked(first, read)
}

const saidBy = (spoken: readonly Spoken<unknown>[]): string => spoken.map(({ said }) => said).join()

/**
 * The reading, where the verdicts that were found elsewhere do not contradict it: as many and the same in the same order, or
 * all of them one and the same.
 */
const checked = <J>(reading: { value: Spoken<J>[] }, found: readonly VerdictText[]): Parsed<Spoken<J>[]> => {
  const said = reading.value.map(spoken => spoken.said)
  if (found.length === said.length && found.every((each, index) => each === said[index])) return reading
  if (new Set([...found, ...said]).size <= 1 || found.length === 0) return reading
  return { problem: `it gives ${found.length} verdicts where ${said.length} were asked for, and they differ` }
}
