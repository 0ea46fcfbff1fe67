/** @file Accelerators by name: what their makers promise of one. */

import { UsageError } from '../util/errors.ts'
import { formatInteger } from '../util/format.ts'
import { closest, describeValue } from '../util/schema.ts'

interface Gpu {
  name: string
  /** Dense bfloat16 products with float32 sums, operations a second at their best. */
  flops: number
  /** Bytes a second from its memory. */
  bandwidth: number
  /** Bytes of memory. */
  memory: number
  /** Bytes a second that leave it for a neighbour, one way. */
  link: number
}

/** How many of which. */
export interface GpuSet {
  gpu: Gpu
  count: number
}

const GB = 1e9
const TB = 1e12
const T = 1e12

const gpu = (name: string, tflops: number, bandwidth: number, memoryGb: number, linkGb: number): Gpu => ({
  name,
  flops: tflops * T,
  bandwidth: bandwidth * TB,
  memory: memoryGb * GB,
  link: linkGb * GB,
})

/**
 * Operations: NVIDIA's data sheets without sparsity (A100 80GB SXM, H100 SXM, H200 SXM, DGX B200, L40S, RTX 4090), as verl's
 * `utils/flops_counter.py` has them too. Memory and its bandwidth: the same sheets. Links: NVLink one way (half of the sheets' sum of
 * both), PCIe 4.0 x16 where there is none.
 */
const GPUS: readonly Gpu[] = [
  gpu('A100', 312, 2.039, 80, 300),
  gpu('A800', 312, 2.039, 80, 200),
  gpu('H20', 148, 4.0, 96, 450),
  gpu('H100', 989, 3.35, 80, 450),
  gpu('H800', 989, 3.35, 80, 200),
  gpu('H200', 989, 4.8, 141, 450),
  gpu('B200', 2250, 8.0, 180, 900),
  gpu('L40S', 362, 0.864, 48, 32),
  gpu('RTX4090', 165, 1.008, 24, 32),
]

const GPU_NAMES: readonly string[] = GPUS.map(({ name }) => name)

/** More than any site has: what is beyond it is a slip of the pen, and measurements made of it would be none. */
const MOST = 1_000_000

/** `H100:8` as a set; a name alone is one. @throws UsageError for another name or number */
export const parseGpus = (text: string, option = '--gpus'): GpuSet => {
  const [, name, number = '1'] = /^([^:]+)(?::(\d+))?$/.exec(text.trim()) ?? []
  const found = GPUS.find(each => each.name === name?.toUpperCase())
  const count = Number(number)
  if (found !== undefined && count > MOST)
    throw new UsageError(
      `${option}: expected at most ${formatInteger(MOST)} of ${found.name}, got ${describeValue(text)}`,
      { hint: 'for example H100:8' },
    )
  if (found !== undefined && count > 0) return { gpu: found, count }
  const near = name === undefined ? null : closest(name.toUpperCase(), GPU_NAMES)
  throw new UsageError(
    `${option}: expected NAME:COUNT of ${GPU_NAMES.join(', ')}, got ${JSON.stringify(text)}`,
    {
      hint: near && found === undefined ? `did you mean ${near}:${number}?` : 'for example H100:8',
    },
  )
}
