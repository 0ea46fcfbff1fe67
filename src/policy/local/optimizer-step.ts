/** @file A step of the optimiser: its settings for one tensor, and what engines have to know of each other to share one. */

import { NumericError, UsageError } from '../../util/errors.ts'
import type { OptimizerSettings } from '../policy.ts'
import { type AdamWStep, alignedFloats } from './flat.ts'
import type { OptimizerState } from './optimizer-file.ts'
import type { Trained } from './trained.ts'

/** One of several engines that share the optimiser's work: each has a piece of every trained tensor. */
export interface Shard {
  index: number
  of: number
}

export const WHOLE: Shard = { index: 0, of: 1 }

/** Floats `start` .. `start + length - 1` of a flat tensor. */
export interface TensorPiece {
  start: number
  length: number
}

/** A part's piece of a tensor of so many floats: pieces are about as long as each other, and cut where kernels like it. */
export const pieceOf = (floats: number, { index, of }: Shard): TensorPiece => {
  const cut = (at: number) => Math.min(floats, alignedFloats(Math.round((at * floats) / of)))
  return { start: cut(index), length: cut(index + 1) - cut(index) }
}

/** A part's pieces of the trained tensors. */
export const piecesOf = (trained: readonly Trained[], part: Shard): TensorPiece[] =>
  trained.map(({ param }) => pieceOf(param.length, part))

/** The optimiser's state of a part: of every trained tensor its piece. */
export interface MomentPieces extends OptimizerState {
  part: Shard
}

/** Sums over pieces of all tensors: of a gradient times a kept one, and of the kept one's squares. */
export interface AngleSums {
  product: number
  squares: number
}

/** In double precision: gradients of many small numbers, products of which cancel. */
export const dot = (a: Float32Array, b: Float32Array): number => {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i]
  return sum
}

/** Cosines between a gradient of so large a norm and kept ones, from the sums of all parts; null where one of the two is zero. */
export const cosinesOf = (
  parts: readonly Readonly<Record<string, AngleSums>>[],
  norm: number,
): Record<string, number | null> => {
  const cosine = (name: string): number | null => {
    const sum = (of: keyof AngleSums) => parts.reduce((total, part) => total + part[name][of], 0)
    const norms = norm * Math.sqrt(sum('squares'))
    return norms > 0 ? sum('product') / norms : null
  }
  return Object.fromEntries(Object.keys(parts[0]).map(name => [name, cosine(name)]))
}

export const nothingAccumulated = (): UsageError =>
  new UsageError('step: expected an accumulated gradient, got none', {
    hint: 'call accumulate first; one that failed, a step and a load leave nothing accumulated',
  })

/** @throws NumericError when a step with a gradient of this norm would spoil the weights */
export const assertFiniteNorm = (norm: number): void => {
  if (!Number.isFinite(norm))
    throw new NumericError(`gradient norm is ${norm}; no weight was changed`, {
      hint: 'lower the learning rate, clip harder, or look at the rewards of the last batch',
    })
}

/** What AdamW does to a tensor depends on these. */
interface TensorKind {
  isMatrix: boolean
  ofValueHead: boolean
}

/**
 * Settings of one AdamW step with a gradient of so large a global norm, to which it is clipped; weight decay acts on matrices only.
 * @param step counts from 1
 */
export const adamwSettings = (
  { learningRate, valueLearningRate = learningRate, ...optimizer }: OptimizerSettings,
  { step, norm }: { step: number; norm: number },
): ((tensor: TensorKind) => AdamWStep) => {
  const { maxGradNorm = 1, weightDecay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 } = optimizer
  const gradScale = maxGradNorm > 0 && norm > maxGradNorm ? maxGradNorm / (norm + 1e-6) : 1
  return ({ isMatrix, ofValueHead }) => ({
    ...{ step, beta1, beta2, eps: epsilon, gradScale },
    lr: ofValueHead ? valueLearningRate : learningRate,
    weightDecay: isMatrix ? weightDecay : 0,
  })
}
