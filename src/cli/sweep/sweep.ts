/** @file `gradus sweep`: every combination of some settings as a run of its own, several at a time; one table and one page of all. */

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type Job, runDir } from '../../experiments/plan/jobs.ts'
import { isDone, readRecord } from '../../experiments/run/ledger.ts'
import { provenanceNow } from '../../experiments/run/provenance.ts'
import { runJobs } from '../../experiments/run/runner.ts'
import { compareMany } from '../../runs/compare/compare.ts'
import { takeLock } from '../../runs/lock.ts'
import { isRun } from '../../runs/readers.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { plural } from '../../util/format.ts'
import { commandLineOf } from '../../util/invocation.ts'
import { mean } from '../../util/statistics.ts'
import { stopper, trainInProcess } from '../experiment/process.ts'
import { ExperimentProgress } from '../experiment/progress.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { optionWords } from '../option-values.ts'
import { axisLabel } from './axes.ts'
import { mergedRecord, planSweep, type SweepPlan } from './plan.ts'
import { writeSweep } from './record.ts'

export interface SweepOptions {
  preset?: string
  set?: readonly string[]
  out?: string
  jobs?: number
  dryRun?: boolean
  json?: boolean
  quiet?: boolean
}

/** @throws UsageError, ConfigError for what cannot be run; RunError where another process runs this sweep */
export const sweepCommand = async (target: string, options: SweepOptions, io: Io): Promise<number> => {
  const cores = availableParallelism()
  const { preset, set = [], out } = options
  const jobs = options.jobs ?? cores
  const plan = await planSweep({ target, preset, set, out, jobs, cores })
  const record = await mergedRecord(plan)
  if (options.dryRun) {
    if (options.json) printJson(io, planJson(plan))
    else io.out.write(`${planLines(plan, jobs).join('\n')}\nnothing was run\n`)
    return EXIT.ok
  }
  const say = (text: string) => options.json || options.quiet || io.err.write(`${text}\n`)
  const lock = takeLock(join(plan.dir, 'jobs'))
  const stop = stopper(io, say)
  try {
    writeSweep(plan.dir, record)
    for (const line of planLines(plan, jobs)) say(line)
    const words = wordsOf(target, options)
    const { failed, interrupted } = await carryOut(
      plan,
      jobs,
      ['gradus', ...words].join(' '),
      stop.signal,
      say,
    )
    if (interrupted) {
      say(`stopped; go on with:\n  ${commandLineOf(words)}`)
      return EXIT.interrupted
    }
    return conclude(plan, failed, options, io)
  } finally {
    stop.release()
    lock.release()
  }
}

const carryOut = async (
  { jobs }: SweepPlan,
  width: number,
  command: string,
  stop: AbortSignal,
  say: (text: string) => void,
) => {
  const watched = {
    estimator: () => timeLeft(jobs),
    // A run that went on when the command was killed is done, and not yet noted down.
    isComplete: (job: Job) => readRecord(job).finished,
    missingMetrics: () => [],
  }
  const progress = new ExperimentProgress(watched, jobs, width, say)
  return runJobs(jobs, {
    execute: trainInProcess,
    probe: async () => {},
    isComplete: isDone,
    provenance: () => provenanceNow(command),
    width,
    stop,
    events: progress.events,
  }).finally(() => progress.close())
}

/** Seconds that a run still takes, by those that are done; null before the first of them. */
const timeLeft = (jobs: readonly Job[]) => {
  const seconds = jobs.filter(isDone).map(job => readRecord(job).seconds)
  return (job: Job): number | null => (isDone(job) ? 0 : seconds.length > 0 ? mean(seconds) : null)
}

/** What goes on where a command was stopped, but for the name of the program. */
const wordsOf = (target: string, options: SweepOptions): string[] => [
  ...['sweep', target],
  ...optionWords(options, ['preset', 'set', 'out', 'jobs']),
]

const planLines = ({ dir, jobs, threads, record }: SweepPlan, width: number): string[] => {
  const done = jobs.filter(isDone).length
  const each = threads === null ? '' : ` with ${plural(threads, 'thread')} each`
  return [
    `sweep over ${record.varied.join(', ')}: ${plural(jobs.length, 'run')}, ${done} done, ${Math.min(width, jobs.length)} at a time${each}`,
    ...jobs.map(job => `  ${runDir(job)}${isDone(job) ? '  done' : ''}`),
    `folder ${dir}`,
  ]
}

const planJson = ({ dir, jobs, threads, combinations }: SweepPlan) => ({
  dir,
  threads,
  runs: jobs.map(job => ({
    name: job.id,
    dir: runDir(job),
    done: isDone(job),
    settings: combinations.get(job.id),
  })),
})

type Failed = Awaited<ReturnType<typeof runJobs>>['failed']

/** Table on stdout, page in the sweep's folder, of all runs that there are. */
const conclude = (plan: SweepPlan, failed: Failed, options: SweepOptions, io: Io): number => {
  const { dir, jobs, record } = plan
  const code = failed.length > 0 ? EXIT.failed : EXIT.ok
  for (const { job, message } of failed) io.err.write(`${job.id}: failed: ${message}\n`)
  const present = jobs.filter(job => isRun(runDir(job)))
  const page = join(dir, 'compare.html')
  const labels = new Map(present.map(job => [runDir(job), axisLabel(record.runs[job.id])]))
  const onlySeeds = record.varied.every(key => key === 'seed')
  const compared =
    present.length > 0
      ? compareMany(present.map(runDir), {
          title: `Sweep over ${record.varied.join(', ')}`,
          ...(!onlySeeds && { labels }),
        })
      : null
  if (compared) writeFileAtomic(page, compared.page())
  if (options.json)
    printJson(io, {
      dir,
      page: compared ? page : null,
      failed: failed.map(({ job, message }) => ({ name: job.id, message })),
      ...compared?.json,
    })
  else if (compared) io.out.write(`\n${compared.text}\npage  ${page}\n`)
  return code
}
