/** @file Weights fixed into a graph: whole, with what an adapter adds to them, or in 8 bits, an adapter beside them. */

import type { ModelConfig } from '../../model/config.ts'
import { type LoraConfig, loraScale, loraSpecs } from '../../model/lora-files.ts'
import type { NamedTensors } from '../../model/safetensors.ts'
import { type Weights, weightInputs } from '../../model/transformer.ts'
import { tensorSpecs } from '../../model/weights.ts'
import {
  add,
  codeType,
  constant,
  Executable,
  type ExecutableOptions,
  input,
  matmul,
  type QuantizedMatrix,
  quantized,
} from '../../tensor/index.ts'

/** W [O, I] + (alpha / rank) B [O, R] A [R, I]. */
const sumGraph = (lora: LoraConfig) => {
  const [w, a, b] = [input('w', ['O', 'I']), input('a', ['R', 'I']), input('b', ['O', 'R'])]
  return { sum: add(w, matmul(b, a, { alpha: loraScale(lora) })) }
}

/** New arrays for the weights that the adapter changes, the others as they are; without the adapter's own tensors. */
const mergedTensors = async (
  config: ModelConfig,
  lora: LoraConfig,
  tensors: NamedTensors,
  running: ExecutableOptions,
): Promise<NamedTensors> => {
  const merged: NamedTensors = new Map(tensors)
  const sum = await Executable.compile(sumGraph(lora), running)
  const factors = { A: '', B: '' }
  for (const { name, part, target } of loraSpecs(config, lora)) {
    merged.delete(name)
    factors[part] = name
    if (part === 'A') continue
    const [w, a, b] = [target, factors.A, factors.B].map(of => tensors.get(of)!)
    const feed = ({ data, shape }: typeof w) => ({ data, dims: shape })
    const { sum: result } = await sum.run({ w: feed(w), a: feed(a), b: feed(b) })
    merged.set(target, { ...w, data: result.data as Float32Array<ArrayBuffer> })
  }
  await sum.release()
  return merged
}

/**
 * Weights fixed into a graph, an adapter added to them (.6 to .8 s of two cores for a hundred million): the runtime packs them once
 * instead of on every run.
 */
export const constantWeights = async (
  config: ModelConfig,
  lora: LoraConfig | null,
  tensors: NamedTensors,
  running: ExecutableOptions,
): Promise<Weights> => {
  const whole = lora ? await mergedTensors(config, lora, tensors, running) : tensors
  const fixed = new Map([...whole].map(([name, { data, shape }]) => [name, constant(data, shape)] as const))
  return { loraScale: 0, has: name => fixed.has(name), get: name => fixed.get(name)! }
}

/** A model's matrices that products are taken with; of words that are only read from their table there are none. */
const productSpecs = (config: ModelConfig) =>
  tensorSpecs(config).filter(
    ({ name, shape }) => shape.length === 2 && (config.tieEmbeddings || name !== 'model.embed_tokens.weight'),
  )

/**
 * A model's matrices fixed into a graph in 8 bits, its vectors as they are. The table that words are read from is an input, and so is
 * what an adapter adds: that changes with each update, and is lost where it is rounded with the matrix that it is added to.
 * @param running of what rounds
 */
export const quantizedWeights = async (
  config: ModelConfig,
  lora: LoraConfig | null,
  tensors: NamedTensors,
  running: ExecutableOptions,
): Promise<Weights> => {
  const matrices = new Map<string, QuantizedMatrix>()
  const type = await codeType(running)
  const rounding = await Executable.compile({ ...quantized(input('w', ['O', 'I']), type) }, running)
  for (const { name } of productSpecs(config)) {
    const { data, shape } = tensors.get(name)!
    const { codes, scales } = await rounding.run({ w: { data, dims: shape } })
    matrices.set(name, {
      codes: constant(codes.data, codes.dims, type),
      scales: constant(scales.data, scales.dims),
    })
  }
  await rounding.release()
  const specs = [...tensors].map(([name, { shape }]) => ({ name, shape }))
  const inputs = weightInputs(specs, lora ? loraScale(lora) : 0)
  const vectors = new Set(
    tensorSpecs(config).flatMap(({ name, shape }) => (shape.length === 1 ? [name] : [])),
  )
  return {
    ...inputs,
    get: name => {
      if (!vectors.has(name)) return inputs.get(name)
      const { data, shape } = tensors.get(name)!
      return constant(data, shape)
    },
    quantized: name => matrices.get(name),
  }
}
