/** @file The tensors that are trained: flat, each beside its gradient and moments, and the memory in which engines show them to each other. */

import type { NamedTensors } from '../../model/safetensors.ts'
import { CheckpointError } from '../../util/errors.ts'
import { type AdamWSpans, alignedFloats, FlatBuffer, type FlatSpan, planShards } from './flat.ts'

/** A tensor that is trained. */
export interface Trained extends AdamWSpans {
  name: string
  shape: readonly number[]
  /** Where gradients of later micro-batches are written before they are added; models too large for it have none. */
  spare: FlatSpan | null
}

/** Up to this many trained floats, room for a second gradient is set aside. */
const SPARE_FLOATS = 2 ** 26

/** Puts tensors into flat buffers, each with its gradient and moments in the same buffer. */
export const allocateTrained = (tensors: NamedTensors, withSpare: boolean): Trained[] => {
  const entries = [...tensors]
  const total = entries.reduce((sum, [, { data }]) => sum + data.length, 0)
  const spans = withSpare && total <= SPARE_FLOATS ? 5 : 4
  const floats = entries.map(([, { data }]) => spans * alignedFloats(data.length))
  return planShards(floats).flatMap(indices => {
    const buffer = FlatBuffer.create(indices.reduce((sum, i) => sum + floats[i], 0))
    return indices.map(i => {
      const [name, { shape, data }] = entries[i]
      const [param, grad, m, v, spare = null] = Array.from({ length: spans }, () => buffer.alloc(data.length))
      param.view.set(data)
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
