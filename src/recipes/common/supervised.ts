/** @file A supervised phase in a run folder: goes on where it was, takes its steps, evaluates, saves. */

import type { Policy } from '../../policy/policy.ts'
import { readMetrics } from '../../runs/readers.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { runSteps, type StepsResult, type StepsSettings, trainedMsOf } from '../../train/steps.ts'
import { type DrawStep, type SupervisedSettings, supervisedStep } from '../../train/supervised.ts'
import type { RunEvents } from './recipe.ts'
import type { Session } from './session.ts'

export interface SupervisedPhase {
  /** What the progress line calls it. */
  name: string
  policy: Policy
  draw: DrawStep
  evaluate(step: number, last: boolean): Promise<EvalRow[]>
  configHash: string
  config: SupervisedSettings &
    Pick<StepsSettings, 'maxMinutes' | 'monitors'> & {
      checkpoint: { every: number; keepLast: number }
      /** Every so many steps, besides the end; 0: only there. */
      evaluation: { every: number }
    }
}

/** Trains from the start, from a fork's, or from the session's checkpoint, which is loaded here. */
export const runSupervised = async (
  { run, from, fork }: Pick<Session, 'run' | 'from' | 'fork'>,
  { name, policy, draw, evaluate, configHash, config }: SupervisedPhase,
  events: RunEvents = {},
): Promise<StepsResult> => {
  const saved = from?.dir ?? fork
  if (saved !== null) await policy.load(saved)
  const done = from?.step ?? 0
  events.onPhase?.({ name, steps: config.steps, done })
  const settings = {
    steps: config.steps,
    evalEvery: config.evaluation.every,
    checkpointEvery: config.checkpoint.every,
    keepCheckpoints: config.checkpoint.keepLast,
    maxMinutes: config.maxMinutes,
    trainedMs: trainedMsOf(from?.state.recipe),
    configHash,
    monitors: config.monitors,
  }
  // Rows beyond the checkpoint are gone by now: a knot that waits finds the losses that it had.
  const before = done === 0 ? [] : readMetrics(run.dir).map(({ loss }) => loss ?? Number.POSITIVE_INFINITY)
  const work = { trainStep: supervisedStep(policy, draw, config, before), evaluate }
  return runSteps(policy, run, settings, work, done, events)
}
