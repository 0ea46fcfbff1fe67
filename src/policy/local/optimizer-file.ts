/** @file The optimiser's state as a file of a checkpoint. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type NamedTensors, readSafetensors, writeSafetensors } from '../../model/safetensors.ts'
import { CheckpointError } from '../../util/errors.ts'
import type { Trained } from './trained.ts'

export const OPTIMIZER_FILE = 'optimizer.safetensors'

/** Both moments of every trained tensor, and the steps that they have seen. */
export interface OptimizerState {
  steps: number
  m: Float32Array[]
  v: Float32Array[]
}

/** Writes the state into a checkpoint's folder. */
export const writeOptimizer = (folder: string, trained: readonly Trained[], steps: number): void => {
  const moments: NamedTensors = new Map()
  for (const { name, shape, m, v } of trained) {
    moments.set(`m.${name}`, { shape: [...shape], data: m.view })
    moments.set(`v.${name}`, { shape: [...shape], data: v.view })
  }
  moments.set('steps', { shape: [1], data: Float32Array.of(steps) })
  writeSafetensors(join(folder, OPTIMIZER_FILE), moments)
}

/**
 * The state that a checkpoint's folder has, null where it has none.
 * @throws CheckpointError for a tensor that is missing or of another size
 */
export const readOptimizer = (folder: string, trained: readonly Trained[]): OptimizerState | null => {
  const path = join(folder, OPTIMIZER_FILE)
  if (!existsSync(path)) return null
  const moments = readSafetensors(path)
  const all = (moment: 'm' | 'v') =>
    trained.map(({ name, param: { length } }) => dataOf(moments, `${moment}.${name}`, length, path))
  return { m: all('m'), v: all('v'), steps: dataOf(moments, 'steps', 1, path)[0] }
}

/** A tensor's numbers. @throws CheckpointError when it is missing or of another size */
export const dataOf = (tensors: NamedTensors, name: string, length: number, place: string): Float32Array => {
  const data = tensors.get(name)?.data
  if (data?.length === length) return data
  throw new CheckpointError(
    `${place}: ${name}: expected ${length} elements, got ${data?.length ?? 'nothing'}`,
    {
      hint: 'it belongs to another model, or to an adapter of another rank',
    },
  )
}
