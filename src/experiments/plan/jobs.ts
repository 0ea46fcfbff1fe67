/** @file The jobs of a registration: cold starts, then arms x starts x seeds, in the order that completes pairs first. */

import { join } from 'node:path'
import { decidingSettings } from '../../recipes/common/deciding.ts'
import { canonicalJson, shortHash } from '../../util/canonical.ts'
import { ConfigError } from '../../util/errors.ts'
import { allSeeds, seedsOf } from './blocks.ts'
import { formerConfig, settingsOfToday } from './former-starts.ts'
import { type GivenStart, givenStart } from './given-start.ts'
import type { Registration } from './registration.ts'

type Tree = Record<string, unknown>

/** One training, as the command line would be asked for it. */
export interface Training {
  recipe: string
  preset?: string
  /** Settings over the preset, each layer over the one before. */
  settings: readonly Tree[]
}

/** Where a job lies. */
export interface JobPlace {
  /** Holds job.json, what probes measured, and the run's folder where that is nowhere else. */
  dir: string
  /** The run's folder; absent: `run` in `dir`. */
  run?: string
}

export interface Job extends JobPlace {
  /** Unique within the registration: `start/a`, `ruscarl/a/3`; `start/a/flat` for cold starts of the arm `flat`. */
  id: string
  kind: 'start' | 'arm'
  arm: string
  start: string
  seed: string
  training: Training
  steps: number | null
  /** Of a start that is not trained: the folder of its model. */
  given?: string
  /** Why such a model cannot be had, of the start and of its arms: its weights, and the hashes over them, are not known then. */
  missing?: ConfigError
  /** Id of the cold start that has to be there first. */
  needs: string | null
  /** Jobs of one block make complete pairs: one start and seed, all its arms. Starts have the block of their first use. */
  block: number
  /** Hash of all settings that decide what is trained, those of its cold start included, but for the seed. */
  configHash: string
  /** Jobs of one pace are taken to be equally fast: arms that differ in nothing but settings of their own. */
  pace: string
  /** Evaluations between the first and the last. */
  evaluations: number
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

export const runDir = ({ dir, run }: JobPlace): string => run ?? join(dir, 'run')

/** Every run has one thread: the experiment is parallel over runs. */
const ONE_THREAD = { policy: { threads: 1 } }

/** Cold starts of one kind: the file's, or those that arms have in their place. */
interface StartKind {
  /** The first arm that has them; null: the file's. */
  arm: string | null
  settings: Tree
}

/** The kinds of cold starts that arms need. The file's are always there: they are what runs are paired by. */
const startKinds = ({ arms }: Registration): { kinds: StartKind[]; of: Map<string, StartKind> } => {
  const common: StartKind = { arm: null, settings: {} }
  const kinds = new Map([[canonicalJson({}), common]])
  const of = new Map<string, StartKind>()
  for (const [arm, { start = {} }] of Object.entries(arms)) {
    const key = canonicalJson(start)
    if (!kinds.has(key)) kinds.set(key, { arm, settings: start })
    of.set(arm, kinds.get(key)!)
  }
  return { kinds: [...kinds.values()], of }
}

const startJob = (
  { starts }: Registration,
  name: string,
  kind: StartKind,
  folders: WorkFolders,
  block: number,
  resolve: ResolveTraining,
): Job => {
  const id = kind.arm === null ? `start/${name}` : `start/${name}/${kind.arm}`
  const start = starts.find(each => each.name === name)!
  const common = { id, kind: 'start', arm: 'start', start: name, needs: null, block } as const
  if ('model' in start) {
    if (kind.arm !== null) refuseOwnStart(kind.arm, name)
    return { ...common, ...givenJob(start.model, `starts.${name}`, folders) }
  }
  const { recipe, preset, settings, seed } = start
  const [own, kinds] = [settings, kind.settings].map(each => settingsOfToday(recipe, each))
  const training = { recipe, preset, settings: [ONE_THREAD, own, kinds, { seed }] }
  const config = formerConfig(
    resolve(training, kind.arm === null ? `starts.${name}` : `arms.${kind.arm}.start`),
  )
  return {
    ...common,
    seed: String(seed),
    training,
    steps: stepsOf(config),
    dir: join(folders.root, 'cold-starts', `${recipe}-${shortHash(lasting(config))}`),
    configHash: shortHash(decisive(config)),
    pace: `start/${recipe}/${shortHash({ ...decisive(config), steps: undefined })}`,
    evaluations: evaluationsBetween(config),
  }
}

const refuseOwnStart = (arm: string, start: string): never => {
  throw new ConfigError(
    `arms.${arm}.start: expected no settings, got some for ${start}, a model that is there and not trained`,
    { hint: `leave it out, or give starts.${start} a recipe` },
  )
}

/**
 * A start that is there. Its weights decide what is trained from it, wherever its folder lies. What has been trained can be read
 * without them; so where they are missing, that is kept.
 */
const givenJob = (model: string, place: string, { root }: WorkFolders) => {
  const { folder, weights, missing } = givenOrMissing(model, place)
  return {
    seed: '',
    training: { recipe: model, settings: [] },
    steps: null,
    dir: join(root, 'cold-starts', `given-${weights}`),
    given: folder,
    ...(missing && { missing }),
    configHash: weights,
    pace: `start/given/${weights}`,
    evaluations: 0,
  }
}

const givenOrMissing = (model: string, place: string): GivenStart & Pick<Job, 'missing'> => {
  try {
    return givenStart(model, place)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { folder: model, weights: `missing-${shortHash(model)}`, missing: error }
  }
}

/** Whether what was trained under this hash is not what the job would train now; not known without the weights of its start. */
export const isOfOtherSettings = (job: Job, configHash: string | undefined): boolean =>
  configHash !== undefined && job.missing === undefined && configHash !== job.configHash

/** What the folder of a cold start is named by; the last two are in it so that work which is there keeps its name. */
const lasting = (config: Tree): Tree => {
  const { checkpoint, monitors } = config
  return { ...decidingSettings(config), checkpoint, monitors }
}

/** Settings that are no matter of where a run lies, on how many threads it runs, or when it saves; nor its seed. */
export const decisive = (config: Tree): Tree => {
  const { seed: _seed, ...deciding } = decidingSettings(config)
  return deciding
}

const stepsOf = ({ steps }: Tree): number | null => (typeof steps === 'number' ? steps : null)

const evaluationsBetween = (config: Tree): number => {
  const { every } = (config.evaluation ?? {}) as { every?: unknown }
  if (typeof every !== 'number' || every === 0) return 0
  return Math.max(0, Math.ceil((stepsOf(config) ?? 0) / every) - 1)
}

/** What an arm trains with a seed, but for the model that it starts from. */
export const armTraining = (registration: Registration, name: string, seed: number | string): Training => {
  const { test, recipe, preset, settings, afterwards } = registration
  const arm = registration.arms[name]
  const defaults = arm.recipe === undefined ? [afterwards.defaults, afterwards.armDefaults[name] ?? {}] : []
  const steps = arm.steps ?? registration.steps
  const own = arm.draws === undefined ? seed : `${seed}/${arm.draws}`
  const fixed = { steps, seed: own, evaluation: { problems: test.problems, samples: test.samples } }
  const trained = arm.recipe ?? recipe
  const registered = [settings, arm.settings].map(each => settingsOfToday(trained, each))
  return {
    recipe: trained,
    preset: arm.preset ?? (arm.recipe === undefined ? preset : undefined),
    settings: [ONE_THREAD, ...defaults, ...registered, fixed],
  }
}

const armJob = (
  registration: Registration,
  name: string,
  start: Job,
  seed: number | string,
  folders: WorkFolders,
  block: number,
  config: Tree,
): Job => {
  const training = armTraining(registration, name, seed)
  const { recipe, preset } = training
  const { settings, test } = registration
  const steps = registration.arms[name].steps ?? registration.steps
  return {
    id: `${name}/${start.start}/${seed}`,
    kind: 'arm',
    arm: name,
    start: start.start,
    seed: String(seed),
    training,
    steps,
    dir: join(folders.registration, name, `${start.start}-seed-${seed}`),
    needs: start.id,
    ...(start.missing && { missing: start.missing }),
    block,
    configHash: shortHash({ config: decisive(config), start: [start.configHash, start.seed] }),
    pace: `arm/${recipe}/${shortHash({ preset, settings, test, trains: steps > 0 })}`,
    evaluations: evaluationsBetween(config),
  }
}

/** Pairs on the same weights under two names would be counted twice. */
const refuseEqualStarts = (starts: readonly Job[]): void => {
  const given = starts.filter(job => job.given !== undefined)
  for (const [i, { configHash, start, given: folder }] of given.entries()) {
    const same = given.slice(0, i).find(other => other.configHash === configHash)
    if (same)
      throw new ConfigError(
        `starts.${start}.model: expected other weights than those of ${same.start}, got the same ones in ${folder}`,
      )
  }
}

/**
 * All jobs in order: seed by seed, start by start, all arms; each cold start before its first use.
 * @param resolve checks each arm's settings once, before anything runs
 */
export const jobsOf = (registration: Registration, folders: WorkFolders, resolve: ResolveTraining): Job[] => {
  const { arms, starts } = registration
  const seeds = allSeeds(registration)
  const runs = Object.keys(arms).map(name => ({
    name,
    seeds: new Set(seedsOf(registration, name).map(({ seed }) => seed)),
  }))
  const configs = new Map(
    Object.keys(arms).map(name => [name, resolve(armTraining(registration, name, seeds[0]), `arms.${name}`)]),
  )
  const { kinds, of } = startKinds(registration)
  const startJobs = starts.map(
    ({ name }, block) =>
      new Map(kinds.map(kind => [kind, startJob(registration, name, kind, folders, block, resolve)])),
  )
  refuseEqualStarts(startJobs.map(own => [...own.values()][0]))
  return seeds.flatMap((seed, nth) =>
    startJobs.flatMap((own, i) => {
      const block = nth * starts.length + i
      const armJobs = runs
        .filter(arm => arm.seeds.has(seed))
        .map(({ name }) => {
          const start = own.get(of.get(name)!)!
          return armJob(registration, name, start, seed, folders, block, configs.get(name)!)
        })
      return nth === 0 ? [...own.values(), ...armJobs] : armJobs
    }),
  )
}
