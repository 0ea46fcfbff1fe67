/** @file `gradus bench judge`: what Gradus itself costs between a trainer, a judge and a reward. */

import { availableParallelism } from 'node:os'
import { JudgeFleet } from '../chat/index.ts'
import type { GradeItem, Grader } from '../grade/grader.ts'
import { VerdictCache } from '../grade/judge/cache/index.ts'
import { llmJudge } from '../grade/judge/judge.ts'
import { caseTag, ruleTag, ScriptedProcess, scriptedTruth } from '../grade/judge/scripted/index.ts'
import type { Criterion, Verdict } from '../rubric/criterion.ts'
import { quantile } from '../util/descriptive.ts'
import { GradusError } from '../util/errors.ts'
import { percent } from '../util/format.ts'
import { type OnProgress, resultTable, round } from './result-table.ts'
import { measureRewards, type RewardSpeed } from './reward-speed.ts'
import { inTemporaryFolder } from './server-process.ts'

/** About as many as a HealthBench rubric has (RuscaRL: 11.5). */
const CRITERIA_PER_ITEM = 12

const PROMPT =
  'I have had a headache for three days and light makes it worse. What should I do about it? '.repeat(4)
const RESPONSE =
  'A headache that lasts and comes with sensitivity to light is often a migraine. Rest in a dark room and drink enough. '.repeat(
    12,
  )

export const CRITERIA: readonly Criterion[] = Array.from({ length: CRITERIA_PER_ITEM }, (_, index) => ({
  id: `c${index}`,
  text: `Names the warning signs that call for a doctor at once, as ${ruleTag(index)} of the guideline asks`,
  points: index % 4 === 3 ? -3 : 5,
}))

const itemOf = (index: number): GradeItem => ({
  prompt: [{ role: 'user', content: PROMPT }],
  response: `${caseTag(index)} ${RESPONSE}`,
})

/** Verdicts that are not the known ones; null counts as well. */
const wrongVerdicts = (index: number, verdicts: readonly Verdict[]): number =>
  verdicts.filter(({ criterionId, met }) => met !== scriptedTruth(index, Number(criterionId.slice(1)))).length

const sleep = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** So many items, then none; no two of them are alike, so that nothing is answered from memory by accident. */
export const itemsUntil = (count: number) => {
  let next = 0
  return { take: () => (next < count ? next++ : null) }
}

const gradeItem = async (judge: Grader, index: number, criteria = CRITERIA): Promise<number> => {
  const verdicts = await judge.grade(itemOf(index), criteria)
  const wrong = wrongVerdicts(index, verdicts)
  if (wrong > 0) throw new GradusError(`${wrong} of ${verdicts.length} verdicts are not those of the script`)
  return verdicts.length
}

interface ClosedLoad {
  /** Verdicts a second, after the warm-up. */
  perSecond: number
  verdicts: number
}

/**
 * Keeps so many items in work all the time.
 * @param onWarm called when the warm-up is over and again at the end
 */
export const closedLoop = async (
  judge: Grader,
  items: ReturnType<typeof itemsUntil>,
  options: { inWork: number; warmUpMs: number; durationMs: number; onMark?: () => Promise<void> },
): Promise<ClosedLoad> => {
  let verdicts = 0
  let running = true
  const work = async () => {
    for (let index = items.take(); running && index !== null; index = items.take()) {
      const given = await gradeItem(judge, index)
      verdicts += given
    }
  }
  const workers = Promise.all(Array.from({ length: options.inWork }, work))
  // A worker's failure ends the measurement instead of waiting for its end.
  await Promise.race([workers, sleep(options.warmUpMs)])
  await options.onMark?.()
  const [startMs, before] = [performance.now(), verdicts]
  await Promise.race([workers, sleep(options.durationMs)])
  const seconds = (performance.now() - startMs) / 1000
  const counted = verdicts - before
  await options.onMark?.()
  running = false
  await workers
  return { perSecond: counted / seconds, verdicts: counted }
}

/**
 * Starts a verdict at its time, whatever became of those before it, and measures from the time it should have started: a
 * judge that is held up is seen in all that it holds up.
 * @returns milliseconds of each verdict after the warm-up
 */
const openLoop = async (
  judge: Grader,
  items: ReturnType<typeof itemsUntil>,
  options: { perSecond: number; warmUpMs: number; durationMs: number },
): Promise<number[]> => {
  const everyMs = 1000 / options.perSecond
  const endMs = options.warmUpMs + options.durationMs
  const latencies: number[] = []
  const running = new Set<Promise<void>>()
  const startMs = performance.now()
  const start = (dueMs: number) => {
    const number = items.take()!
    const criteria = [CRITERIA[number % CRITERIA_PER_ITEM]]
    const done = gradeItem(judge, number, criteria).then(() => {
      running.delete(done)
      if (dueMs >= options.warmUpMs) latencies.push(performance.now() - startMs - dueMs)
    })
    running.add(done)
  }
  for (let dueMs = 0; dueMs < endMs; ) {
    for (const nowMs = performance.now() - startMs; dueMs <= nowMs && dueMs < endMs; dueMs += everyMs)
      start(dueMs)
    await sleep(1)
  }
  await Promise.all(running)
  return latencies
}

/** Requests in flight where speed is measured; more would only wait for the same processor. */
const IN_FLIGHT = 64
const BUSY_IN_FLIGHT = 512
const BUSY_LATENCY_MS = 200

interface JudgeSpeed {
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

const withJudge = async <T>(
  latencyMs: number,
  concurrency: number,
  measure: (setup: { fleet: JudgeFleet; process: ScriptedProcess }) => Promise<T>,
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
    await closedLoop(llmJudge({ model: fleet }), itemsUntil(Number.POSITIVE_INFINITY), {
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
    const items = itemsUntil(Number.POSITIVE_INFINITY)
    const times = { warmUpMs: warmUpMs(durationMs), durationMs }
    const { perSecond } = await closedLoop(judge, items, { inWork: itemsFor(IN_FLIGHT), ...times })
    const latencies = await openLoop(judge, items, { perSecond: perSecond / 2, ...times })
    return {
      verdictsPerSecond: perSecond,
      overheadP50Ms: quantile(latencies, 0.5),
      overheadP99Ms: quantile(latencies, 0.99),
    }
  })

const fillCache = (folder: string, items: number): Promise<void> =>
  withJudge(0, IN_FLIGHT, async ({ fleet }) => {
    const cache = VerdictCache.open(folder)
    await closedLoop(llmJudge({ model: fleet, cache }), itemsUntil(items), {
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
  await closedLoop(llmJudge({ model, cache }), itemsUntil(items), times)
  const seconds = (performance.now() - startMs) / 1000
  cache.close()
  return (items * CRITERIA_PER_ITEM) / seconds
}

const measureCache = (items: number): Promise<number> =>
  inTemporaryFolder(async folder => {
    await fillCache(folder, items)
    // The first round warms up the code.
    await readCache(folder, Math.ceil(items / 4))
    return readCache(folder, items)
  })

/** Measures judging; takes some four times `durationMs`. @param onProgress called with what is measured next */
const measureJudging = async (durationMs: number, onProgress: OnProgress): Promise<JudgeSpeed> => {
  onProgress(`judge of ${BUSY_LATENCY_MS} ms, ${BUSY_IN_FLIGHT} requests in flight`)
  const judgeBusyFraction = await measureBusy(durationMs)
  onProgress('judge that answers at once')
  const speed = await measureSpeed(durationMs)
  onProgress('warm cache')
  const cachedVerdictsPerSecond = await measureCache(Math.ceil(durationMs / 4))
  return { ...speed, cachedVerdictsPerSecond, judgeBusyFraction }
}

export interface JudgeBenchmark extends JudgeSpeed, RewardSpeed {
  cores: number
}

export interface JudgeBenchmarkOptions {
  /** Time for each value, without warming up. */
  durationMs?: number
  /** Requests to the reward server; as many as fit into the time unless given. */
  serverRequests?: number
  onProgress?: OnProgress
}

/** Measures everything against processes of its own. @throws GradusError when a verdict or a reward is wrong */
export const benchJudge = async (options: JudgeBenchmarkOptions = {}): Promise<JudgeBenchmark> => {
  const { durationMs = 8_000, serverRequests, onProgress = () => {} } = options
  const judging = await measureJudging(durationMs, onProgress)
  onProgress('reward server')
  const rewards = await measureRewards({ durationMs, requests: serverRequests })
  const growth = rewards.serverMemoryGrowthMb
  return {
    verdictsPerSecond: Math.round(judging.verdictsPerSecond),
    cachedVerdictsPerSecond: Math.round(judging.cachedVerdictsPerSecond),
    judgeBusyFraction: round(judging.judgeBusyFraction, 4),
    overheadP50Ms: round(judging.overheadP50Ms, 2),
    overheadP99Ms: round(judging.overheadP99Ms, 2),
    serverRequestsPerSecond: Math.round(rewards.serverRequestsPerSecond),
    serverRequests: rewards.serverRequests,
    serverMemoryGrowthMb: growth === null ? null : round(growth, 1),
    cores: availableParallelism(),
  }
}

/** The values beside what they should reach on two cores. */
export const formatJudgeBenchmark = (result: JudgeBenchmark): string => {
  const growth = result.serverMemoryGrowthMb
  return resultTable([
    [`${result.cores} cores`, '', 'goal on two'],
    ['verdicts a second, judge answers at once', `${result.verdictsPerSecond}`, 'at least 1500'],
    ['verdicts a second, warm cache', `${result.cachedVerdictsPerSecond}`, 'at least 20000'],
    ['judge of 200 ms, 512 in flight: busy', `${percent(result.judgeBusyFraction)}`, 'at least 95%'],
    ['added latency at half speed, median', `${result.overheadP50Ms} ms`, ''],
    ['added latency at half speed, 99th percentile', `${result.overheadP99Ms} ms`, 'at most 25 ms'],
    ['reward server, requests a second', `${result.serverRequestsPerSecond}`, 'at least 1000'],
    [
      `reward server, memory over ${result.serverRequests} requests`,
      growth === null ? 'unknown' : `${growth >= 0 ? '+' : ''}${growth} MB`,
      'flat',
    ],
  ])
}
