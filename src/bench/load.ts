/** @file Load on a judge: as much as it takes, or so much a second. */

import type { Grader } from '../grade/grader.ts'
import { GradusError } from '../util/errors.ts'
import { CRITERIA, CRITERIA_PER_ITEM, itemOf, wrongVerdicts } from './workload.ts'

const sleep = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** A counter of items; no two items of a benchmark are alike, so that nothing is answered from memory by accident. */
export class ItemSource {
  #next = 0

  take(): number {
    return this.#next++
  }
}

const gradeItem = async (judge: Grader, index: number, criteria = CRITERIA): Promise<number> => {
  const verdicts = await judge.grade(itemOf(index), criteria)
  const wrong = wrongVerdicts(index, verdicts)
  if (wrong > 0) throw new GradusError(`${wrong} of ${verdicts.length} verdicts are not those of the script`)
  return verdicts.length
}

export interface ClosedLoad {
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
  items: { take(): number | null },
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
export const openLoop = async (
  judge: Grader,
  items: ItemSource,
  options: { perSecond: number; warmUpMs: number; durationMs: number },
): Promise<number[]> => {
  const everyMs = 1000 / options.perSecond
  const endMs = options.warmUpMs + options.durationMs
  const latencies: number[] = []
  const running = new Set<Promise<void>>()
  const startMs = performance.now()
  const start = (dueMs: number) => {
    const number = items.take()
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
