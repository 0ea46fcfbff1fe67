/** @file The jobs of a registration: cold starts, then arms x starts x seeds, in the order that completes pairs first. */

import { join } from 'node:path'
import { shortHash } from './canonical.ts'
import type { Registration } from './registration.ts'

type Tree = Record<string, unknown>

/** One training, as the command line would be asked for it. */
export interface Training {
  recipe: string
  preset?: string
  /** Settings over the preset, each layer over the one before. */
  settings: readonly Tree[]
}

export interface Job {
  /** Unique within the registration: `start/a`, `ruscarl/a/3`. */
  id: string
  kind: 'start' | 'arm'
  arm: string
  start: string
  seed: string
  training: Training
  steps: number | null
  /** Holds job.json, the run's folder `run`, and what probes measured. */
  dir: string
  /** Id of the cold start that has to be there first. */
  needs: string | null
  /** Jobs of one block make complete pairs: one start and seed, all its arms. Starts have the block of their first use. */
  block: number
}

/** The whole configuration that a training resolves to. @throws ConfigError naming the place in the registration. */
export type ResolveTraining = (training: Training, place: string) => Tree

/** Where the work of a registration lies; cold starts are shared by all registrations. */
export interface WorkFolders {
  root: string
  registration: string
}

export const workFolders = (root: string, { paper, hash }: Registration): WorkFolders => ({
  root,
  registration: join(root, paper, hash.slice(0, 16)),
})

export const runDir = ({ dir }: Pick<Job, 'dir'>): string => join(dir, 'run')

/** Every run has one thread: the experiment is parallel over runs. */
const ENGINE = { engine: { threads: 1 } }

const startJob = (
  { starts }: Registration,
  name: string,
  folders: WorkFolders,
  block: number,
  resolve: ResolveTraining,
): Job => {
  const { recipe, preset, settings, seed } = starts.find(start => start.name === name)!
  const training = { recipe, preset, settings: [ENGINE, settings, { seed }] }
  const config = resolve(training, `starts.${name}`)
  return {
    id: `start/${name}`,
    kind: 'start',
    arm: 'start',
    start: name,
    seed: String(seed),
    training,
    steps: stepsOf(config),
    dir: join(folders.root, 'cold-starts', `${recipe}-${shortHash(withoutEngine(config))}`),
    needs: null,
    block,
  }
}

const withoutEngine = ({ engine: _engine, out: _out, ...config }: Tree): Tree => config

const stepsOf = ({ steps }: Tree): number | null => (typeof steps === 'number' ? steps : null)

const armJob = (
  registration: Registration,
  name: string,
  start: string,
  seed: number | string,
  folders: WorkFolders,
  block: number,
): Job => {
  const { test } = registration
  const arm = registration.arms[name]
  const steps = arm.steps ?? registration.steps
  const fixed = { steps, seed, evaluation: { problems: test.problems, samples: test.samples } }
  return {
    id: `${name}/${start}/${seed}`,
    kind: 'arm',
    arm: name,
    start,
    seed: String(seed),
    training: {
      recipe: arm.recipe ?? registration.recipe,
      preset: arm.preset ?? (arm.recipe === undefined ? registration.preset : undefined),
      settings: [ENGINE, registration.settings, arm.settings, fixed],
    },
    steps,
    dir: join(folders.registration, name, `${start}-seed-${seed}`),
    needs: `start/${start}`,
    block,
  }
}

/**
 * All jobs in order: seed by seed, start by start, all arms; each cold start before its first use.
 * @param resolve checks each arm's settings once, before anything runs
 */
export const jobsOf = (registration: Registration, folders: WorkFolders, resolve: ResolveTraining): Job[] => {
  const jobs: Job[] = []
  let block = 0
  for (const [nth, seed] of registration.seeds.entries())
    for (const { name: start } of registration.starts) {
      if (nth === 0) jobs.push(startJob(registration, start, folders, block, resolve))
      for (const [name, arm] of Object.entries(registration.arms)) {
        if (arm.seeds !== undefined && nth >= arm.seeds) continue
        const job = armJob(registration, name, start, seed, folders, block)
        if (block === 0) resolve(job.training, `arms.${name}`)
        jobs.push(job)
      }
      block++
    }
  return jobs
}
