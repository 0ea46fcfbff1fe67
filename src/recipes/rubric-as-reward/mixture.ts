/** @file Problems of several sources in proportion to their weights: a stream to train on, a set to test on. */

import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { RESERVED_SEED_PREFIX } from '../../tasks/logic/testsets.ts'
import { Rng } from '../../util/rng.ts'
import type { OpenSource } from './sources.ts'

/** Rows in another order in every pass, which `name` and the pass decide. */
export const inPasses = (rows: readonly LogicTaskExample[], seed: number | string, name = 'pass') => {
  let now = { pass: -1, order: [] as LogicTaskExample[] }
  return (index: number): LogicTaskExample => {
    const pass = Math.floor(index / rows.length)
    if (now.pass !== pass) now = { pass, order: new Rng(seed).fork(`${name} ${pass}`).shuffle(rows) }
    return now.order[index % rows.length]
  }
}

/** Problem i of a source. */
const streamOf = ({ name, rows, generate }: OpenSource, seed: number | string) =>
  generate?.(`train:${seed}`) ?? inPasses(rows!, seed, `source ${name}, pass`)

/**
 * The training stream of several sources. The next problem is of the source that is furthest behind its weight, so that every
 * stretch of the stream has them in proportion, and each file's rows come once a pass.
 */
export const mixedStream = (sources: readonly OpenSource[], seed: number | string) => {
  const streams = sources.map(source => streamOf(source, seed))
  const turns = turnsOf(sources.map(({ weight }) => weight))
  return (index: number): LogicTaskExample => {
    const { source, nth } = turns(index)
    return streams[source](nth)
  }
}

/** Whose turn is the i-th, and how many it has had before. */
const turnsOf = (weights: readonly number[]) => {
  const counts = weights.map(() => 0)
  const whose: number[] = []
  const before: number[] = []
  return (index: number): { source: number; nth: number } => {
    while (whose.length <= index) {
      const behind = weights.map((weight, s) => (counts[s] + 0.5) / weight)
      const source = behind.indexOf(Math.min(...behind))
      whose.push(source)
      before.push(counts[source]++)
    }
    return { source: whose[index], nth: before[index] }
  }
}

/** `total` shared out by weights, by largest remainders; of equal ones the first. */
const allotted = (total: number, weights: readonly number[]): number[] => {
  const sum = weights.reduce((a, b) => a + b, 0)
  const exact = weights.map(weight => (total * weight) / sum)
  const counts = exact.map(Math.floor)
  const byRemainder = [...weights.keys()].sort(
    (a, b) => exact[b] - counts[b] - (exact[a] - counts[a]) || a - b,
  )
  const left = total - counts.reduce((a, b) => a + b, 0)
  for (const source of byRemainder.slice(0, left)) counts[source]++
  return counts
}

/**
 * How many problems each source gives to a test set of at most `most`: in proportion to the weights, and no more than it has.
 * All zero where a file's share of even a single problem is more than its rows.
 */
export const testCounts = (sources: readonly OpenSource[], most: number): number[] => {
  const weights = sources.map(({ weight }) => weight)
  const room = sources.map(({ rows }) => rows?.length ?? Number.POSITIVE_INFINITY)
  for (let total = most; total > 0; total--) {
    const counts = allotted(total, weights)
    if (counts.every((count, s) => count <= room[s])) return counts
  }
  return weights.map(() => 0)
}

/** A test set of at most `most` problems: the same rows and generated problems at every call, smaller sets within larger ones. */
export const testProblemsOf = (sources: readonly OpenSource[], most: number): LogicTaskExample[] => {
  const counts = testCounts(sources, most)
  return distinct(
    sources.flatMap(({ name, rows, generate }, s) => {
      if (rows !== null) return new Rng(`${RESERVED_SEED_PREFIX}${name}`).shuffle(rows).slice(0, counts[s])
      if (generate === null) return []
      const problem = generate(`${RESERVED_SEED_PREFIX}test`)
      return Array.from({ length: counts[s] }, (_, i) => problem(i))
    }),
  )
}

/** Two files may give one id to two problems: evaluations are compared by ids. */
const distinct = (problems: readonly LogicTaskExample[]): LogicTaskExample[] => {
  const times = new Map<string, number>()
  for (const { id } of problems) times.set(id, (times.get(id) ?? 0) + 1)
  return problems.map(problem =>
    times.get(problem.id)! > 1 ? { ...problem, id: `${problem.source}/${problem.id}` } : problem,
  )
}
