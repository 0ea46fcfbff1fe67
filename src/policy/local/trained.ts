/** @file The tensors that are trained: flat, each beside its gradient and moments, and the memory in which engines show them to each other. */

import { elementCount } from '../../model/weights.ts'
import { CheckpointError } from '../../util/errors.ts'
import { type AdamWSpans, alignedFloats, FlatBuffer, type FlatSpan, planShards } from './flat.ts'

export interface TrainedSpec {
  name: string
  shape: readonly number[]
}

/** A tensor that is trained. */
export interface Trained extends TrainedSpec, AdamWSpans {
  /** Where gradients of later micro-batches are written before they are added; models too large for it have none. */
  spare: FlatSpan | null
}

/** Up to this many trained floats, room for a second gradient is set aside. */
const SPARE_FLOATS = 2 ** 26

/** Room for tensors in flat buffers, each with its gradient and moments in the same buffer; all zero. */
export const allocateTrained = (specs: readonly TrainedSpec[], withSpare: boolean): Trained[] => {
  const lengths = specs.map(({ shape }) => elementCount(shape))
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const spans = withSpare && total <= SPARE_FLOATS ? 5 : 4
  const floats = lengths.map(length => spans * alignedFloats(length))
  return planShards(floats).flatMap(indices => {
    const buffer = FlatBuffer.create(indices.reduce((sum, i) => sum + floats[i], 0))
    return indices.map(i => {
      const { name, shape } = specs[i]
      const [param, grad, m, v, spare = null] = Array.from({ length: spans }, () => buffer.alloc(lengths[i]))
      return { name, shape, param, grad, m, v, spare }
    })
  })
}

/** Memory for one float of each of the trained ones, that other threads can read. */
export const sharedMemory = (trained: readonly Trained[]): SharedArrayBuffer[] =>
  trained.map(({ param }) => new SharedArrayBuffer(param.length * 4))

/** @throws CheckpointError when shared tensors are not of the sizes of these */
export const assertShared = (
  what: string,
  shared: readonly SharedArrayBuffer[],
  trained: readonly Trained[],
): void => {
  const fits = ({ param }: Trained, i: number) => shared[i].byteLength === param.length * 4
  if (shared.length === trained.length && trained.every(fits)) return
  throw new CheckpointError(`shared ${what}: expected the tensors of this model, got other ones`, {
    hint: 'start all engines from the same source',
  })
}
