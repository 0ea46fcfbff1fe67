/** @file Supervised learning as a training step: demonstrations, cross-entropy on their responses, one optimiser step. */

import type { OptimizerSettings, Policy } from '../policy/policy.ts'
import { assertComputable, updateOnce } from '../policy/update.ts'
import type { Datum, SupervisedDatum } from '../rl/datum.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import { type Schedule, scheduleAt } from '../rl/schedules.ts'
import type { MetricsRow } from '../runs/rows.ts'

export interface SupervisedSettings {
  steps: number
  optimizer: Omit<OptimizerSettings, 'learningRate'> & { learningRate: Schedule }
}

/** A demonstration as a datum: all of its response counts. */
export const supervisedDatum = ({
  promptTokens,
  responseTokens,
  responseWeights,
}: SupervisedDatum): Datum => ({
  promptTokens,
  tokens: responseTokens,
  mask: new Float32Array(responseTokens.length).fill(1),
  oldLogprobs: new Float32Array(responseTokens.length),
  advantages: new Float32Array(responseTokens.length),
  ...(responseWeights && { weights: responseWeights }),
})

const seconds = (fromMs: number, toMs: number) => (toMs - fromMs) / 1000

/** The demonstrations of a step, 1-based; the same step after the same losses must give the same ones. */
export type DrawStep = (step: number, losses: readonly number[]) => readonly SupervisedDatum[]

/**
 * A training step on the demonstrations that `draw` gives for it.
 * @param before losses of the steps before the first one that is taken here
 */
export const supervisedStep = (
  policy: Policy,
  draw: DrawStep,
  { steps, optimizer: { learningRate: schedule, ...optimizer } }: SupervisedSettings,
  before: readonly number[] = [],
): ((step: number) => Promise<MetricsRow>) => {
  const loss = lossPreset('gradus:supervised')
  assertComputable(policy, loss)
  const losses = [...before]
  return async step => {
    const startMs = performance.now()
    const datums = draw(step, losses).map(supervisedDatum)
    const learningRate = scheduleAt(schedule, step - 1, steps)
    const updateMs = performance.now()
    const stats = await updateOnce(policy, datums, { loss, optimizer: { ...optimizer, learningRate } })
    const doneMs = performance.now()
    losses.push(stats.loss)
    return {
      step,
      loss: stats.loss,
      entropy: stats.entropy ?? null,
      gradNorm: stats.gradNorm ?? null,
      learningRate,
      tokens: datums.reduce((sum, { promptTokens, tokens }) => sum + promptTokens.length + tokens.length, 0),
      time: {
        data: seconds(startMs, updateMs),
        update: seconds(updateMs, doneMs),
        total: seconds(startMs, performance.now()),
      },
    }
  }
}
