/** @file How fast a bank of lessons answers, on one core and without waiting for an embedder. */

import { RubricBank } from '../memory/bank.ts'
import type { Embedder } from '../memory/embedder.ts'
import { median } from '../util/descriptive.ts'
import { Rng } from '../util/rng.ts'
import { type OnProgress, resultTable } from './result-table.ts'

export interface MemoryBenchmarkOptions {
  /** Default 100,000. */
  items?: number
  /** Default 256. */
  dims?: number
  /** Default 2. */
  top?: number
  /** Default 200. */
  queries?: number
  onProgress?: OnProgress
}

export interface MemoryBenchmark {
  items: number
  dims: number
  top: number
  queries: number
  /** Of one retrieval: by the clock, and by the processor where other processes want the core too. */
  queryMs: { median: number; p99: number; processorMedian: number }
  /** Of adding one item to a bank that is full of so many. */
  addMs: number
  /** Bytes of vectors an item, in floats and in bytes. */
  vectorBytes: number
}

/** Vectors of no text: dense and random, so that no two are alike, which is the most work. */
const randomVectors = (dims: number): Embedder => {
  const rng = new Rng('bench memory')
  const vector = () => Float32Array.from({ length: dims }, () => rng.next() - 0.5)
  return { name: 'random', dims, embed: async texts => texts.map(vector) }
}

const reflections = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    question: `question ${from + i}`,
    rubrics: 'r',
    takeaways: 't',
    u: 0.5,
    step: 1,
  }))

const AT_A_TIME = 5000

/** Fills a bank and asks it. */
export const benchMemory = async (options: MemoryBenchmarkOptions = {}): Promise<MemoryBenchmark> => {
  const { items = 100_000, dims = 256, top = 2, queries = 200, onProgress } = options
  onProgress?.(`filling a bank with ${items} items of ${dims} dimensions`)
  const bank = new RubricBank({ embedder: randomVectors(dims) })
  for (let from = 0; from < items; from += AT_A_TIME)
    await bank.add(reflections(from, Math.min(AT_A_TIME, items - from)))
  onProgress?.(`${queries} queries`)
  const [wall, processor]: [number[], number[]] = [[], []]
  for (let i = 0; i < queries; i++) {
    const [startMs, used] = [performance.now(), process.cpuUsage()]
    await bank.cross(`query ${i}`, top)
    const { user, system } = process.cpuUsage(used)
    wall.push(performance.now() - startMs)
    processor.push((user + system) / 1000)
  }
  const startMs = performance.now()
  await bank.add(reflections(items, 100))
  return {
    items,
    dims,
    top,
    queries,
    queryMs: {
      median: median(wall),
      p99: [...wall].sort((a, b) => a - b)[Math.ceil(0.99 * queries) - 1],
      processorMedian: median(processor),
    },
    addMs: (performance.now() - startMs) / 100,
    vectorBytes: 4 * dims + 16 * Math.ceil(dims / 16),
  }
}

/** The values in columns. */
export const formatMemoryBenchmark = ({
  items,
  dims,
  queryMs,
  addMs,
  vectorBytes,
}: MemoryBenchmark): string => {
  const ms = (value: number) => `${value.toFixed(2)} ms`
  return resultTable([
    ['a query, median', ms(queryMs.median), `of ${items} items with ${dims} dimensions`],
    ['a query, 99th percentile', ms(queryMs.p99), ''],
    ['a query, time on the processor', ms(queryMs.processorMedian), 'median'],
    ['adding an item', ms(addMs), ''],
    ['vectors', `${((items * vectorBytes) / 2 ** 20).toFixed(0)} MiB`, ''],
  ])
}
