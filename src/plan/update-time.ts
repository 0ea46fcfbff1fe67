/** @file Seconds of learning on accelerators: operations of scoring and of forward and backward passes, and bytes between GPUs. */

import { modelTensors } from '../policy/local/weight-sizes.ts'
import { forwardFlop, type ModelSize } from '../recipes/common/model-size.ts'
import type { StepWork } from '../recipes/common/step-work.ts'
import type { Assumed } from './assumptions.ts'
import type { GpuSet } from './gpus.ts'

/** Samples that are learnt from, in tokens. Means. */
export interface LearntSamples {
  samples: number
  promptTokens: number
  newTokens: number
}

export interface UpdateTime {
  seconds: number
  scoring: number
  learning: number
  optimizer: number
  flop: number
  /** Bytes of gradients that each GPU sends in a step, and of weights that each takes for the sampler. */
  gradientBytes: number
  weightBytes: number
}

/** AdamW in mixed precision: gradient, master weights, two moments, all read and written once. */
const OPTIMIZER_BYTES = 2 * (4 + 4 + 4 + 4)
const BYTES = 2

/** A rollout trains once an epoch; log-probs of before, and of a reference, are forward passes. */
export const updateTime = (
  { gpu, count }: GpuSet,
  learnt: readonly LearntSamples[],
  size: ModelSize,
  work: StepWork,
  use: Assumed,
): UpdateTime => {
  const forward = learnt.reduce(
    (sum, { samples, promptTokens, newTokens }) =>
      sum + forwardFlop(size, samples * (promptTokens + newTokens), (promptTokens + newTokens) / 2),
    0,
  )
  const { shape, lora, critic, epochs, minibatches } = work
  const { trained } = modelTensors(shape!, lora)
  const models = critic ? 2 : 1
  // Trainers score what was sampled once more: the sampler's log-probs are another program's.
  const scorings = work.supervised ? 0 : Math.max(1, work.scorings) + Number(work.reference)
  const scoringFlop = forward * (scorings + Number(critic))
  // An adapter's base has no gradient: its backward pass is half as long.
  const learningFlop = forward * (lora ? 2 : 3) * epochs * models
  const flops = gpu.flops * count
  const scoring = scoringFlop / (flops * use.prefillUtilisation)
  const learning = learningFlop / (flops * use.trainUtilisation)
  const updates = epochs * minibatches * models
  const optimizer = (updates * OPTIMIZER_BYTES * trained) / (count * gpu.bandwidth * use.bandwidthUtilisation)
  const others = (count - 1) / count
  return {
    seconds: scoring + learning + optimizer,
    ...{ scoring, learning, optimizer },
    flop: scoringFlop + learningFlop,
    // A ring: what is reduced goes round twice.
    gradientBytes: 2 * others * BYTES * trained * updates,
    weightBytes: others * BYTES * size.parameters,
  }
}
