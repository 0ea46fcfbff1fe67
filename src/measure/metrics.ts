/** @file Metrics of graded answers: means over problems with intervals over problems. */

import { wordsOf } from '../grade/rules/text.ts'
import type { AnswerGrades, CountedValue } from '../recipes/common/task-kind.ts'
import type { Verdict } from '../rubric/criterion.ts'
import { creditOf } from '../rubric/score.ts'
import type { Interval } from '../runs/rows.ts'
import { bootstrapInterval, mean, std, wilsonInterval } from '../util/statistics.ts'
import type { SavedAnswer } from './answers.ts'
import type { MeasuredProblem, MeasuredTask } from './task.ts'

/** An answer with what was said of it. */
export interface GradedAnswer extends AnswerGrades {
  answer: SavedAnswer
  /** The text that was graded. */
  text: string
  /** Of the judge that training never saw. */
  heldOut?: AnswerGrades
}

export interface MetricName {
  name: string
  words: string
  group: 'score' | 'rate' | 'response' | 'held-out judge'
  unit: 'share' | 'words' | 'tokens' | 'reward'
  /** More of it is worse: the rate of a penalty, answers that were cut off. */
  isBad?: true
}

export interface MeasuredMetric {
  /** Mean over problems; null where nothing is known of any. */
  value: number | null
  /** 95%, over problems; null for fewer than two. */
  interval: Interval | null
  /** Problems of which it is known. */
  n: number
  /** Of several answers a problem: the standard deviation (n - 1) between the means of the first answers, the second ones, ... */
  sd?: number
}

export interface MeasuredItem {
  id: string
  /** Means over the problem's answers, by name of metric. */
  values: Readonly<Record<string, CountedValue>>
  graded: readonly GradedAnswer[]
}

export interface Measured {
  /** Who answered. */
  model: string
  items: readonly MeasuredItem[]
  metrics: Readonly<Record<string, MeasuredMetric>>
  /** Share of verdicts that graders failed to give: of all, and by the rates' names. */
  nullRate: number
  nullRates: Readonly<Record<string, number>>
  /** Names of rates of which a judge should have said something, and nothing is known at all. */
  unjudged: readonly string[]
}

const RESPONSE: readonly MetricName[] = [
  { name: 'length', words: 'words per response', group: 'response', unit: 'words' },
  { name: 'tokens', words: 'tokens per response', group: 'response', unit: 'tokens' },
  { name: 'cutOff', words: 'cut off by the token limit', group: 'response', unit: 'share', isBad: true },
]

const HELD_OUT: MetricName = {
  name: 'heldOutScore',
  words: 'held-out judge: score',
  group: 'held-out judge',
  unit: 'share',
}

/** The name of a criterion's metric: its own where no score has it. */
const rateName = ({ scores }: MeasuredTask, rate: string): string =>
  rate in scores || [...RESPONSE, HELD_OUT].some(({ name }) => name === rate) ? `criterion.${rate}` : rate

/** All metrics of a task on some problems, in the order in which they are shown. */
export const metricNames = (
  task: MeasuredTask,
  problems: readonly MeasuredProblem[],
  { heldOut }: { heldOut: boolean },
): MetricName[] => {
  const rates = [...new Set(problems.flatMap(({ rates }) => [...rates.values()]))]
  const bad = new Set(
    problems.flatMap(({ rubric, rates: own }) =>
      rubric.criteria.flatMap(({ id, points }) => (points < 0 ? (own.get(id) ?? []) : [])),
    ),
  )
  return [
    ...Object.entries(task.scores).map(
      ([name, { words, unit = 'share' as const }]): MetricName => ({ name, words, group: 'score', unit }),
    ),
    ...rates.map(
      (rate): MetricName => ({
        ...{ name: rateName(task, rate), words: rate, group: 'rate', unit: 'share' },
        ...(bad.has(rate) && { isBad: true }),
      }),
    ),
    ...RESPONSE,
    ...(heldOut ? [HELD_OUT] : []),
  ]
}

const isKnown = (value: number | null): value is number => value !== null

/** Mean of what is known; the weight is that of one answer. */
const meanOf = (counted: readonly CountedValue[]): CountedValue => {
  const known = counted.filter(({ value }) => isKnown(value))
  if (known.length === 0) return { value: null }
  const { weight } = known[0]
  return { value: mean(known.map(({ value }) => value!)), ...(weight !== undefined && { weight }) }
}

const ratesOf = (
  task: MeasuredTask,
  { rates }: MeasuredProblem,
  verdicts: readonly Verdict[],
): Record<string, CountedValue> => {
  const credits = new Map<string, number[]>()
  for (const verdict of verdicts) {
    const rate = rates.get(verdict.criterionId)
    const credit = creditOf(verdict)
    if (rate === undefined || credit === null) continue
    credits.set(rate, [...(credits.get(rate) ?? []), credit])
  }
  return Object.fromEntries(
    [...credits].map(([rate, values]) => [
      rateName(task, rate),
      { value: mean(values), weight: values.length },
    ]),
  )
}

/** Whether a judge has failed to say something; a rule that says nothing (`likelihood` outside a training) does so of every model. */
const isUnjudged = (verdict: Verdict): boolean =>
  creditOf(verdict) === null && (verdict.source === 'llm' || verdict.source === 'model')

/** Metrics of one answer by name. */
export const measuredValues = (
  task: MeasuredTask,
  problem: MeasuredProblem,
  graded: GradedAnswer,
): Record<string, CountedValue> => {
  const { answer, text, verdicts, heldOut } = graded
  const score = (name: string, given: AnswerGrades) => task.scores[name].count(given, problem.rubric)
  return {
    ...Object.fromEntries(Object.keys(task.scores).map(name => [name, score(name, graded)])),
    ...ratesOf(task, problem, verdicts),
    length: { value: wordsOf(text).length },
    tokens: { value: answer.tokens ?? null },
    cutOff: { value: answer.finishReason === undefined ? null : Number(answer.finishReason === 'length') },
    // As trainings count a held-out judge: nothing unless it has spoken of everything that it was asked about.
    ...(heldOut && {
      [HELD_OUT.name]: heldOut.verdicts.some(isUnjudged) ? { value: null } : score(task.primary, heldOut),
    }),
  }
}

const itemOf = (
  task: MeasuredTask,
  problem: MeasuredProblem,
  graded: readonly GradedAnswer[],
): MeasuredItem => {
  const values = graded.map(own => measuredValues(task, problem, own))
  const names = [...new Set(values.flatMap(own => Object.keys(own)))]
  return {
    id: problem.id,
    values: Object.fromEntries(names.map(name => [name, meanOf(values.flatMap(own => own[name] ?? []))])),
    graded,
  }
}

/** Mean by weight of some of the entries, named by their places. */
const weighted =
  (values: readonly number[], weights: readonly number[]) =>
  (places: ArrayLike<number>): number => {
    let sum = 0
    let weight = 0
    for (let i = 0; i < places.length; i++) {
      sum += weights[places[i]] * values[places[i]]
      weight += weights[places[i]]
    }
    return sum / weight
  }

/** A weighted mean with its 95% interval over entries, resampled as wholes (cluster bootstrap). */
export const weightedMetric = (values: readonly number[], weights: readonly number[]): MeasuredMetric => {
  const places = values.map((_, i) => i)
  const statistic = weighted(values, weights)
  if (values.length < 2) return { value: values[0] ?? null, interval: null, n: values.length }
  const { estimate, low, high } = bootstrapInterval(
    places,
    { resamples: 2000, seed: 'evaluation' },
    statistic,
  )
  return { value: estimate, interval: [low, high], n: values.length }
}

const knownIn = (items: readonly MeasuredItem[], name: string) => {
  const known = items.flatMap(({ values }) => (isKnown(values[name]?.value ?? null) ? [values[name]] : []))
  return {
    known,
    values: known.map(({ value }) => value!),
    weights: known.map(({ weight = 1 }) => weight),
  }
}

/** @param items_K by repeat: of each problem its k-th answer alone */
const deviationOf = (items_K: readonly (readonly MeasuredItem[])[], name: string): { sd?: number } => {
  const means = items_K.map(items => {
    const { values, weights } = knownIn(items, name)
    return weighted(values, weights)(values.map((_, i) => i))
  })
  const sd = std(means, 1)
  return Number.isFinite(sd) ? { sd } : {}
}

const metricOf = (items: readonly MeasuredItem[], name: string): MeasuredMetric => {
  const { known, values, weights } = knownIn(items, name)
  const isRightOrWrong = known.every(({ value, weight = 1 }) => weight === 1 && (value === 0 || value === 1))
  const isAll = (end: number) => known.every(({ value }) => value === end)
  if (known.length > 0 && (isRightOrWrong || isAll(0) || isAll(1))) {
    // Wilson's is right for few problems and near 0 and 1, where resampling finds nothing else.
    const { estimate, low, high } = wilsonInterval(
      known.filter(({ value }) => value === 1).length,
      known.length,
    )
    return { value: estimate, interval: [low, high], n: known.length }
  }
  return weightedMetric(values, weights)
}

/** Whether a judge was asked about answers, and nothing that it said of them can be used. */
export const isSilent = (graded: readonly GradedAnswer[]): boolean => {
  const asked = graded.flatMap(({ verdicts }) =>
    verdicts.filter(({ source }) => source === 'llm' || source === 'model'),
  )
  return asked.length > 0 && asked.every(isUnjudged)
}

/** Share of verdicts that graders failed to give: of all, and by the rates' names. */
export const nullShares = (
  task: MeasuredTask,
  problems: readonly MeasuredProblem[],
  graded_P: readonly (readonly GradedAnswer[])[],
): Pick<Measured, 'nullRate' | 'nullRates' | 'unjudged'> => {
  const counts = new Map<string | undefined, { nulls: number; all: number; unjudged: boolean }>()
  const count = (rate: string | undefined, verdict: Verdict) => {
    const { nulls, all, unjudged } = counts.get(rate) ?? { nulls: 0, all: 0, unjudged: false }
    counts.set(rate, {
      nulls: nulls + Number(creditOf(verdict) === null),
      all: all + 1,
      unjudged: unjudged || isUnjudged(verdict),
    })
  }
  for (const [p, { rates }] of problems.entries())
    for (const verdict of graded_P[p].flatMap(({ verdicts }) => verdicts))
      count(rates.get(verdict.criterionId), verdict)
  const sum = (of: 'nulls' | 'all') => [...counts.values()].reduce((total, own) => total + own[of], 0)
  const named = [...counts].flatMap(([rate, own]) =>
    rate === undefined ? [] : [{ name: rateName(task, rate), ...own }],
  )
  return {
    nullRate: sum('nulls') / Math.max(1, sum('all')),
    nullRates: Object.fromEntries(named.map(({ name, nulls, all }) => [name, nulls / all])),
    unjudged: named.flatMap(({ name, nulls, all, unjudged }) => (unjudged && nulls === all ? [name] : [])),
  }
}

/** Metrics of all problems that have answers. @param graded_P by problem */
export const measure = (
  model: string,
  task: MeasuredTask,
  problems: readonly MeasuredProblem[],
  graded_P: readonly (readonly GradedAnswer[])[],
  names: readonly MetricName[],
): Measured => {
  const answered = problems.flatMap((problem, p) =>
    graded_P[p].length > 0 ? [{ problem, graded: graded_P[p] }] : [],
  )
  const items = answered.map(({ problem, graded }) => itemOf(task, problem, graded))
  const first = answered[0]?.graded.length ?? 0
  const repeats = answered.reduce((least, { graded }) => Math.min(least, graded.length), first)
  const items_K = Array.from({ length: repeats > 1 ? repeats : 0 }, (_, k) =>
    answered.map(({ problem, graded }) => itemOf(task, problem, [graded[k]])),
  )
  return {
    model,
    items,
    metrics: Object.fromEntries(
      names.map(({ name }) => [name, { ...metricOf(items, name), ...deviationOf(items_K, name) }]),
    ),
    ...nullShares(task, problems, graded_P),
  }
}
