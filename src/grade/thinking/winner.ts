/** @file Which of several texts is the best, by a judge that sees them without names, in every order. */

import { type JudgedComparison, permutations } from '../../eval/winrate.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { DataError } from '../../util/errors.ts'
import { QUOTING_NOTE } from '../../util/untrusted.ts'
import type { GradeOptions, Grader } from '../grader.ts'
import type { Parsed, ParsedAnswer } from '../judge/parse.ts'
import { readAnswer } from '../judge/templates/answer.ts'
import { oneTemplateForm } from '../judge/templates/lists.ts'
import { type Judgement, type Scale, shortValue } from '../judge/templates/scale.ts'
import type { JudgeTemplate } from '../judge/templates/template.ts'

const KEY = 'best_text'

const SCALE: Scale = {
  name: 'best-of',
  key: KEY,
  valueSchema: { type: 'integer', minimum: 0 },
  valueText: 'the number of a text, or 0',
  rules: [],
  question: () => '',
  // Verdicts come from `readChoice`, for all texts at once.
  read: () => ({ problem: 'a text is not judged alone' }),
}

/** The number of the text that was chosen; 0 for none. */
const readChoice = (text: string, count: number): ParsedAnswer<number[]> =>
  readAnswer<number>(text, {
    scale: SCALE,
    bareLists: false,
    read: (json): Parsed<{ judgement: number; said: string }[]> => {
      if (json === null || typeof json !== 'object' || Array.isArray(json))
        return { problem: 'expected a JSON object' }
      const value = Object.hasOwn(json, KEY) ? (json as Record<string, unknown>)[KEY] : undefined
      return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= count
        ? { value: [{ judgement: value, said: String(value) }] }
        : { problem: `${KEY}: expected a number from 0 to ${count}, got ${shortValue(value)}` }
    },
  })

/** Each text is a criterion that one of them alone meets: to be the best. */
const read = (text: string, criteria: readonly Criterion[]): ParsedAnswer<Judgement[]> => {
  const { strict, ...reading } = readChoice(text, criteria.length)
  if (reading.problem !== undefined) return { problem: reading.problem, strict }
  const [best] = reading.value
  return { value: criteria.map((_, index) => ({ met: index + 1 === best })), strict }
}

const template: JudgeTemplate = {
  name: 'best-of/number',
  version: 1,
  scale: SCALE,
  system: [
    'You compare ways of thinking about the same query. You are given the query and some texts, each the thinking of another author before answering. Find the one that is thought best.',
    'Rules:',
    ...[
      'What counts: the query is understood, the problem is taken apart sensibly, the facts and inferences are right, what is doubtful is checked, errors are found and mended, and it keeps to the matter.',
      'Length earns nothing, in neither direction; nor does a confident tone, a layout, or the place in which a text stands.',
      'A text may have been cut off at its end. That is no fault of its author.',
      'The number 0 says that the best ones are equally good. Say it only when you cannot find a difference that matters.',
    ].map(rule => `- ${rule}`),
    QUOTING_NOTE,
    `Answer with one JSON object and nothing else: {"reason": "what decides it, briefly", "${KEY}": the number of the best text, or 0}`,
  ].join('\n'),
  question: (texts, quote) =>
    [
      `The texts, ${texts.length} in all:`,
      ...texts.map(({ text }, index) => `Text ${index + 1}:\n${quote(text, 'text')}`),
      `Answer with the JSON object only: first "reason", then "${KEY}", a number from 1 to ${texts.length}, or 0.`,
    ].join('\n'),
  answerSchema: texts => ({
    name: `best_of_${texts.length}`,
    schema: {
      type: 'object',
      properties: {
        reason: { type: 'string' },
        [KEY]: { type: 'integer', minimum: 0, maximum: texts.length },
      },
      required: ['reason', KEY],
      additionalProperties: false,
    },
  }),
  answerText: texts =>
    `one JSON object, first "reason", then "${KEY}" being a number from 1 to ${texts.length}, or 0`,
  read,
}

/** A query and texts about it; one of them is the best, or none. */
export const WINNER_JUDGE = oneTemplateForm(template, { question: 'The query:', judged: null })

/** The thinking of each arm about one query. */
export interface Traces {
  question: string
  texts: readonly string[]
}

export interface WinnerLooks {
  /** For `winRates`: arms in the order shown, and the place that was chosen; null for a tie. */
  comparisons: JudgedComparison[]
  /** Looks without a usable answer. They are no ties, and left out. */
  failed: number
}

const chosenBy = (verdicts: readonly Verdict[]): number | null => {
  const place = verdicts.findIndex(({ met }) => met === true)
  return place < 0 ? null : place
}

/**
 * Shows the texts in every order, and collects what was chosen.
 * @param grader a judge of form `WINNER_JUDGE`, asked about the whole `rubric` in one call
 * @param orders default: all of them, so that no place can favour an arm
 * @throws DataError for fewer than two texts
 * @example
 * const grader = scriptedGrader((_item, { text }) => text === 'I add, then check.')
 * const looks = await pickWinners(grader, { question: '3 + 4?', texts: ['I guess.', 'I add, then check.'] })
 * looks.comparisons // [ { order: [ 0, 1 ], chosen: 1 }, { order: [ 1, 0 ], chosen: 0 } ]
 */
export const pickWinners = async (
  grader: Grader,
  { question, texts }: Traces,
  orders: readonly (readonly number[])[] = permutations(texts.length),
  options?: GradeOptions,
): Promise<WinnerLooks> => {
  if (texts.length < 2)
    throw new DataError(`win rate: expected at least two texts to compare, got ${texts.length}; add an arm`)
  const item = { prompt: [{ role: 'user' as const, content: question }], response: '' }
  const looks = await Promise.all(
    orders.map(async order => {
      const shown = order.map(
        (arm, place): Criterion => ({ id: `text ${place + 1}`, text: texts[arm], points: 1 }),
      )
      const verdicts = await grader.grade(item, shown, options)
      return verdicts.some(({ met }) => met === null) ? null : { order, chosen: chosenBy(verdicts) }
    }),
  )
  const comparisons = looks.filter(look => look !== null)
  return { comparisons, failed: looks.length - comparisons.length }
}

const wordsIn = (text: string): number => text.match(/\S+/g)?.length ?? 0

/** Most combinations of samples that are tried: eight samples of three arms are 512. */
const MOST_COMBINATIONS = 100_000

/** Every choice of one sample an arm, as indices. */
function* combinations(sizes: readonly number[]): Generator<number[]> {
  if (sizes.some(size => size === 0)) return
  const at = sizes.map(() => 0)
  for (;;) {
    yield [...at]
    let arm = sizes.length - 1
    while (arm >= 0 && ++at[arm] === sizes[arm]) at[arm--] = 0
    if (arm < 0) return
  }
}

/**
 * One sample of each arm, such that their lengths in words are as close as can be: a judge may just prefer long texts.
 * @param samples_A_S texts of each arm about the same query
 * @param tolerance by how much the longest may exceed the shortest, as a share of the shortest
 * @returns null where no choice is within the tolerance: the query is then left out of the length-matched comparison
 * @throws DataError for too many samples
 * @example
 * const samples = [['I guess.', 'I guess, and guess again.'], ['I add the two numbers.']]
 * matchLengths(samples) // [ 'I guess, and guess again.', 'I add the two numbers.' ]
 * matchLengths([['I guess.'], ['I add the two numbers.']]) // null
 */
export const matchLengths = (
  samples_A_S: readonly (readonly string[])[],
  tolerance = 0.1,
): string[] | null => {
  const lengths_A_S = samples_A_S.map(samples => samples.map(wordsIn))
  const count = samples_A_S.reduce((product, { length }) => product * length, 1)
  if (count > MOST_COMBINATIONS)
    throw new DataError(
      `win rate: expected at most ${MOST_COMBINATIONS} combinations of samples, got ${count}; give fewer samples an arm`,
    )
  let best: number[] | null = null
  let closest = tolerance
  for (const choice of combinations(samples_A_S.map(({ length }) => length))) {
    const lengths = choice.map((sample, arm) => lengths_A_S[arm][sample])
    const shortest = Math.min(...lengths)
    const excess = (Math.max(...lengths) - shortest) / Math.max(shortest, 1)
    if (best === null ? excess <= closest : excess < closest) {
      best = choice
      closest = excess
    }
  }
  return best === null ? null : best.map((sample, arm) => samples_A_S[arm][sample])
}
