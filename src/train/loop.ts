/**
 * @file The training loop. A task becomes a prompt; the policy samples a group of rollouts; graders give a verdict per
 * criterion; the recipe turns verdicts into rewards and advantages; each rollout becomes a datum; the policy updates; the
 * run records all of it.
 */

import type { OptimizerSettings, Policy, UpdateStats } from '../policy/policy.ts'
import type { TokenIds } from '../rl/datum.ts'
import { type Schedule, scheduleAt } from '../rl/schedules.ts'
import type { EvalRow, MetricsRow, RolloutRow } from '../runs/rows.ts'
import type { RunFolder } from '../runs/run-folder.ts'
import { Rng } from '../util/rng.ts'
import { mean } from '../util/statistics.ts'
import {
  type Grader,
  type Group,
  type RatioMode,
  type RolloutSettings,
  type RunningRollOut,
  startRollOut,
} from './rollout.ts'
import { pausesAfter, runSteps, type StepEvents, type StepsResult, type StepsSettings } from './steps.ts'
import { type TokenAdvantages, toDatums, type UpdateSettings, updatePolicy } from './update.ts'

/** What a recipe adds to the loop. */
export interface Recipe<Problem, Grade> {
  /** The problems of a step; depends on the step alone, so that a resumed run sees the same ones. */
  draw(step: number): Problem[]
  prompt(problem: Problem): TokenIds
  /** Prompts to sample from in place of the plain ones, one a rollout: [problem][sample]. Null or absent: the plain ones. */
  samplingPrompts?(step: number, problems: readonly Problem[]): TokenIds[][] | null
  grade: Grader<Problem, Grade>
  /** One advantage a token of every rollout, and what the report should know about this step's rewards. */
  credit(groups: readonly Group<Problem, Grade>[]): {
    advantages: TokenAdvantages
    metrics: Omit<MetricsRow, 'step'>
  }
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
    /** Leave rollouts without any advantage out of the update. */
    dropZero: boolean
    /** For rollouts that were sampled from a scaffold. Default `plain`. */
    ratio?: RatioMode
  }
  /**
   * Sample a step's rollouts while those of the step before are graded and learnt from: the policy that samples is one update
   * behind, and its log-probs are the old ones of the ratio. Never across an evaluation or a checkpoint. Default false.
   */
  pipeline?: boolean
}

/** Runs steps `from + 1` to `settings.steps`, with evaluations and checkpoints between (see `runSteps`). */
export const train = <Problem, Grade>(
  policy: Policy,
  recipe: Recipe<Problem, Grade>,
  run: RunFolder,
  settings: LoopSettings,
  from = 0,
  events: StepEvents = {},
): Promise<StepsResult> => {
  const begin = (step: number) => beginStep(policy, recipe, settings, step)
  let ahead: { step: number; running: RunningRollOut<Problem, Grade> } | null = null
  const trainStep = async (step: number): Promise<MetricsRow> => {
    const startMs = performance.now()
    const running = ahead?.step === step ? ahead.running : begin(step)
    ahead = null
    if (settings.pipeline && !pausesAfter(step, settings)) {
      await running.sampled
      ahead = { step: step + 1, running: begin(step + 1) }
    }
    return learn(policy, recipe, run, settings, step, await running.finished, startMs)
  }
  const evaluate = (step: number, last: boolean) => recipe.evaluate(step, last)
  return runSteps(policy, run, settings, { trainStep, evaluate }, from, events)
}

/** Draws a step's problems and starts on their rollouts. */
const beginStep = <Problem, Grade>(
  policy: Policy,
  recipe: Recipe<Problem, Grade>,
  settings: LoopSettings,
  step: number,
): RunningRollOut<Problem, Grade> => {
  const problems = recipe.draw(step)
  const prompts_P_G = recipe.samplingPrompts?.(step, problems) ?? null
  const rollout = { ...settings.rollout, seed: `${settings.seed}/${step}` }
  const sampled = prompts_P_G && { prompts_P_G, ratio: settings.update.ratio ?? 'plain' }
  return startRollOut(policy, problems, recipe.prompt, recipe.grade, rollout, sampled)
}

/** Credit, update, record: the second half of a step. */
const learn = async <Problem, Grade>(
  policy: Policy,
  recipe: Recipe<Problem, Grade>,
  run: RunFolder,
  settings: LoopSettings,
  step: number,
  { groups, time }: Awaited<RunningRollOut<Problem, Grade>['finished']>,
  startMs: number,
): Promise<MetricsRow> => {
  const rng = new Rng(settings.seed).fork(`step ${step}`)
  const { rollout, update } = settings
  const { advantages, metrics } = recipe.credit(groups)
  const datums = toDatums(groups, advantages, update.dropZero, update.ratio)
  const learningRate = scheduleAt(update.learningRate, step - 1, settings.steps)
  const updateMs = performance.now()
  const optimizer = { ...update.optimizer, learningRate }
  const stats =
    datums.length > 0
      ? await updatePolicy(policy, datums, { ...update, optimizer, temperature: rollout.temperature }, rng)
      : []
  const doneMs = performance.now()
  run.appendRollouts(recipe.record(step, groups, advantages))
  return {
    step,
    ...metrics,
    ...sampleMetrics(groups),
    ...updateMetrics(stats),
    learningRate,
    time: {
      sample: time.sample,
      grade: time.grade,
      update: (doneMs - updateMs) / 1000,
      gradeBusy: time.gradeBusy,
      total: (performance.now() - startMs) / 1000,
    },
  }
}

const sampleMetrics = (groups: readonly Group<unknown, unknown>[]) => {
  const samples = groups.flatMap(group => group.samples)
  const lengths = samples.map(sample => sample.tokens.length)
  return {
    responseTokens: mean(lengths),
    truncationRate: mean(samples.map(sample => Number(sample.finishReason === 'length'))),
    tokens: lengths.reduce((a, b) => a + b, 0),
    rollouts: samples.length,
  }
}

/** The first optimiser step's log-prob gap is sampler against trainer; the other figures are means over all of them. */
const updateMetrics = (stats: readonly UpdateStats[]) => {
  const average = (pick: (s: UpdateStats) => number) => (stats.length > 0 ? mean(stats.map(pick)) : null)
  return {
    loss: average(s => s.loss),
    kl: average(s => s.parts.kl),
    entropy: average(s => s.entropy),
    gradNorm: average(s => s.gradNorm),
    clipFraction: average(s => s.clipFraction),
    oldKl: average(s => s.oldKl),
    logprobGapMean: stats[0]?.meanLogprobDifference ?? null,
    logprobGapMax: stats[0]?.maxLogprobDifference ?? null,
    // Of the first optimiser step: how far the policy that sampled is from the one that is updated.
    ratioMax: stats[0]?.maxRatio ?? null,
    ratioMin: stats[0]?.minRatio ?? null,
  }
}
