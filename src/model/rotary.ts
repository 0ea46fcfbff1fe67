/** @file Rotation angles of rotary position embeddings, with the frequency scalings of Llama 3 and linear interpolation. */

import type { ModelConfig } from './config.ts'

const inverseFrequencies = (config: RotaryShape): number[] =>
  Array.from({ length: config.headDim / 2 }, (_, i) =>
    scaleFrequency(config.ropeTheta ** ((-2 * i) / config.headDim), config.ropeScaling),
  )

export const scaleFrequency = (frequency: number, scaling: ModelConfig['ropeScaling']): number => {
  if (!scaling) return frequency
  if (scaling.type === 'linear') return frequency / scaling.factor
  const wavelength = (2 * Math.PI) / frequency
  const low = scaling.originalMaxPositions / scaling.lowFreqFactor
  const high = scaling.originalMaxPositions / scaling.highFreqFactor
  if (wavelength < high) return frequency
  if (wavelength > low) return frequency / scaling.factor
  const smooth =
    (scaling.originalMaxPositions / wavelength - scaling.lowFreqFactor) /
    (scaling.highFreqFactor - scaling.lowFreqFactor)
  return ((1 - smooth) * frequency) / scaling.factor + smooth * frequency
}

export interface RotaryAngles {
  cos: Float32Array
  sin: Float32Array
}

/**
 * The last two, as long as somebody has them: each graph of a model has the same, some models have two, and those of a long context
 * take seconds.
 */
const recent: { name: string; cosines: WeakRef<Float32Array>; sines: WeakRef<Float32Array> }[] = []

/** What angles depend on. */
export type RotaryShape = Pick<ModelConfig, 'maxPositions' | 'headDim' | 'ropeTheta' | 'ropeScaling'>

/**
 * Cosines and sines of every position's angles, each [maxPositions, headDim / 2] row-major (Su et al. 2021). They are shared: nobody
 * writes to them.
 */
export const rotaryAngles = (config: RotaryShape): RotaryAngles => {
  const { maxPositions, headDim, ropeTheta, ropeScaling } = config
  const name = JSON.stringify([maxPositions, headDim, ropeTheta, ropeScaling])
  const known = recent.find(each => each.name === name)
  const [cos, sin] = [known?.cosines.deref(), known?.sines.deref()]
  if (cos && sin) return { cos, sin }
  const made = computeAngles(config)
  recent.push({ name, cosines: new WeakRef(made.cos), sines: new WeakRef(made.sin) })
  if (recent.length > 2) recent.shift()
  return made
}

const computeAngles = (config: RotaryShape): RotaryAngles => {
  const frequencies = inverseFrequencies(config)
  const cos = new Float32Array(config.maxPositions * frequencies.length)
  const sin = new Float32Array(cos.length)
  for (let position = 0; position < config.maxPositions; position++) {
    for (const [i, frequency] of frequencies.entries()) {
      cos[position * frequencies.length + i] = Math.cos(position * frequency)
      sin[position * frequencies.length + i] = Math.sin(position * frequency)
    }
  }
  return { cos, sin }
}
