/** @file How fast this machine is at a kind of training: two steps of it with its evaluations, timed. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { latestCheckpoint, readEvals, readMetrics } from '../../runs/readers.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { tryJson } from '../../util/json.ts'
import { isRecord } from '../../util/own-value.ts'
import { mean } from '../../util/statistics.ts'
import type { TrainingPace } from '../plan/estimate.ts'
import type { Job, Training } from '../plan/jobs.ts'
import { startModel } from './ledger.ts'
import type { Execute } from './runner.ts'

const STEPS = 2

/** Trains from the beginning. */
type Run = (training: Training, dir: string) => ReturnType<Execute>

const file = (work: string) => join(work, 'paces.json')

/** What earlier calibrations found, by `Job.pace`; a file that is none is written anew. */
export const readPaces = (work: string): Map<string, TrainingPace> => {
  const paces = existsSync(file(work)) ? tryJson(readFileSync(file(work), 'utf8')) : undefined
  return new Map(Object.entries(isRecord(paces) ? (paces as Record<string, TrainingPace>) : {}))
}

/**
 * Times one job of each pace among `unknown`. An arm whose cold start is not there yet is timed on a start of two steps,
 * which writes longer responses than a trained one: the estimate errs on the long side. Several commands may do so at once in
 * one folder.
 */
export const calibrate = async (
  unknown: readonly Job[],
  jobs: readonly Job[],
  { work, execute }: { work: string; execute: Execute },
  stop: AbortSignal,
  say: (text: string) => void,
): Promise<void> => {
  const run: Run = (training, dir) => execute({ training, dir, resume: false }, stop)
  mkdirSync(work, { recursive: true })
  const folder = mkdtempSync(join(work, 'calibration-'))
  try {
    for (const job of unknown) {
      if (job.given !== undefined || readPaces(work).has(job.pace)) continue
      const { recipe } = job.training
      say(`timing ${recipe}: ${job.steps === 0 ? '' : `${STEPS} steps and `}its evaluations`)
      const model = job.needs === null ? null : await modelFor(job, jobs, folder, run)
      if (stop.aborted || (job.needs !== null && model === null)) return
      const pace = await timed(job, model, join(folder, job.pace.replaceAll('/', '-')), run)
      if (pace) writePace(work, job.pace, pace)
      if (stop.aborted) return
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const writePace = (work: string, key: string, pace: TrainingPace): void => {
  const paces = { ...Object.fromEntries(readPaces(work)), [key]: pace }
  writeFileAtomic(file(work), `${JSON.stringify(paces, null, 2)}\n`)
}

/** Evaluated after every step: before the first, between, and after the last, which may differ in size. */
const briefly = (job: Job, model: string | null, steps: number) => ({
  ...job.training,
  settings: [
    ...job.training.settings,
    { steps, evaluation: { every: 1 } },
    ...(model === null ? [] : [{ model: { folder: model } }]),
  ],
})

/** The arm's cold start if it is there, else one of two steps. */
const modelFor = async (job: Job, jobs: readonly Job[], folder: string, run: Run): Promise<string | null> => {
  const start = jobs.find(({ id }) => id === job.needs)!
  const ready = startModel(start)
  if (ready !== null) return ready
  const dir = join(folder, start.id.replaceAll('/', '-'))
  if (latestCheckpoint(dir) === null) await run(briefly(start, null, STEPS), dir)
  return latestCheckpoint(dir)
}

const timed = async (job: Job, model: string | null, dir: string, run: Run): Promise<TrainingPace | null> => {
  const startMs = performance.now()
  const steps = job.steps === 0 ? 0 : STEPS
  const { finished } = await run(briefly(job, model, steps), dir)
  if (!finished) return null
  const seconds = (performance.now() - startMs) / 1000
  const timesS = readMetrics(dir).flatMap(({ time }) => (typeof time?.total === 'number' ? [time.total] : []))
  const perStep = timesS.length > 0 ? mean(timesS) : 0
  const rest = Math.max(0, seconds - timesS.reduce((a, b) => a + b, 0))
  const perEvaluation = rest * shareBetween(dir)
  return { fixed: rest - perEvaluation, perStep, perEvaluation }
}

/** How many of all problems that were evaluated belong to the evaluation between the first and the last. */
const shareBetween = (dir: string): number => {
  const rows = readEvals(dir)
  const sum = (own: readonly EvalRow[]) => own.reduce((total, { n }) => total + n, 0)
  const between = sum(rows.filter(({ step }) => step > 0 && step < STEPS))
  return between === 0 ? 0 : between / sum(rows)
}
