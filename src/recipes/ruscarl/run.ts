/** @file Runs RuscaRL on the packing task: model, rubrics and run folder put together, from the start or from a checkpoint. */

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LocalPolicy } from '../../policy/local/local-policy.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { perturbRubric } from '../../rubric/perturb.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { latestCheckpoint } from '../../runs/run-folder.ts'
import { configHash } from '../../runs/run-state.ts'
import { ALL_TRIPS, PackingWorld, type Trip, tripName } from '../../tasks/checklist/index.ts'
import { type LoopSettings, train } from '../../train/loop.ts'
import { trainedMsOf } from '../../train/steps.ts'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { evaluateScores, type ScoredResponse } from '../checklist/evaluate.ts'
import { PackingTask, packingTrips } from '../checklist/packing.ts'
import { runChecklistColdStart } from '../checklist-cold-start/run.ts'
import type { RunEvents, RunOptions, RunResult } from '../recipe.ts'
import { FREE_CONFIG_KEYS, withRun } from '../session.ts'
import { existingModel } from '../starting-model.ts'
import type { RuscarlConfig } from './config.ts'
import { ruscarl } from './recipe.ts'

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runRuscarl = (config: RuscarlConfig, options: RunOptions): Promise<RunResult> => {
  const given = givenModel(config)
  const hash = configHash(config, FREE_CONFIG_KEYS)
  const { events = {} } = options
  const session = {
    ...options,
    info: {
      config,
      recipe: config.recipe,
      model: config.model.folder ?? 'cold start of this run',
      seed: config.seed,
      steps: config.steps,
      primarySet: 'unseen trips',
    },
    configHash: hash,
    mayLackCheckpoint: (dir: string) => config.coldStart !== null && existsSync(coldStartFolder(dir)),
  }
  return withRun(session, async ({ run, from, use }) => {
    const folder = given ?? (await coldStart(config, run.dir, events))
    if (folder === null) return { step: 0, finished: false }
    const policy = await use(LocalPolicy.start({ folder, seed: config.seed }, config.engine))
    // The reference is the model that the run started from, also after a resume.
    if (config.loss.kl.coef > 0) await policy.freezeReference()
    if (from) await policy.load(from.dir)
    const world = new PackingWorld(config.world)
    const trips = packingTrips(config.seed)
    const truth = new PackingTask(world)
    const recipe = ruscarl(config, {
      problem: trips.at,
      task: rewardTask(config, world),
      evaluate: (step, last) => evaluateAll(config, policy, truth, trips.test, step, last),
    })
    const settings = { ...loopSettings(config, hash), trainedMs: trainedMsOf(from?.state.recipe) }
    events.onPhase?.({ name: 'reinforcement', steps: settings.steps, done: from?.step ?? 0 })
    return train(policy, recipe, run, settings, from?.step ?? 0, events)
  })
}

const givenModel = ({ model, coldStart: phase }: RuscarlConfig): string | null => {
  if (phase !== null && model.folder !== null)
    throw new ConfigError('model.folder: expected nothing beside coldStart, which makes the model', {
      hint: 'set one of the two to null',
    })
  if (phase !== null) return null
  if (model.folder === null)
    throw new ConfigError('model.folder: expected a checkpoint to start from, got nothing', {
      hint: 'make one with `gradus train checklist-cold-start`, or use a preset that brings one',
    })
  return existingModel(model.folder, 'model.folder')
}

const coldStartFolder = (dir: string): string => join(dir, 'cold-start')

/** Runs the cold start, goes on with it, or finds it done. Returns its checkpoint; null when it was asked to stop. */
const coldStart = async (
  config: RuscarlConfig,
  runDir: string,
  events: RunEvents,
): Promise<string | null> => {
  const dir = coldStartFolder(runDir)
  const resume = latestCheckpoint(dir) !== null
  // Killed before its first checkpoint: nothing of it can be used.
  if (!resume) rmSync(dir, { recursive: true, force: true })
  const { finished, checkpoint } = await runChecklistColdStart(config.coldStart!, { dir, resume, events })
  return finished ? checkpoint : null
}

/** The rubrics of training: the true ones, or what the noise makes of them. Depends on world, noise and seed alone. */
const rubricsOf = ({ noise, seed }: RuscarlConfig, world: PackingWorld): ((trip: Trip) => Rubric) => {
  if (noise === 'none') return trip => world.rubric(trip)
  const known = new Map<string, Rubric>()
  const others = noise === 'shuffled' ? shuffledTrips(seed) : null
  return trip => {
    const name = tripName(trip)
    const rubric =
      known.get(name) ??
      (noise === 'shuffled'
        ? world.rubric(others!.get(name)!)
        : perturbRubric(world.rubric(trip), noise, `${seed}/${name}`).rubric)
    known.set(name, rubric)
    return rubric
  }
}

/** Another trip for every trip, one to one. */
const shuffledTrips = (seed: number | string): Map<string, Trip> => {
  const shuffled = new Rng(`shuffled rubrics/${seed}`).shuffle(ALL_TRIPS)
  return new Map(shuffled.map((trip, i) => [tripName(trip), shuffled[(i + 1) % shuffled.length]]))
}

/** What training is graded by: the task with its rubrics, with chance or a noisy judge in the way where that is asked for. */
const rewardTask = (config: RuscarlConfig, world: PackingWorld): PackingTask => {
  const { reward, flipRate, seed } = config
  const rng = new Rng(`reward noise/${seed}`)
  return new PackingTask(world, {
    rubricOf: rubricsOf(config, world),
    flipRate,
    rng,
    ...(reward === 'random' && { scoreOf: (): ScoredResponse['score'] => rng.next() }),
  })
}

const loopSettings = (config: RuscarlConfig, hash: string): LoopSettings => {
  const { learningRate, ...optimizer } = config.optimizer
  const { maxTokens, temperature, topK, topP, samples } = config.rollout
  return {
    steps: config.steps,
    seed: config.seed,
    rollout: { maxTokens, temperature, topK, topP, samplesPerPrompt: samples },
    update: {
      loss: config.loss,
      optimizer,
      learningRate,
      minibatches: config.minibatches,
      epochs: config.epochs,
      dropZero: true,
      ratio: config.ratio,
    },
    pipeline: config.pipeline,
    evalEvery: config.evaluation.every,
    checkpointEvery: config.checkpoint.every,
    keepCheckpoints: config.checkpoint.keepLast,
    maxMinutes: config.maxMinutes,
    configHash: hash,
  }
}

/** Always by the true rubrics, on trips that training never sees; the start and the end on more of them. */
const evaluateAll = async (
  { evaluation, rollout }: RuscarlConfig,
  policy: Policy,
  task: PackingTask,
  test: readonly Trip[],
  step: number,
  last: boolean,
): Promise<EvalRow[]> => {
  const between = step > 0 && !last
  const problems = test.slice(0, between ? evaluation.problemsBetween : evaluation.problems)
  const settings = {
    samples: evaluation.samples,
    sampling: { maxTokens: rollout.maxTokens, temperature: evaluation.temperature, seed: 'evaluation' },
  }
  const rows = [await evaluateScores(policy, task, { set: 'unseen trips', step, problems }, settings)]
  if (!evaluation.scaffolded || between) return rows
  const full = (trip: Trip) => task.scaffolded(trip, task.rubric(trip).criteria)
  return [
    ...rows,
    await evaluateScores(policy, task, { set: 'full scaffold', step, problems }, settings, full),
  ]
}
