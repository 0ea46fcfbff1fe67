/** @file Runs of two arms in pairs, and a metric's values of both. */

import {
  beforeTraining,
  type FinishedRun,
  type Metric,
  peersOf,
  secondsUntil,
  tokensUntil,
} from '../metrics/index.ts'
import { type Equal, START } from '../plan/registration.ts'
import { compareItems, type ItemStatistics, type RunPair, valueAtCost } from './analysis.ts'

/** A metric with its options, checked. */
export interface Reading {
  metric: Metric
  options: unknown
}

/** Runs by arm, by start and seed. The arm `start` is made from the runs of the arm that it is compared with. */
export const runsOf = (
  runs: readonly FinishedRun[],
  arm: string,
  against: string,
): Map<string, FinishedRun> => {
  const own = runs.filter(run => run.arm === (arm === START ? against : arm))
  return new Map(own.map(run => [`${run.start}/${run.seed}`, arm === START ? beforeTraining(run) : run]))
}

/** What a run has spent until a step, by what two arms may be compared at. */
const SPENT = { tokens: tokensUntil, minutes: secondsUntil } as const

/** Both at what the thriftier of the two spent in all. */
const atEqualCost = (
  a: FinishedRun,
  b: FinishedRun,
  { metric, options }: Reading,
  equal: keyof typeof SPENT,
): [number | null, number | null] => {
  const spent = SPENT[equal]
  const cost = Math.min(spent(a, a.steps), spent(b, b.steps))
  // Of an arm that spends none the other would be read at its start.
  if (cost === 0) return [null, null]
  const along = (run: FinishedRun) =>
    metric.over!(run, options).map(({ step, value }) => ({ cost: spent(run, step), value }))
  return [valueAtCost(along(a), cost), valueAtCost(along(b), cost)]
}

export interface PairedRuns {
  pairs: RunPair[]
  /** Pairs that are done and of which a run does not have the value. */
  withoutValue: { start: string; seed: string }[]
  /** Null where items are neither right nor wrong, or are not those of the value: at equal tokens, or in equal time. */
  items: ItemStatistics | null
}

/** @param b another arm, or null for the reference */
export const pairsOf = (
  runs: readonly FinishedRun[],
  a: string,
  b: string | null,
  reading: Reading,
  equal: Equal,
  reference: number,
): PairedRuns => {
  const { metric, options } = reading
  const others = b === null ? null : runsOf(runs, b, a)
  const readingOf = (run: FinishedRun) => metric.value(run, options, peersOf(runs, run))
  const pairs: RunPair[] = []
  const withoutValue: PairedRuns['withoutValue'] = []
  const items: { a: Map<string, number>; b: Map<string, number> }[] = []
  for (const [key, run] of runsOf(runs, a, a)) {
    const other = others?.get(key)
    if (others && !other) continue
    const { start, seed } = run
    const [x, y] =
      other && equal !== 'steps'
        ? atEqualCost(run, other, reading, equal)
        : [readingOf(run), other ? readingOf(other) : reference]
    if (x === null || y === null) {
      withoutValue.push({ start, seed })
      continue
    }
    pairs.push({ start, seed, a: x, b: y })
    // Of what an arm started from items may be of fewer problems.
    if (equal !== 'steps' || b === START) continue
    const [itemsA, itemsB] = [metric.items?.(run, options), other && metric.items?.(other, options)]
    if (itemsA && itemsB) items.push({ a: itemsA, b: itemsB })
  }
  return { pairs, withoutValue, items: compareItems(items) }
}

/** A cold start and a seed with the values of all arms of an order. */
interface LadderBlock {
  start: string
  seed: string
  /** In the order of the arms. */
  values: number[]
}

export interface Ladder {
  /** As the claim has them: each is expected beyond the next one. */
  arms: string[]
  blocks: LadderBlock[]
}

/**
 * The ends of the straight line through the values of a block, by least squares: for two arms the values themselves. The rungs
 * count as equally far from each other.
 */
const fittedEnds = (values: readonly number[]): { first: number; last: number } => {
  const centre = (values.length - 1) / 2
  const squares = values.reduce((sum, _, i) => sum + (i - centre) ** 2, 0)
  const slope = values.reduce((sum, value, i) => sum + (i - centre) * value, 0) / squares
  const middle = values.reduce((sum, value) => sum + value, 0) / values.length
  return { first: middle - centre * slope, last: middle + centre * slope }
}

/** Runs of several arms in blocks, and the ends of each block's line as its pair. */
export const ladderOf = (
  runs: readonly FinishedRun[],
  arms: readonly string[],
  { metric, options }: Reading,
): PairedRuns & { ladder: Ladder } => {
  const [first, ...rest] = arms
  const blocks: LadderBlock[] = []
  const withoutValue: PairedRuns['withoutValue'] = []
  for (const run of runsOf(runs, first, first).values()) {
    const { start, seed } = run
    const peers = peersOf(runs, run)
    const others = rest.map(peers).filter(other => other !== undefined)
    if (others.length < rest.length) continue
    const values = [run, ...others].map(each => metric.value(each, options, peers))
    if (values.every(value => value !== null)) blocks.push({ start, seed, values })
    else withoutValue.push({ start, seed })
  }
  const pairs = blocks.map(({ start, seed, values }) => {
    const { first: a, last: b } = fittedEnds(values)
    return { start, seed, a, b }
  })
  return { pairs, withoutValue, items: null, ladder: { arms: [...arms], blocks } }
}
