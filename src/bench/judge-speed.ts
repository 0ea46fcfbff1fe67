/** @file Speed of judging: the way from a grader's call to a scripted judge in another process and back. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JudgeFleet } from '../chat/index.ts'
import { VerdictCache } from '../grade/judge/cache/index.ts'
import { llmJudge } from '../grade/judge/judge.ts'
import { ScriptedProcess } from '../grade/judge/scripted/index.ts'
import { quantile } from '../util/descriptive.ts'
import { GradusError } from '../util/errors.ts'
import type { OnProgress } from './figure-table.ts'
import { closedLoop, ItemSource, openLoop } from './load.ts'
import { CRITERIA_PER_ITEM } from './workload.ts'

/** Requests in flight where speed is measured; more would only wait for the same processor. */
const IN_FLIGHT = 64
const BUSY_IN_FLIGHT = 512
const BUSY_LATENCY_MS = 200

export interface JudgeSpeed {
  /** End to end with a judge that answers at once. */
  verdictsPerSecond: number
  /** The same verdicts from a warm cache: keys, look-ups, reading. */
  cachedVerdictsPerSecond: number
  /** 512 requests in flight, 200 ms each: time that the judge's slots had a request in work. */
  judgeBusyFraction: number
  /** At half of `verdictsPerSecond`, from when a verdict was due to when it was there. */
  overheadP50Ms: number
  overheadP99Ms: number
}

interface JudgeSetup {
  fleet: JudgeFleet
  process: ScriptedProcess
}

const withJudge = async <T>(
  latencyMs: number,
  concurrency: number,
  measure: (setup: JudgeSetup) => Promise<T>,
): Promise<T> => {
  const process = await ScriptedProcess.start({ latencyMs })
  const fleet = new JudgeFleet({ endpoints: [{ url: process.url, model: 'scripted', concurrency }] })
  try {
    return await measure({ fleet, process })
  } finally {
    await fleet.close()
    await process.kill()
  }
}

/** Items whose calls fill the slots twice: what ends late in one item must not leave a slot empty. */
const itemsFor = (inFlight: number): number => Math.ceil((2 * inFlight) / CRITERIA_PER_ITEM)

/** Connections are made and code is compiled. */
const warmUpMs = (durationMs: number): number => Math.min(1500, durationMs)

const measureBusy = (durationMs: number): Promise<number> =>
  withJudge(BUSY_LATENCY_MS, BUSY_IN_FLIGHT, async ({ fleet, process }) => {
    const marks: { busyMs: number; atMs: number }[] = []
    await closedLoop(llmJudge({ model: fleet }), new ItemSource(), {
      inWork: itemsFor(BUSY_IN_FLIGHT),
      warmUpMs: warmUpMs(durationMs),
      durationMs,
      onMark: async () => {
        marks.push(await process.stats())
      },
    })
    const [first, last] = marks
    return (last.busyMs - first.busyMs) / (BUSY_IN_FLIGHT * (last.atMs - first.atMs))
  })

const measureSpeed = (
  durationMs: number,
): Promise<Pick<JudgeSpeed, 'verdictsPerSecond' | 'overheadP50Ms' | 'overheadP99Ms'>> =>
  withJudge(0, IN_FLIGHT, async ({ fleet }) => {
    const judge = llmJudge({ model: fleet })
    const items = new ItemSource()
    const times = { warmUpMs: warmUpMs(durationMs), durationMs }
    const { perSecond } = await closedLoop(judge, items, { inWork: itemsFor(IN_FLIGHT), ...times })
    const latencies = await openLoop(judge, items, { perSecond: perSecond / 2, ...times })
    return {
      verdictsPerSecond: perSecond,
      overheadP50Ms: quantile(latencies, 0.5),
      overheadP99Ms: quantile(latencies, 0.99),
    }
  })

/** So many items, then none, round after round. */
const someItems = (count: number) => {
  let next = 0
  return { take: () => (next < count ? next++ : null) }
}

const fillCache = (folder: string, items: number): Promise<void> =>
  withJudge(0, IN_FLIGHT, async ({ fleet }) => {
    const cache = VerdictCache.open(folder)
    await closedLoop(llmJudge({ model: fleet, cache }), someItems(items), {
      inWork: itemsFor(IN_FLIGHT),
      warmUpMs: 0,
      durationMs: 60_000,
    })
    cache.close()
  })

/** Opened anew, as a later run would; reading the index counts as well. */
const readCache = async (folder: string, items: number): Promise<number> => {
  const model = {
    name: 'scripted',
    complete: () => Promise.reject(new GradusError('a verdict that should be in the cache is not')),
  }
  const startMs = performance.now()
  const cache = VerdictCache.open(folder)
  const times = { inWork: 4, warmUpMs: 0, durationMs: 60_000 }
  await closedLoop(llmJudge({ model, cache }), someItems(items), times)
  const seconds = (performance.now() - startMs) / 1000
  cache.close()
  return (items * CRITERIA_PER_ITEM) / seconds
}

const measureCache = async (items: number): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-bench-'))
  try {
    await fillCache(folder, items)
    // The first round warms up the code.
    await readCache(folder, Math.ceil(items / 4))
    return await readCache(folder, items)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Measures judging; takes some four times `durationMs`. @param onProgress told what is measured next */
export const measureJudging = async (durationMs: number, onProgress: OnProgress): Promise<JudgeSpeed> => {
  onProgress(`judge of ${BUSY_LATENCY_MS} ms, ${BUSY_IN_FLIGHT} requests in flight`)
  const judgeBusyFraction = await measureBusy(durationMs)
  onProgress('judge that answers at once')
  const speed = await measureSpeed(durationMs)
  onProgress('warm cache')
  const cachedVerdictsPerSecond = await measureCache(Math.ceil(durationMs / 4))
  return { ...speed, cachedVerdictsPerSecond, judgeBusyFraction }
}
