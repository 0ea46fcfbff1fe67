/** @file A supervised phase in a run folder: goes on where it was, takes its steps, evaluates, saves. */

import type { Policy } from '../../policy/policy.ts'
import { readMetrics } from '../../runs/readers.ts'
import type { EvalRow, MetricsRow } from '../../runs/rows.ts'
import { progressOf, runSteps, type StepsResult, type StepsSettings } from '../../train/steps.ts'
import { type DrawStep, type SupervisedSettings, supervisedStep } from '../../train/supervised.ts'
import type { RunEvents } from './recipe.ts'
import type { RunSession } from './session.ts'

export interface SupervisedPhase {
  /** What the progress line calls it. */
  name: string
  policy: Policy
  draw: DrawStep
  evaluate(step: number, last: boolean): Promise<EvalRow[]>
  /** Whether the model is worth a test before the first step, as fresh weights are not. Default true; without steps it is in any case. */
  testsStart?: boolean
  config: SupervisedSettings &
    Pick<StepsSettings, 'maxMinutes' | 'monitors'> & {
      checkpoint: { every: number; keepLast: number }
      /** Every so many steps, besides the end; 0: only there. */
      evaluation: { every: number }
    }
}

/**
 * The losses of the steps that are done, each in its place, so that a knot that waits finds those that it had: rows may be missing
 * where damaged ones were accepted.
 */
export const lossesBefore = (done: number, rows: readonly Pick<MetricsRow, 'step' | 'loss'>[]): number[] => {
  const losses = new Map(rows.map(({ step, loss }) => [step, loss]))
  return Array.from({ length: done }, (_, i) => losses.get(i + 1) ?? Number.POSITIVE_INFINITY)
}

/**
 * Trains from the start, from a fork's, or from the session's checkpoint, which is loaded here. Without steps the start is what is
 * tested in full and saved.
 */
export const runSupervised = async (
  { run, from, fork, configHash }: Pick<RunSession, 'run' | 'from' | 'fork' | 'configHash'>,
  { name, policy, draw, evaluate, testsStart = true, config }: SupervisedPhase,
  events: RunEvents = {},
): Promise<StepsResult> => {
  const saved = from?.dir ?? fork
  if (saved !== null) await policy.load(saved)
  const done = from?.step ?? 0
  const isStartAlone = config.steps === 0
  events.onPhase?.({ name, steps: config.steps, done })
  if (isStartAlone && from !== null) return { step: done, finished: true }
  const settings = {
    steps: config.steps,
    savesStart: isStartAlone,
    evalEvery: config.evaluation.every,
    checkpointEvery: config.checkpoint.every,
    keepCheckpoints: config.checkpoint.keepLast,
    maxMinutes: config.maxMinutes,
    ...progressOf(from),
    configHash,
    monitors: config.monitors,
  }
  const before = done === 0 ? [] : lossesBefore(done, readMetrics(run.dir))
  const work = {
    trainStep: supervisedStep(policy, draw, config, before),
    evaluate: async (step: number, last: boolean) =>
      step === 0 && !testsStart && !isStartAlone ? [] : evaluate(step, last || isStartAlone),
  }
  return runSteps(policy, run, settings, work, done, events)
}
