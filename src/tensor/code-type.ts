/** @file Which codes of 8 bits this processor multiplies best. */

import { Executable, type ExecutableOptions } from './executable.ts'
import { type CodeType, quantized, timesQuantized } from './ops/quantized.ts'
import { constant } from './tensor.ts'

/** Kernels that add up pairs of products in 16 bits clip the sums of such rows. */
const COUNT = 64

const signedCodesAreExact = async (running: ExecutableOptions): Promise<boolean> => {
  const ones = constant(new Float32Array(COUNT * COUNT).fill(1), [COUNT, COUNT])
  const graph = await Executable.compile({ sums: timesQuantized(ones, quantized(ones, 'int8')) }, running)
  try {
    const { sums } = await graph.run({})
    return Array.from(sums.data, Number).every(sum => Math.abs(sum - COUNT) < 0.01)
  } finally {
    await graph.release()
  }
}

let known: Promise<CodeType> | undefined

/** Signed codes where this processor adds them up exactly (with VNNI), unsigned ones elsewhere: products are the same bit by bit. */
export const codeType = (running: ExecutableOptions): Promise<CodeType> => {
  known ??= signedCodesAreExact(running).then(
    exact => (exact ? 'int8' : 'uint8'),
    error => {
      known = undefined
      throw error
    },
  )
  return known
}
