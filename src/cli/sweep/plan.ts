/** @file The runs of a sweep: a job for each combination, checked by its recipe before anything runs. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { decisive, type Job, runDir, type Training } from '../../experiments/plan/jobs.ts'
import { readRecord } from '../../experiments/run/ledger.ts'
import { readRunInfo } from '../../runs/readers.ts'
import { differentSettings } from '../../runs/report/compare.ts'
import { canonicalJson, shortHash } from '../../util/canonical.ts'
import { ConfigError, GradusError, UsageError } from '../../util/errors.ts'
import { settingsOf } from '../experiment/process.ts'
import { resolveSettings } from '../train/settings.ts'
import { type Axis, axesOf, type Combination, combinationsOf } from './axes.ts'
import { isSweep, readSweep, type SweepRecord } from './record.ts'

export interface SweepRequest {
  target: string
  preset?: string
  set: readonly string[]
  /** Folder of the sweep; absent: by the name of what is trained, under runs/. */
  out?: string
  /** Runs at a time. */
  jobs: number
  cores: number
}

export interface SweepPlan {
  dir: string
  record: SweepRecord
  jobs: Job[]
  /** By `Job.id`. */
  combinations: ReadonlyMap<string, Combination>
  /** Threads of each run; null where the settings say so themselves, or the policy is elsewhere. */
  threads: number | null
}

type Tree = Record<string, unknown>

const MOST_RUNS = 1000

/** The last part of a key, or all of it where two axes end alike. */
const shortKeys = (keys: readonly string[]): Map<string, string> => {
  const last = (key: string) => key.split('.').at(-1)!
  return new Map(
    keys.map(key => [key, keys.filter(other => last(other) === last(key)).length > 1 ? key : last(key)]),
  )
}

const NAME_LENGTH = 40

/** A value as part of a folder's name on every system. */
const plainName = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value))
    .replaceAll(/[^\w.+-]+/g, '_')
    .slice(0, NAME_LENGTH)

/** Names of an axis's values by their JSON; two that would be called alike get a hash. */
const valueNames = ({ values }: Axis): Map<string, string> => {
  const plain = values.map(plainName)
  const isTaken = (name: string) =>
    plain.filter(other => other.toLowerCase() === name.toLowerCase()).length > 1
  return new Map(
    values.map((value, i) => [
      JSON.stringify(value),
      isTaken(plain[i]) ? `${plain[i]}~${shortHash(value).slice(0, 4)}` : plain[i],
    ]),
  )
}

type Naming = ReadonlyMap<string, { key: string; values: ReadonlyMap<string, string> }>

const namingOf = (varied: readonly Axis[]): Naming => {
  const keys = shortKeys(varied.map(({ key }) => key))
  return new Map(varied.map(axis => [axis.key, { key: keys.get(axis.key)!, values: valueNames(axis) }]))
}

const nameOf = (combination: Combination, naming: Naming): string =>
  Object.entries(combination)
    .flatMap(([key, value]) => {
      const own = naming.get(key)
      return own ? [`${own.key}-${own.values.get(JSON.stringify(value))}`] : []
    })
    .join('-')

/** One thread a run where they fill the cores, else as many as there are. */
const threadsOf = (
  config: Tree,
  axes: readonly Axis[],
  runs: number,
  request: SweepRequest,
): number | null => {
  const policy = config.policy as Tree | undefined
  if (typeof policy?.threads !== 'number' || axes.some(({ key }) => /^(?:policy|engine)\.threads$/.test(key)))
    return null
  return Math.max(1, Math.floor(request.cores / Math.min(runs, request.jobs)))
}

/** Has every combination resolved and planned by its recipe. @throws GradusError naming the combination */
const resolved = async (training: Training, name: string): Promise<{ config: Tree; name: string }> => {
  try {
    const { recipe: target, preset } = training
    const {
      entry,
      config,
      name: called,
    } = await resolveSettings({ target, preset, set: settingsOf(training) })
    await entry.prefetch?.(config, 'plan')
    entry.plan(config)
    return { config, name: called }
  } catch (error) {
    if (!(error instanceof GradusError)) throw error
    const Kind = error instanceof UsageError ? UsageError : ConfigError
    throw new Kind(`${name === '' ? '' : `${name}: `}${error.message}`)
  }
}

/** @throws UsageError for nothing to vary, a number of runs that nobody means; what recipes refuse, by combination */
export const planSweep = async (request: SweepRequest): Promise<SweepPlan> => {
  const { target, preset } = request
  const axes = axesOf(request.set)
  const varied = axes.filter(({ values }) => values.length > 1)
  if (varied.length === 0)
    throw new UsageError('sweep: expected a setting with several values, got none', {
      hint: 'for example --set seed=1,2,3; for a single run there is gradus train',
    })
  const combinations = combinationsOf(axes)
  if (combinations.length > MOST_RUNS)
    throw new UsageError(`sweep: expected at most ${MOST_RUNS} runs, got ${combinations.length}`)
  const keys = namingOf(varied)
  const training = (combination: Combination, more: Tree[] = []): Training => ({
    recipe: target,
    ...(preset !== undefined && { preset }),
    settings: [...more, combination],
  })
  const first = await resolved(training(combinations[0]), nameOf(combinations[0], keys))
  const dir = request.out ?? join('runs', `${first.name}-sweep`)
  const threads = threadsOf(first.config, axes, combinations.length, request)
  const more = threads === null ? [] : [{ 'policy.threads': threads }]
  const planned: { combination: Combination; job: Job }[] = []
  for (const combination of combinations) {
    const id = nameOf(combination, keys)
    const { config } = await resolved(training(combination, more), id)
    planned.push({ combination, job: jobOf(dir, id, training(combination, more), config) })
  }
  const jobs = planned.map(({ job }) => job)
  return {
    dir,
    jobs,
    threads,
    combinations: new Map(planned.map(({ job, combination }) => [job.id, combination])),
    record: {
      target,
      preset: preset ?? null,
      fixed: Object.fromEntries(
        axes.filter(({ values }) => values.length === 1).map(({ key, values }) => [key, values[0]]),
      ),
      varied: varied.map(({ key }) => key),
      runs: Object.fromEntries(
        planned.map(({ job, combination }) => [
          job.id,
          Object.fromEntries(Object.entries(combination).filter(([key]) => keys.has(key))),
        ]),
      ),
    },
  }
}

const jobOf = (dir: string, id: string, training: Training, config: Tree): Job => ({
  id,
  kind: 'arm',
  arm: 'sweep',
  start: '',
  seed: String(config.seed ?? ''),
  training,
  steps: typeof config.steps === 'number' ? config.steps : null,
  dir: join(dir, 'jobs', id),
  run: join(dir, id),
  needs: null,
  block: 0,
  configHash: shortHash({ config: decisive(config), seed: config.seed }),
  pace: 'sweep',
  evaluations: 0,
})

/**
 * Refuses a folder of another sweep, and runs in it that were made with other settings.
 * @returns the record with the runs that are there already
 * @throws ConfigError
 */
export const mergedRecord = async ({ dir, record, jobs }: SweepPlan): Promise<SweepRecord> => {
  const before = isSweep(dir) ? readSweep(dir) : null
  if (before && canonicalJson(before.varied) !== canonicalJson(record.varied))
    throw new ConfigError(
      `${dir}: there is a sweep over ${before.varied.join(', ')} here, and this one is over ${record.varied.join(', ')}`,
      { hint: 'choose another folder with --out' },
    )
  for (const job of jobs) await refuseOther(job)
  return { ...record, runs: { ...before?.runs, ...record.runs } }
}

const refuseOther = async (job: Job): Promise<void> => {
  const { configHash } = readRecord(job)
  if (configHash === undefined || configHash === job.configHash) return
  const { recipe: target, preset } = job.training
  const { config: now } = await resolveSettings({ target, preset, set: settingsOf(job.training) })
  const there = existsSync(join(runDir(job), 'config.json'))
  const then = there ? (readRunInfo(runDir(job)).config as Tree) : now
  const changes = differentSettings(decisive(then), decisive(now)).map(
    ({ name, a, b }) => `${name} ${JSON.stringify(a) ?? 'none'} then, ${JSON.stringify(b) ?? 'none'} now`,
  )
  throw new ConfigError(
    `${runDir(job)}: it was made with other settings (${changes.length > 0 ? changes.slice(0, 5).join('; ') : 'its folder does not say which'})`,
    {
      hint: 'take the change back, choose another folder with --out, or remove this run to have it made again',
    },
  )
}
