/**
 * @file The training loop. A task becomes a prompt; the policy samples a group of rollouts; graders give a verdict per
 * criterion; the recipe turns verdicts into rewards and advantages; each rollout becomes a datum; the policy updates; the
 * run records all of it.
 */

import type { OptimizerSettings, Policy } from '../policy/policy.ts'
import type { UpdateStats } from '../policy/update.ts'
import type { ImportanceOptions } from '../rl/offpolicy.ts'
import { type Schedule, scheduleAt } from '../rl/schedules.ts'
import type { MetricGroup, MetricsRow } from '../runs/rows.ts'
import type { RunFolder } from '../runs/run-folder.ts'
import { checkpointName, EARLIER_CHECKPOINT } from '../runs/run-state.ts'
import { CheckpointError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import { meanKnown } from '../util/statistics.ts'
import { type Journal, loadJournal, type SampledRequest, saveJournal } from './journal.ts'
import { type ActingState, NO_ACTIONS, seedAfter } from './monitors/acting.ts'
import { DEFAULT_MONITORS, expectingMismatch, type MonitorSettings } from './monitors/config.ts'
import { type WatchedUpdate, watchUpdate } from './monitors/watched-update.ts'
import type { Phase, Recipe, StepUpdate } from './recipe.ts'
import { loadState, saveState, snapshotOf } from './recipe-state.ts'
import { StepRollouts } from './rollout.ts'
import {
  pausesAfter,
  runSteps,
  type StepEvents,
  type StepsOutcome,
  type StepsResult,
  type StepsSettings,
} from './steps.ts'
import { turnRun } from './turn.ts'
import { learnPhase } from './update.ts'
import { keptRows, rolloutMetrics, staleness } from './update-rows.ts'

/** No step sampled ahead, one (`true`), or two. */
export type Pipeline = boolean | 1 | 2

export interface LoopSettings extends StepsSettings {
  seed: number | string
  optimizer?: Omit<OptimizerSettings, 'learningRate' | 'valueLearningRate'>
  learningRate: Schedule
  /** Of a critic's value head; `learningRate` where absent. */
  valueLearningRate?: Schedule
  /**
   * How many steps are sampled ahead. One (true): a step's rollouts while those of the step before are graded and learnt from;
   * the policy that samples is one update behind, and its log-probs are the old ones of the ratio. Two: those of the step in
   * between are graded meanwhile, so that a slow judge is waited for by nobody; two updates behind. Never across an evaluation; a
   * checkpoint keeps what was sampled ahead, so that neither checkpoints nor a stop change what the steps compute. Whether
   * sampling and updates run at the same time or take turns is the policy's; the numbers are the same. Default false.
   */
  pipeline?: Pipeline
  /** Weighs rollouts by what the trainer's weights make of them against those that sampled; absent: nothing is weighed. */
  correction?: ImportanceOptions | null
}

/** A step's rollouts under way. */
interface Running<Rolled> {
  io: StepRollouts
  rolled: Promise<Rolled>
  /** Resolves when the policy has nothing more to do for them but what grades make necessary. */
  sampled: Promise<void>
  /** The recipe's state when they were begun, where they may be sampled ahead. */
  state?: unknown
}

/**
 * Runs steps `from + 1` to `settings.steps`, with evaluations and checkpoints between (see `runSteps`). What the run's
 * checkpoint of step `from` says was sampled ahead is not sampled again.
 */
export const train = async <Rolled>(
  policy: Policy,
  recipe: Recipe<Rolled>,
  run: RunFolder,
  settings: LoopSettings,
  from = 0,
  events: StepEvents = {},
): Promise<StepsResult> => {
  let place = { ...settings, from }
  for (;;) {
    const { turn, control, ...result } = await trainFrom(policy, recipe, run, place, place.from, events)
    if (turn === undefined) return result
    const { step, acting, ended } = await turnRun(policy, run, turn, events.onMessage)
    if (ended) return { step, finished: false, stoppedBy: result.stoppedBy }
    const { trainedMs } = turn
    place = { ...place, from: step, acting, trainedMs, goesOn: true, unattended: false, control }
  }
}

/** As `train`, until it ends or is to go back or forth. */
const trainFrom = async <Rolled>(
  policy: Policy,
  recipe: Recipe<Rolled>,
  run: RunFolder,
  given: LoopSettings,
  from: number,
  events: StepEvents,
): Promise<StepsOutcome> => {
  const settings = { ...given, seed: seedAfter(given.seed, given.acting ?? NO_ACTIONS) }
  const { goesOn = from > 0 } = settings
  let weightsMs = 0
  const syncWeights = async () => {
    const startMs = performance.now()
    await policy.syncWeights?.()
    weightsMs += performance.now() - startMs
  }
  const begin = async (step: number, known: Journal | null = null): Promise<Running<Rolled>> => {
    await syncWeights()
    const state = settings.pipeline && recipe.state ? snapshotOf(recipe.state) : undefined
    return { ...start(policy, recipe, { seed: settings.seed, step }, known), state }
  }
  let watched: WatchedUpdate | null = null
  /** The rollouts of the next steps, in their order. */
  const ahead = goesOn ? await resumed(run, { seed: settings.seed, step: from + 1 }, recipe, begin) : []
  /** Begins what is to be sampled beside a step: each when the one before it has left the policy free. */
  const sampleAhead = async (step: number, current: Running<Rolled>) => {
    for (let next = step + 1 + ahead.length; next <= step + Number(settings.pipeline); next++) {
      await (ahead.at(-1) ?? current).sampled
      if (pausesAfter(next - 1, settings)) {
        await syncWeights()
        return
      }
      ahead.push(await begin(next))
    }
  }
  const trainStep = async (step: number, { klFactor }: ActingState): Promise<MetricsRow> => {
    const startMs = performance.now()
    weightsMs = 0
    const running = ahead.shift() ?? (await begin(step))
    if (settings.pipeline) await sampleAhead(step, running)
    running.io.open()
    const rolled = await running.rolled
    // Sampling that shares its weights with the update must be over first, the log-probs on plain prompts included.
    if (!policy.syncWeights) await ahead.at(-1)?.sampled
    const update = await recipe.learn(step, rolled)
    const stale = staleness(update.rollouts, policy.version)
    watched = watchUpdate(update)
    const row = await learn(policy, withKlFactor(update, klFactor), watched, settings, step)
    run.appendRollouts(keptRows(step, update.rollouts))
    if (update.rubrics) run.appendRubrics(update.rubrics)
    const weights = policy.syncWeights && { weights: weightsMs / 1000 }
    const time = timesOf(running.io, row, { ...weights, total: (performance.now() - startMs) / 1000 })
    return {
      ...{ step, ...row, ...rolloutMetrics(update.rollouts, running.io.drawn), ...stale },
      // Where nothing is drawn the recipe says what it read instead.
      ...(running.io.drawn.length === 0 && typeof row.tokens === 'number' && { tokens: row.tokens }),
      time,
    }
  }
  const evaluate = async (step: number, last: boolean) => {
    // Out of time.
    await giveUpAhead(ahead)
    await syncWeights()
    return recipe.evaluate(step, last)
  }
  const save = (folder: string) => saveAhead(folder, recipe, ahead)
  const rollouts = () => watched?.rollouts() ?? []
  const work = { trainStep, evaluate, save, atEnd: recipe.atEnd, turns: true as const, rollouts }
  const own = { ...settings, monitors: monitorsOf(settings) }
  const outcome = await runSteps(policy, run, own, work, from, events)
  if (outcome.turn !== undefined) await giveUpAhead(ahead)
  return outcome
}

/** What was begun is given up, but nothing may run beside what comes. */
const giveUpAhead = async (ahead: Running<unknown>[]): Promise<void> => {
  for (const { io, rolled } of ahead.splice(0)) {
    io.open()
    await rolled.catch(() => {})
  }
}

/** Into a checkpoint's folder what it takes to go on beside the policy: what was sampled ahead, and the recipe's state. */
const saveAhead = async <Rolled>(
  folder: string,
  { state: own }: Recipe<Rolled>,
  ahead: readonly Running<Rolled>[],
): Promise<void> => {
  for (const { sampled } of ahead) await sampled
  if (ahead.length > 0) saveJournal(folder, new Map(ahead.flatMap(({ io }) => [...io.journal])))
  if (own) saveState(folder, { now: snapshotOf(own), begun: ahead.map(({ state }) => state) })
}

/** The update with the coefficient of its KL terms as monitors raised it, which its metrics then tell. */
const withKlFactor = (update: StepUpdate, factor: number): StepUpdate => {
  if (factor === 1) return update
  const phases = update.phases.map(phase => {
    const { kl } = phase.loss
    return kl.kind === 'none'
      ? phase
      : { ...phase, loss: { ...phase.loss, kl: { ...kl, coef: kl.coef * factor } } }
  })
  const raised = phases.find(({ loss }) => loss.kl.kind !== 'none')
  return { ...update, phases, metrics: { ...update.metrics, ...(raised && { klCoef: raised.loss.kl.coef }) } }
}

const timesOf = (
  { time: { sample, grade, gradeBusy } }: StepRollouts,
  row: Omit<MetricsRow, 'step'>,
  whole: MetricGroup,
): MetricGroup => {
  const { update, ...other } = row.time as MetricGroup
  return { ...other, sample, grade, update, gradeBusy, ...whole }
}

const start = <Rolled>(
  policy: Policy,
  recipe: Recipe<Rolled>,
  names: { seed: number | string; step: number },
  known: Journal | null,
): Running<Rolled> => {
  const io = new StepRollouts(policy, names, known)
  const rolled = (async () => recipe.rollOut(names.step, io))()
  const sampled = Promise.race([io.lastSampled, rolled.then(() => {})])
  // Whoever awaits them is told of a failure; until then it must not count as unhandled.
  rolled.catch(() => {})
  sampled.catch(() => {})
  return { io, rolled, sampled }
}

/** Brings the recipe's state back, and what was sampled ahead: each step began with the state that the recipe had then. */
const resumed = async <Rolled>(
  run: RunFolder,
  next: { seed: number | string; step: number },
  recipe: Recipe<Rolled>,
  begin: (step: number, known: Journal) => Promise<Running<Rolled>>,
): Promise<Running<Rolled>[]> => {
  const folder = run.path('checkpoints', checkpointName(next.step - 1))
  const journals = journalsBySteps(loadJournal(folder), next, folder)
  const saved = recipe.state ? loadState(folder) : null
  if (saved && saved.begun.length !== journals.length)
    throw new CheckpointError(
      `${folder}: expected rollouts that were sampled ahead and the recipe's state of then, got ${journals.length} of the first and ${saved.begun.length} of the second`,
      { hint: EARLIER_CHECKPOINT },
    )
  const ahead: Running<Rolled>[] = []
  for (const [i, journal] of journals.entries()) {
    if (saved) recipe.state!.load(saved.begun[i])
    ahead.push(await begin(next.step + i, journal))
  }
  if (saved) recipe.state!.load(saved.now)
  return ahead
}

/** What was sampled for each of the steps that come next. @throws CheckpointError for other steps, or some between missing */
const journalsBySteps = (
  journal: Journal | null,
  { seed, step }: { seed: number | string; step: number },
  folder: string,
): Journal[] => {
  const journals: Map<string, SampledRequest>[] = []
  for (const [key, request] of journal ?? []) {
    const at = [0, 1].find(i => `${key}/`.startsWith(`${seed}/${step + i}/`))
    if (at === undefined || at > journals.length)
      throw new CheckpointError(
        `${folder}: expected rollouts that were sampled ahead for step ${step + journals.length}, got those of seed ${key}`,
        { hint: EARLIER_CHECKPOINT },
      )
    journals[at] ??= new Map()
    journals[at].set(key, request)
  }
  return journals
}

/** Where rollouts are a step old on purpose, their gap is no mismatch. */
const monitorsOf = ({ monitors = DEFAULT_MONITORS, pipeline }: LoopSettings): MonitorSettings | null =>
  monitors && pipeline ? expectingMismatch(monitors) : monitors

/** The phases' updates, with the metrics of all of it; what is logged of the rollouts is worked out beside them. */
const learn = async (
  policy: Policy,
  { phases, metrics }: StepUpdate,
  watched: WatchedUpdate,
  settings: LoopSettings,
  step: number,
): Promise<Omit<MetricsRow, 'step'>> => {
  const { seed, steps, optimizer, valueLearningRate: valueSchedule, correction } = settings
  const rng = new Rng(seed).fork(`step ${step}`)
  const learningRate = scheduleAt(settings.learningRate, step - 1, steps)
  const updateMs = performance.now()
  const rates = {
    learningRate,
    ...(valueSchedule && { valueLearningRate: scheduleAt(valueSchedule, step - 1, steps) }),
  }
  const learnt: { phase: Phase; stats: UpdateStats[] }[] = []
  for (const [i, phase] of phases.entries()) {
    const own = i === 0 ? rng : rng.fork(phase.name)
    const before = learnt.flatMap(({ phase: { name, compared }, stats }) =>
      compared && stats.length > 0 ? [name] : [],
    )
    const options = { optimizer: { ...optimizer, ...rates }, against: before, correction }
    learnt.push({ phase, stats: await learnPhase(policy, phase, options, own) })
  }
  const update = (performance.now() - updateMs) / 1000
  const { time, ...monitored } = await watched.metrics
  return {
    ...metrics,
    ...updateMetrics(learnt),
    ...monitored,
    learningRate,
    time: { ...(metrics.time as MetricGroup | undefined), ...(time as MetricGroup | undefined), update },
  }
}

/**
 * Means over all optimiser steps; with several phases, loss and entropy of each by its name as well. The log-prob gap and the ratios are
 * those of the first optimiser step, sampler against trainer, and null where that learns from rollouts of an earlier policy: what
 * comes after it learns with weights that did not sample.
 */
const updateMetrics = (learnt: readonly { phase: Phase; stats: readonly UpdateStats[] }[]) => {
  const stats = learnt.flatMap(own => own.stats)
  const opening = learnt.find(own => own.stats.length > 0)
  const first = opening?.phase.stale ? undefined : opening?.stats[0]
  const byPhase = (metric: (stats: UpdateStats) => number | undefined) =>
    Object.fromEntries(learnt.map(own => [own.phase.name, meanKnown(own.stats.map(metric))]))
  return {
    ...metricsOf(stats, first),
    ...(learnt.length > 1 && { phaseLoss: byPhase(s => s.loss), phaseEntropy: byPhase(s => s.entropy) }),
    ...(learnt.some(({ phase }) => phase.compared) && { gradientCosines: cosinesOf(learnt) }),
  }
}

/** By both phases' names; null where one of them learnt nothing, or the policy cannot tell. */
const cosinesOf = (learnt: readonly { phase: Phase; stats: readonly UpdateStats[] }[]) => {
  const compared = learnt.filter(({ phase }) => phase.compared)
  return Object.fromEntries(
    compared.flatMap(({ phase, stats }, i) =>
      compared
        .slice(0, i)
        .map(other => [
          `${other.phase.name}/${phase.name}`,
          stats[0]?.gradientCosines?.[other.phase.name] ?? null,
        ]),
    ),
  )
}

const metricsOf = (stats: readonly UpdateStats[], first?: UpdateStats) => ({
  loss: meanKnown(stats.map(s => s.loss)),
  kl: meanKnown(stats.map(s => s.parts?.kl)),
  entropy: meanKnown(stats.map(s => s.entropy)),
  gradNorm: meanKnown(stats.map(s => s.gradNorm)),
  clipFraction: meanKnown(stats.map(s => s.clipFraction)),
  oldKl: meanKnown(stats.map(s => s.oldKl)),
  logprobGapMean: first?.meanLogprobDifference ?? null,
  logprobGapMax: first?.maxLogprobDifference ?? null,
  // How far the policy that sampled is from the one that is updated.
  ratioMax: first?.maxRatio ?? null,
  ratioMin: first?.minRatio ?? null,
})
