/** @file What the criteria of a run's rubric do: how often each is met, whether that goes with the reward, how it changed. */

import { describeCriteria } from '../../runs/criterion-words.ts'
import type { MetricGroup, MetricsRow } from '../../runs/rows.ts'
import { pearson } from '../../util/descriptive.ts'
import { ownValue } from '../../util/own-value.ts'
import type { OpenRun } from './open-run.ts'
import type { RolloutIndex } from './rollout-index.ts'
import type { CriterionMetrics, RubricView } from './wire.ts'

/** Born and dropped rubrics that a page is sent, the latest. */
const MOST_FATES = 120

/** Of fewer a correlation says nothing. */
const FEWEST_PAIRS = 8

const correlation = (pairs: readonly (readonly [number, number])[]): number | null =>
  pairs.length < FEWEST_PAIRS
    ? null
    : pearson(
        pairs.map(([x]) => x),
        pairs.map(([, y]) => y),
      )

/** Of the rollouts that were kept. */
const keptFigures = ({ rollouts }: OpenRun, id: string) => {
  const place = rollouts.criteria.known(id)
  if (place < 0) return { kept: 0, rate: null, withReward: null }
  const pairs: [number, number][] = []
  let [sum, kept] = [0, 0]
  for (let nth = 0; nth < rollouts.count; nth++) {
    const credit = rollouts.credit(nth, place)
    if (credit === null) continue
    sum += credit
    kept++
    const { reward } = rollouts.at(nth)
    if (reward !== null) pairs.push([credit, reward])
  }
  return { kept, rate: kept === 0 ? null : sum / kept, withReward: correlation(pairs) }
}

/** Groups of which so many are needed before a share of them is said. */
const FEWEST_GROUPS = 8

/** The kept rollouts of each step by role and problem, where there are several; those of a step stand one after the other. */
const keptGroups = function* (rollouts: RolloutIndex): Generator<number[]> {
  let step = -1
  let groups = new Map<string, number[]>()
  const several = () => [...groups.values()].filter(({ length }) => length > 1)
  for (let nth = 0; nth < rollouts.count; nth++) {
    const own = rollouts.at(nth)
    if (own.step !== step) {
      yield* several()
      step = own.step
      groups = new Map()
    }
    const key = `${own.role} ${own.problem}`
    const group = groups.get(key)
    if (group) group.push(nth)
    else groups.set(key, [nth])
  }
  yield* several()
}

/**
 * Of runs that do not record it: by place of a criterion, the share of groups of which several rollouts were kept in which it
 * tells these apart. The best and the worst of a step are kept, so it is too high rather than too low.
 */
const keptDiscrimination = (rollouts: RolloutIndex): CriterionMetrics['discrimination'][] => {
  const counts = rollouts.criteria.list.map(() => ({ all: 0, apart: 0 }))
  for (const group of keptGroups(rollouts))
    for (const [place, count] of counts.entries()) {
      const credits = group.flatMap(nth => rollouts.credit(nth, place) ?? [])
      if (credits.length < 2) continue
      count.all++
      count.apart += Number(credits.some(credit => credit !== credits[0]))
    }
  return counts.map(({ all, apart }) =>
    all < FEWEST_GROUPS ? null : { value: apart / all, keptGroups: all },
  )
}

/** Of all groups of the last tenth of the steps where the run records it, else of those that were kept. */
const discriminationOf = ({ rollouts, metrics }: OpenRun, last: MetricsRow | undefined) => {
  const records = metrics.names().some(({ key }) => key === 'discrimination')
  const kept = records ? [] : keptDiscrimination(rollouts)
  return (id: string): CriterionMetrics['discrimination'] => {
    const value = valueIn(last?.discrimination, id)
    return value === null ? (kept[rollouts.criteria.known(id)] ?? null) : { value, keptGroups: null }
  }
}

/** By two graders on the same responses; the latest evaluation that had two. */
const agreementOn = ({ evals }: OpenRun, id: string): CriterionMetrics['agreement'] => {
  const found = evals.findLast(({ agreement }) => typeof agreement?.[id] === 'number')
  return found ? { value: found.agreement![id]!, step: found.step, set: found.set } : null
}

const valueIn = (group: unknown, id: string): number | null => {
  const value = typeof group === 'object' && group !== null ? (group as MetricGroup)[id] : null
  return typeof value === 'number' ? value : null
}

/** The criteria of the run's own rubric first, in its order. */
const criteriaOf = (run: OpenRun): CriterionMetrics[] => {
  const { rows } = run.metrics.rows(10)
  const [first, last] = [rows[0], rows.at(-1)]
  const named = run.metrics.names().flatMap(({ key, name }) => (key === 'criteria' && name ? [name] : []))
  const words = describeCriteria(run.info)
  const told = run.info.rubric?.criteria.map(({ id }) => id) ?? []
  const ids = [...new Set([...told, ...named, ...run.rollouts.criteria.list])]
  const discrimination = discriminationOf(run, last)
  return ids.map(id => ({
    id,
    words: ownValue(words, id) ?? {},
    first: valueIn(first?.criteria, id),
    last: valueIn(last?.criteria, id),
    rewardShare: valueIn(last?.rewardShare, id),
    pointShare: valueIn(last?.pointShare, id),
    ...keptFigures(run, id),
    discrimination: discrimination(id),
    agreement: agreementOn(run, id),
  }))
}

/** Figures about the rubric as a whole that some recipes have, first and last tenth of the steps. */
const VALIDITY = [
  'validRate',
  'saturation',
  'alwaysMet',
  'verifierAgreement',
  'zeroVarianceGroups',
  'judgeNullRate',
]

/** What the same figure is where answers are shuffled: what chance gives (`validityRates`). */
const FLOORS: Readonly<Record<string, string>> = { validRate: 'nullValidRate' }

const validityOf = (run: OpenRun): RubricView['validity'] => {
  const { rows } = run.metrics.rows(10)
  const [first, last] = [rows[0], rows.at(-1)]
  const figure = (key: string, name: string | null): RubricView['validity'] => {
    const at = (row: MetricsRow | undefined, of: string) =>
      name === null ? numberOr(row?.[of]) : valueIn(row?.[of], name)
    const value = at(last, key)
    if (value === null) return []
    const floor = key in FLOORS ? at(last, FLOORS[key]) : null
    return [{ key: name === null ? key : `${key}.${name}`, first: at(first, key), last: value, floor }]
  }
  const names = run.metrics.names()
  return VALIDITY.flatMap(key =>
    names.filter(own => own.key === key).flatMap(({ name }) => figure(key, name)),
  )
}

const numberOr = (value: unknown): number | null => (typeof value === 'number' ? value : null)

const fatesOf = ({ rubrics }: OpenRun): RubricView['fates'] =>
  rubrics.rows
    .flatMap(({ step, question, rubrics: own }) =>
      own
        .filter(({ born, fate }) => born || fate !== 'kept')
        .map(({ title, stage, sign, born, fate, weight, variance, description, since }) => ({
          ...{ step, question, title, stage, sign, weight, variance, since },
          fate: born ? ('born' as const) : fate,
          description: description ?? null,
        })),
    )
    .slice(-MOST_FATES)
    .reverse()

export const rubricView = (run: OpenRun): RubricView => ({
  criteria: criteriaOf(run),
  validity: validityOf(run),
  fates: fatesOf(run),
  questions: run.rubrics.count,
})
