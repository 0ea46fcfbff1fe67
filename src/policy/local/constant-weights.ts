/** @file Weights fixed into a graph, with what an adapter adds to them: of a hundred million that takes .6 to .8 s of two cores. */

import type { ModelConfig } from '../../model/config.ts'
import { type LoraConfig, loraScale, loraSpecs } from '../../model/lora-files.ts'
import type { NamedTensors } from '../../model/safetensors.ts'
import type { Weights } from '../../model/transformer.ts'
import { add, constant, Executable, type ExecutableOptions, input, matmul } from '../../tensor/index.ts'

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

/** Weights fixed into a graph, an adapter added to them: the runtime packs them once instead of on every run. */
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
