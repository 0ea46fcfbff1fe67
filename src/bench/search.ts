/** @file `gradus bench search`: a local index of many short passages that are made up: time to build and ask it, memory, bytes. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { buildIndex, SearchIndex, type SourceDocument } from '../search/index.ts'
import { Rng } from '../util/rng.ts'
import { median, quantile } from '../util/statistics.ts'
import { type FigureLine, figureTable, type OnProgress } from './figure-table.ts'

export interface SearchBenchOptions {
  passages?: number
  queries?: number
  onProgress?: OnProgress
}

export interface SearchBenchmark {
  passages: number
  terms: number
  /** Wall time and the processor's; the second is the machine's own where others use it too. */
  buildSeconds: number
  buildCpuSeconds: number
  bytes: number
  openSeconds: number
  /** Memory that the open index holds: on the heap and beside it, after a collection. */
  openMb: number
  /** Of the process, building included. */
  peakRssMb: number
  queries: number
  queryMs: { median: number; p99: number }
  queryCpuMs: { median: number; p99: number }
}

const DEFAULTS = { passages: 1_000_000, queries: 300 } as const
const WORDS = 300_000
const MIN_WORDS = 30
const MAX_WORDS = 60
/** Frequency of the word of rank r: 1 / (r + 2.7)^1.05 (Zipf and Mandelbrot), about that of English. */
const ZIPF = { shift: 2.7, exponent: 1.05 } as const
/** The commonest words, as in English about a third of a text. */
const COMMONEST =
  'the of and in a to is was for as on with by that it at are this be an or not if but no into such their then there these they will'.split(
    ' ',
  )
const SYLLABLES =
  'ba be bi bo da de do fa fi ga go ha ka ki la le lo ma me mi na no pa pe ra ri sa se so ta te to va wa zi'.split(
    ' ',
  )

/** Words of two to four syllables, all different, the commonest first. */
const makeWords = (rng: Rng): string[] => {
  const words = new Set(COMMONEST)
  while (words.size < WORDS)
    words.add(
      Array.from({ length: 2 + rng.int(3) }, () => rng.pick(SYLLABLES)).join('') + (rng.int(2) ? 'n' : ''),
    )
  return [...words]
}

/** Draws words by their frequencies. */
const wordSource = (rng: Rng): ((rng: Rng) => string) => {
  const words = makeWords(rng)
  const upTo = new Float64Array(WORDS)
  let sum = 0
  for (let rank = 0; rank < WORDS; rank++) {
    sum += (rank + ZIPF.shift) ** -ZIPF.exponent
    upTo[rank] = sum
  }
  return draws => {
    const wanted = draws.next() * sum
    let [low, high] = [0, WORDS - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (upTo[middle] < wanted) low = middle + 1
      else high = middle
    }
    return words[low]
  }
}

/** Resident memory would say what building left behind. Buffers are given back a turn after they are collected. */
const heldMb = async (): Promise<number> => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  await setTimeout(10)
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}
const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

/** Passages one by one; of some of them a query is made of their words, common ones as often as they stand there. */
function* documents(passages: number, queries: number, asked: string[]): Generator<SourceDocument> {
  const rng = new Rng('search benchmark')
  const draw = wordSource(rng.fork('words'))
  const texts = rng.fork('texts')
  const questions = rng.fork('queries')
  const every = Math.max(1, Math.floor(passages / queries))
  for (let index = 0; index < passages; index++) {
    const words = Array.from({ length: MIN_WORDS + texts.int(MAX_WORDS - MIN_WORDS + 1) }, () => draw(texts))
    if (index % every === 0 && asked.length < queries)
      asked.push(Array.from({ length: 4 + questions.int(9) }, () => questions.pick(words)).join(' '))
    yield {
      id: `p${index}`,
      title: words.slice(0, 3).join(' '),
      text: words.join(' '),
      place: `passage ${index}`,
    }
  }
}

const askAll = (index: SearchIndex, asked: readonly string[]) => {
  const wall: number[] = []
  const cpu: number[] = []
  for (const query of asked) {
    const [startMs, before] = [performance.now(), process.cpuUsage()]
    index.search(query, { top: 10 })
    wall.push(performance.now() - startMs)
    cpu.push(cpuMs(before))
  }
  return { wall, cpu }
}

const spread = (values: readonly number[]) => ({ median: median(values), p99: quantile(values, 0.99) })

/** A function of its own, so that nothing of it is held when the open index is measured. */
const build = async (path: string, passages: number, queries: number) => {
  const asked: string[] = []
  const [buildMs, buildCpu] = [performance.now(), process.cpuUsage()]
  const { bytes, terms, passages: count } = await buildIndex(path, documents(passages, queries, asked))
  const buildSeconds = (performance.now() - buildMs) / 1000
  return { asked, bytes, terms, passages: count, buildSeconds, buildCpuSeconds: cpuMs(buildCpu) / 1000 }
}

/** Builds, opens and asks an index of made-up passages in a temporary folder. */
export const benchSearch = async (options: SearchBenchOptions = {}): Promise<SearchBenchmark> => {
  const { passages, queries, onProgress } = { ...DEFAULTS, ...options }
  const folder = mkdtempSync(join(tmpdir(), 'gradus-bench-search-'))
  const path = join(folder, 'index')
  try {
    onProgress?.(`building an index of ${passages} passages`)
    const { asked, ...built } = await build(path, passages, queries)
    const before = await heldMb()
    onProgress?.('opening it')
    const openMs = performance.now()
    const index = new SearchIndex(path)
    const openSeconds = (performance.now() - openMs) / 1000
    const openMb = (await heldMb()) - before
    onProgress?.(`asking ${asked.length} queries`)
    // The first ones only warm the engine up.
    askAll(index, asked.slice(0, 20))
    const { wall, cpu } = askAll(index, asked)
    index.close()
    return {
      ...built,
      openSeconds,
      openMb,
      peakRssMb: process.resourceUsage().maxRSS / 1024,
      queries: asked.length,
      queryMs: spread(wall),
      queryCpuMs: spread(cpu),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The figures as a table. */
export const formatSearchBenchmark = (figures: SearchBenchmark): string => {
  const lines: FigureLine[] = [
    ['passages', String(figures.passages), `${figures.terms} different words`],
    ['build', `${figures.buildSeconds.toFixed(1)} s`, `${figures.buildCpuSeconds.toFixed(1)} s of processor`],
    ['file', `${(figures.bytes / 1e6).toFixed(0)} MB`, ''],
    ['open', `${figures.openSeconds.toFixed(2)} s`, 'every part checked'],
    ['memory of the open index', `${figures.openMb.toFixed(1)} MB`, ''],
    ['peak memory', `${figures.peakRssMb.toFixed(0)} MB`, 'of the process, building included'],
    [
      'query, median',
      `${figures.queryMs.median.toFixed(2)} ms`,
      `${figures.queryCpuMs.median.toFixed(2)} ms of processor`,
    ],
    [
      'query, 99th percentile',
      `${figures.queryMs.p99.toFixed(2)} ms`,
      `${figures.queryCpuMs.p99.toFixed(2)} ms of processor`,
    ],
  ]
  return figureTable(lines)
}
