/** @file What the criteria of a run's rubric do: how often each is met, whether that goes with the reward, how it changed. */

import type { MetricGroup } from '../../runs/rows.ts'
import type { OpenRun } from './open-run.ts'
import type { CriterionFigures, RubricView } from './wire.ts'

/** Born and dropped rubrics that a page is sent, the latest. */
const MOST_FATES = 120

const correlation = (pairs: readonly (readonly [number, number])[]): number | null => {
  if (pairs.length < 8) return null
  const mean = (pick: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[pick], 0) / pairs.length
  const [x, y] = [mean(0), mean(1)]
  let [xy, xx, yy] = [0, 0, 0]
  for (const [a, b] of pairs) {
    xy += (a - x) * (b - y)
    xx += (a - x) ** 2
    yy += (b - y) ** 2
  }
  return xx === 0 || yy === 0 ? null : xy / Math.sqrt(xx * yy)
}

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

const valueIn = (group: unknown, id: string): number | null => {
  const value = typeof group === 'object' && group !== null ? (group as MetricGroup)[id] : null
  return typeof value === 'number' ? value : null
}

const criteriaOf = (run: OpenRun): CriterionFigures[] => {
  const { rows } = run.metrics.rows(10)
  const [first, last] = [rows[0], rows.at(-1)]
  const named = run.metrics.names().flatMap(({ key, name }) => (key === 'criteria' && name ? [name] : []))
  const ids = [...new Set([...named, ...run.rollouts.criteria.list])]
  return ids.map(id => ({
    id,
    name: run.info.criterionNames?.[id] ?? null,
    first: valueIn(first?.criteria, id),
    last: valueIn(last?.criteria, id),
    rewardShare: valueIn(last?.rewardShare, id),
    pointShare: valueIn(last?.pointShare, id),
    ...keptFigures(run, id),
  }))
}

/** Figures about the rubric as a whole that some recipes have, first and last tenth of the steps. */
const VALIDITY = [
  'validRate',
  'nullValidRate',
  'saturation',
  'alwaysMet',
  'verifierAgreement',
  'zeroVarianceGroups',
  'judgeNullRate',
]

const validityOf = (run: OpenRun): RubricView['validity'] => {
  const { rows } = run.metrics.rows(10)
  return VALIDITY.flatMap(key => {
    const value = (row = rows[0]) => (typeof row?.[key] === 'number' ? row[key] : null)
    const [first, last] = [value(), value(rows.at(-1))]
    return last === null ? [] : [{ key, first, last }]
  })
}

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
