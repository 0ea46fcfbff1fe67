/**
 * @file The training loop. A task becomes a prompt; the policy samples a group of rollouts; graders give a verdict per
 * criterion; the recipe turns verdicts into rewards and advantages; each rollout becomes a datum; the policy updates; the
 * run records all of it.
 */

import type { OptimizerSettings, Policy, Sample } from '../policy/policy.ts'
import { assertComputable, type UpdateStats } from '../policy/update.ts'
import type { TokenIds } from '../rl/datum.ts'
import { type Schedule, scheduleAt } from '../rl/schedules.ts'
import type { EvalRow, MetricGroup, MetricsRow, RolloutRow } from '../runs/rows.ts'
import type { RunFolder } from '../runs/run-folder.ts'
import { checkpointName } from '../runs/run-state.ts'
import { Rng } from '../util/rng.ts'
import { mean } from '../util/statistics.ts'
import { DEFAULT_MONITORS, type MonitorSettings } from './monitors/config.ts'
import { LatestRollouts, type Witness } from './monitors/latest-rollouts.ts'
import { beginGroups, type Replacements, type RolledOut, replaceGroups } from './replace-groups.ts'
import type { Drawn, Grader, Group, RatioMode, RolloutSettings, RunningRollOut } from './rollout.ts'
import { loadDrawn, saveDrawn } from './sampled-ahead.ts'
import { pausesAfter, runSteps, type StepEvents, type StepsResult, type StepsSettings } from './steps.ts'
import { type TokenAdvantages, toDatums, type UpdateSettings, updatePolicy } from './update.ts'

export interface Credit {
  advantages: TokenAdvantages
  /** Its `time` is added to the loop's own. */
  metrics: Omit<MetricsRow, 'step'>
}

/** What a recipe adds to the loop. */
export interface Recipe<Problem, Grade> extends Witness<Problem, Grade> {
  /** The problems of a step; depends on the step alone, so that a resumed run sees the same ones. */
  draw(step: number): Problem[]
  prompt(problem: Problem): TokenIds
  /** Prompts to sample from in place of the plain ones, one a rollout: [problem][sample]. Null or absent: the plain ones. */
  samplingPrompts?(step: number, problems: readonly Problem[], round?: number): TokenIds[][] | null
  grade: Grader<Problem, Grade>
  /**
   * Groups that are not worth learning from, and as many problems to sample in their place (dynamic sampling). Asked again
   * about the result as round 2, 3, ... until it is null. Absent: every group stays.
   */
  replace?(
    step: number,
    round: number,
    groups: readonly Group<Problem, Grade>[],
  ): Replacements<Problem> | null
  /** One advantage a token of every rollout, and what the report should know about this step's rewards. */
  credit(groups: readonly Group<Problem, Grade>[]): Credit
  /** The advantages changed by what only the policy knows of the rollouts, such as how sure it was of each token. */
  adjust?(groups: readonly Group<Problem, Grade>[], advantages: TokenAdvantages): Promise<TokenAdvantages>
  /** Rollouts to keep for reading. */
  record(step: number, groups: readonly Group<Problem, Grade>[], advantages: TokenAdvantages): RolloutRow[]
  /** Evaluations of the policy as it is; `last` after the final step. */
  evaluate(step: number, last: boolean): Promise<EvalRow[]>
}

export interface LoopSettings extends StepsSettings {
  seed: number | string
  rollout: RolloutSettings & { temperature: number }
  update: Omit<UpdateSettings, 'optimizer' | 'temperature'> & {
    optimizer: Omit<OptimizerSettings, 'learningRate'>
    learningRate: Schedule
    /** Leave rollouts without any advantage out of the update; their KL and entropy terms go with them. */
    dropZero: boolean
    /** For rollouts that were sampled from a scaffold. Default `plain`. */
    ratio?: RatioMode
  }
  /**
   * Sample a step's rollouts while those of the step before are graded and learnt from: the policy that samples is one update
   * behind, and its log-probs are the old ones of the ratio. Never across an evaluation; a checkpoint keeps what was sampled
   * ahead, so that neither checkpoints nor a stop change what the steps compute. Whether sampling and updates run at the same
   * time or take turns is the policy's; the numbers are the same. Default false.
   */
  pipeline?: boolean
}

/**
 * Runs steps `from + 1` to `settings.steps`, with evaluations and checkpoints between (see `runSteps`). What the run's
 * checkpoint of step `from` says was sampled ahead is not sampled again.
 * @throws ConfigError before anything is sampled, for a loss that the policy cannot compute
 */
export const train = async <Problem, Grade>(
  policy: Policy,
  recipe: Recipe<Problem, Grade>,
  run: RunFolder,
  settings: LoopSettings,
  from = 0,
  events: StepEvents = {},
): Promise<StepsResult> => {
  assertComputable(policy, settings.update.loss)
  const latest = new LatestRollouts(recipe)
  let weightsMs = 0
  const syncWeights = async () => {
    const startMs = performance.now()
    await policy.syncWeights?.()
    weightsMs += performance.now() - startMs
  }
  const begin = async (step: number, drawn: Drawn | null = null): Promise<RunningRollOut<Problem, Grade>> => {
    await syncWeights()
    return beginGroups(policy, recipe, settings, step, recipe.draw(step), 0, drawn)
  }
  const restored = from > 0 ? loadDrawn(run.path('checkpoints', checkpointName(from))) : null
  /** The rollouts of the next step. */
  let ahead: RunningRollOut<Problem, Grade> | null = null
  const trainStep = async (step: number): Promise<MetricsRow> => {
    const startMs = performance.now()
    weightsMs = 0
    const running = ahead ?? (await begin(step, step === from + 1 ? restored : null))
    ahead = null
    if (settings.pipeline) {
      await running.sampled
      if (pausesAfter(step, settings)) await syncWeights()
      else ahead = await begin(step + 1)
    }
    const rolled = await replaceGroups(policy, recipe, settings, step, await running.finished)
    // Sampling that shares its weights with the update must be over first, the log-probs on plain prompts included.
    if (!policy.syncWeights) await ahead?.sampled
    const row = await learn(policy, recipe, run, settings, step, rolled, latest)
    const weights = policy.syncWeights && { weights: weightsMs / 1000 }
    return { ...row, time: { ...row.time, ...weights, total: (performance.now() - startMs) / 1000 } }
  }
  const evaluate = async (step: number, last: boolean) => {
    // Out of time: what was begun is given up, but nothing may run beside the evaluation.
    await ahead?.finished.catch(() => {})
    ahead = null
    await syncWeights()
    return recipe.evaluate(step, last)
  }
  const save = async (folder: string) => {
    if (ahead) saveDrawn(folder, await ahead.sampled)
  }
  const work = { trainStep, evaluate, save, rollouts: () => latest.all() }
  return runSteps(policy, run, { ...settings, monitors: monitorsOf(settings) }, work, from, events)
}

/** Where ratios start from another policy or prompt on purpose, their gap is no mismatch. */
const monitorsOf = ({
  monitors = DEFAULT_MONITORS,
  pipeline,
  update,
}: LoopSettings): MonitorSettings | null =>
  monitors && (pipeline || update.ratio === 'true-is') ? { ...monitors, samplerMismatch: null } : monitors

/** Credit, update, record: the second half of a step. */
const learn = async <Problem, Grade>(
  policy: Policy,
  recipe: Recipe<Problem, Grade>,
  run: RunFolder,
  settings: LoopSettings,
  step: number,
  { groups, discarded, time }: RolledOut<Problem, Grade>,
  latest: LatestRollouts<Problem, Grade>,
): Promise<MetricsRow> => {
  const rng = new Rng(settings.seed).fork(`step ${step}`)
  const { rollout, update } = settings
  const { advantages: credited, metrics } = recipe.credit(groups)
  const advantages = (await recipe.adjust?.(groups, credited)) ?? credited
  const datums = toDatums(groups, advantages, update.dropZero, update.ratio)
  const watching = latest.take(step, groups, advantages)
  // It is awaited after the update; until then a failure must not count as unhandled.
  watching.catch(() => {})
  const learningRate = scheduleAt(update.learningRate, step - 1, settings.steps)
  const updateMs = performance.now()
  const optimizer = { ...update.optimizer, learningRate }
  const stats =
    datums.length > 0
      ? await updatePolicy(policy, datums, { ...update, optimizer, temperature: rollout.temperature }, rng)
      : []
  const doneMs = performance.now()
  run.appendRollouts(recipe.record(step, groups, advantages))
  const watched = await watching
  return {
    step,
    ...metrics,
    ...sampleMetrics(groups, discarded),
    ...updateMetrics(stats),
    ...watched,
    learningRate,
    time: {
      ...(metrics.time as MetricGroup | undefined),
      ...(watched.time as MetricGroup | undefined),
      sample: time.sample,
      grade: time.grade,
      update: (doneMs - updateMs) / 1000,
      gradeBusy: time.gradeBusy,
    },
  }
}

/** What was sampled in vain counts as work, not as what the step learnt from. */
const sampleMetrics = (groups: readonly Group<unknown, unknown>[], discarded: readonly Sample[]) => {
  const samples = groups.flatMap(group => group.samples)
  const lengths = samples.map(sample => sample.tokens.length)
  return {
    responseTokens: mean(lengths),
    truncationRate: mean(samples.map(sample => Number(sample.finishReason === 'length'))),
    tokens: [...lengths, ...discarded.map(({ tokens }) => tokens.length)].reduce((a, b) => a + b, 0),
    rollouts: samples.length + discarded.length,
  }
}

/** The mean of what the policy could tell of its optimiser steps; null where it could tell nothing. */
const meanTold = (values: readonly (number | undefined)[]): number | null => {
  const told = values.filter(value => value !== undefined)
  return told.length > 0 ? mean(told) : null
}

/** The first optimiser step's log-prob gap is sampler against trainer; the other figures are means over all of them. */
const updateMetrics = (stats: readonly UpdateStats[]) => ({
  loss: meanTold(stats.map(s => s.loss)),
  kl: meanTold(stats.map(s => s.parts?.kl)),
  entropy: meanTold(stats.map(s => s.entropy)),
  gradNorm: meanTold(stats.map(s => s.gradNorm)),
  clipFraction: meanTold(stats.map(s => s.clipFraction)),
  oldKl: meanTold(stats.map(s => s.oldKl)),
  logprobGapMean: stats[0]?.meanLogprobDifference ?? null,
  logprobGapMax: stats[0]?.maxLogprobDifference ?? null,
  // Of the first optimiser step: how far the policy that sampled is from the one that is updated.
  ratioMax: stats[0]?.maxRatio ?? null,
  ratioMin: stats[0]?.minRatio ?? null,
})
