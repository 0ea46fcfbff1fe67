/** @file Whether this processor multiplies bytes as `timesQuantized` needs it. */

import { GradusError } from '../util/errors.ts'
import { Executable } from './executable.ts'
import { quantized, timesQuantized } from './ops/quantized.ts'
import { constant } from './tensor.ts'

/** @throws GradusError on a processor whose kernels add up products of bytes in 16 bits, as some without VNNI do */
export const assertExactBytes = async (): Promise<void> => {
  const count = 64
  const ones = constant(new Float32Array(count * count).fill(1), [count, count])
  const graph = await Executable.compile({ sums: timesQuantized(ones, quantized(ones)) }, { threads: 1 })
  const { sums } = await graph.run({})
  await graph.release()
  const wrong = Array.from(sums.data, Number).find(sum => !(Math.abs(sum - count) < 0.01))
  if (wrong === undefined) return
  throw new GradusError(`sampling in 8 bits: ${count} ones add up to ${wrong} on this processor`, {
    hint: 'sample in 32 bits: policy.sampleBits 32, no --sample-bits',
  })
}
