/** @file Rules on the final answer: equal to the gold one after normalising, or mathematically. */

import { z } from 'zod'
import type { GradeItem } from '../grader.ts'
import { labelIn } from '../logic/answer.ts'
import {
  afterThinking,
  behindHashes,
  gradeMath,
  lastBox,
  lastTagged,
  mathEqual,
  withoutTextCommands,
} from '../math/index.ts'
import { rightAnswers } from '../reference.ts'
import { defineRule } from './rule.ts'
import { fold } from './text.ts'

const kinds = z.enum(['auto', 'text', 'label', 'number', 'choice']).default('auto')
type AnswerKind = z.output<typeof kinds>

const MARKER = /\banswer(?: is\b| ?:|[*_]{1,3} ?:)[ *_:]{0,4}/gi

/** What follows the last "answer is" or "answer:" on its line; null where nothing does. */
const afterMarker = (text: string): string | null => {
  const last = [...text.matchAll(MARKER)].at(-1)
  if (!last) return null
  const [line] = text.slice(last.index + last[0].length).split('\n', 1)
  return line.trim() === '' ? null : line
}

/**
 * What a response says is its answer, once its thinking is over: the last `\boxed{}` or `<answer>`, else what follows the last
 * `####`, else the last "answer is" or "answer:" on its line; null where it says none.
 */
export const announcedAnswer = (text: string): string | null => {
  const said = afterThinking(text)
  const [box, tagged] = [lastBox(said), lastTagged(said)]
  const last = box && tagged ? (box.end > tagged.end ? box : tagged) : (box ?? tagged)
  return last?.text ?? behindHashes(said) ?? afterMarker(said)
}

/** What a response gives as its answer: what it says is it, else its last line; nothing where it is still thinking. */
const finalAnswer = (text: string): string =>
  announcedAnswer(text) ?? afterThinking(text).trim().split('\n').at(-1) ?? ''

/** Spec 1.4: without \boxed{}, surrounding marks, closing full stop and case; one kind of space. */
export const normaliseAnswer = (text: string): string =>
  fold(withoutTextCommands(lastBox(text)?.text ?? text))
    .replace(/^["'`*_$(\\\s]{1,10}/, '')
    .replace(/["'`*_$.)\\\s]{1,10}$/, '')

const NUMBER = /^([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:e[+-]?\d{1,3})?)(?: ?\/ ?(\d+(?:\.\d+)?))?$/

/** A decimal or a fraction; null for anything else. */
const numberOf = (text: string): number | null => {
  const found = NUMBER.exec(text)
  if (!found || !/\d/.test(found[1])) return null
  const value = Number(found[1].replaceAll(',', '')) / Number(found[2] ?? 1)
  return Number.isFinite(value) ? value : null
}

/** Of the larger number. Six digits are enough, cut off as well: 0.333333 is 1/3. */
const LARGEST_DIFFERENCE = 1.000001e-6

const sameNumber = (gold: string, given: string): boolean => {
  const [a, b] = [numberOf(gold), numberOf(given)]
  if (a === null || b === null) return false
  return Math.abs(a - b) <= LARGEST_DIFFERENCE * Math.max(Math.abs(a), Math.abs(b))
}

const isLabelWord = (text: string): boolean => text.length > 1 && labelIn(text) !== null && !/\d/.test(text)

/** The letter of an option that a normalised answer begins with, in lower case; null for none. */
export const choiceOf = (text: string): string | null =>
  /^(?:option |choice )?([a-z])(?:$|[^a-z0-9])/.exec(text)?.[1] ?? null

const COMPARE: Readonly<Record<AnswerKind, (gold: string, given: string) => boolean>> = {
  text: (gold, given) => gold === given,
  number: sameNumber,
  label: (gold, given) => labelIn(gold) !== null && labelIn(gold) === labelIn(given),
  choice: (gold, given) => choiceOf(gold) !== null && choiceOf(gold) === choiceOf(given),
  auto: (gold, given) => {
    if (gold === given || sameNumber(gold, given)) return true
    // A single letter may be an option's name; only whole words are labels by themselves.
    const isLabel = isLabelWord(gold) && gold.split(' ').length <= 3
    return isLabel && given.split(' ').length <= 3 && labelIn(gold) === labelIn(given)
  },
}

/** Whether an answer equals a gold one, both as they were written. */
const sameAnswer = (gold: string, given: string, kind: AnswerKind = 'auto'): boolean =>
  COMPARE[kind](normaliseAnswer(gold), normaliseAnswer(given))

const goldParameter = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional()

/** The gold answers of a rule or, where it gives none, of the item. */
const goldAnswers = (given: string | string[] | undefined, item: GradeItem): string[] => {
  if (given !== undefined) return [given].flat()
  return item.reference === undefined
    ? []
    : (rightAnswers(item.reference) ?? []).filter(text => text.trim() !== '')
}

const NO_GOLD = {
  met: null,
  explanation:
    'no gold answer: give it as the parameter gold or as the reference of the item, as a text or a list of texts',
}

const exactRule = defineRule({
  name: 'exact_answer',
  about:
    'The final answer equals the gold one (or one of several): as text, number, label (True, False, Unknown in their many words) or letter of a choice. The gold answer is given, or the reference of the item.',
  params: { gold: goldParameter, kind: kinds, extract: z.boolean().default(true) },
  compile:
    ({ gold, kind, extract }) =>
    (text, item) => {
      const golds = goldAnswers(gold, item)
      if (golds.length === 0) return NO_GOLD
      const given = extract ? finalAnswer(text) : text
      const met = golds.some(each => sameAnswer(each, given, kind))
      return met || { met, explanation: `answered ${JSON.stringify(given.trim().slice(0, 100))}` }
    },
})

/** Equal to any of the gold answers; undecided where none is equal and one could not be compared. */
const anyEqual = (results: readonly (boolean | null)[]): boolean | null =>
  results.includes(true) || (results.includes(null) ? null : false)

const mathRule = defineRule({
  name: 'math_equal',
  about:
    'The final answer is mathematically equal to the gold one (or one of several): numbers, fractions, units, sets, intervals, expressions. The gold answer is given, or the reference of the item.',
  params: { gold: goldParameter, extract: z.boolean().default(true) },
  compile:
    ({ gold, extract }) =>
    (text, item) => {
      const golds = goldAnswers(gold, item)
      if (golds.length === 0) return NO_GOLD
      if (!extract) return anyEqual(golds.map(each => mathEqual(each, text.trim(), { extract: false })))
      const grades = golds.map(each => gradeMath(each, text))
      const { answer } = grades[0]
      return {
        met: anyEqual(grades.map(({ equal }) => equal)),
        explanation: answer === null ? 'no answer found' : `answered ${answer.slice(0, 100)}`,
      }
    },
})

export const ANSWER_RULES = [exactRule, mathRule]
