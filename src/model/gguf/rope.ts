/** @file Llama 3's stretched rotary frequencies: four numbers in Hugging Face's settings, a list of divisors in GGUF. */

import { CheckpointError } from '../../util/errors.ts'
import type { RopeScaling } from '../config.ts'
import { scaleFrequency } from '../rotary.ts'

type Llama3Scaling = Extract<RopeScaling, { type: 'llama3' }>

const frequenciesOf = (theta: number, headDim: number): number[] =>
  Array.from({ length: headDim / 2 }, (_, i) => theta ** ((-2 * i) / headDim))

/** What `rope_freqs.weight` holds [headDim / 2]: each frequency is divided by it. */
export const ropeDivisors = (theta: number, headDim: number, scaling: RopeScaling): Float32Array =>
  Float32Array.from(
    frequenciesOf(theta, headDim),
    frequency => frequency / scaleFrequency(frequency, scaling),
  )

/**
 * The settings that give these divisors. Of original length, low and high factor only the ratios show: the low factor is 1, as in all
 * of Llama 3's models.
 * @throws CheckpointError where no settings of Llama 3's rule give them
 */
export const ropeScalingOf = (divisors: Float32Array, theta: number, path: string): Llama3Scaling => {
  const headDim = divisors.length * 2
  const known: Llama3Scaling = {
    ...{ type: 'llama3', factor: divisors.reduce((a, b) => Math.max(a, b), 0), lowFreqFactor: 1 },
    ...{ highFreqFactor: 4, originalMaxPositions: 8192 },
  }
  const fits = (scaling: Llama3Scaling) =>
    ropeDivisors(theta, headDim, scaling).every((value, i) => Math.abs(value / divisors[i] - 1) < 1e-4)
  const fitted = lineThrough(divisors, frequenciesOf(theta, headDim), known)
  const found = [known, ...(fitted ? [fitted] : [])].find(fits)
  if (found) return found
  throw new CheckpointError(
    `${path}: rope_freqs.weight: expected the frequencies of Llama 3's rule, got other ones`,
    {
      hint: 'this way of stretching the context is not supported',
    },
  )
}

/**
 * Between both bounds the share of the unscaled frequency grows evenly with 1 / wavelength: a line through the first and the last
 * frequency there gives slope and intercept, which are L / (high - 1) and -1 / (high - 1).
 */
const lineThrough = (
  divisors: Float32Array,
  frequencies: readonly number[],
  known: Llama3Scaling,
): Llama3Scaling | null => {
  const { factor } = known
  const points = frequencies
    .map((frequency, i) => ({
      x: frequency / (2 * Math.PI),
      share: (1 / divisors[i] - 1 / factor) / (1 - 1 / factor),
    }))
    .filter(({ share }) => share > 1e-3 && share < 1 - 1e-3)
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last || first === last) return null
  const slope = (first.share - last.share) / (first.x - last.x)
  const width = -1 / (first.share - slope * first.x)
  const round = (value: number) => Math.round(value * 1000) / 1000
  return { ...known, highFreqFactor: round(1 + width), originalMaxPositions: Math.round(slope * width) }
}
