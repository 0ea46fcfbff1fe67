/** @file Weights with what an adapter adds to them, computed by the runtime: a hundred million take a third of a second. */

import type { ModelConfig } from '../../model/config.ts'
import { type LoraConfig, loraScale, loraSpecs } from '../../model/lora-files.ts'
import type { NamedTensors } from '../../model/safetensors.ts'
import { add, Executable, type ExecutableOptions, input, matmul } from '../../tensor/index.ts'

/** W [O, I] + (alpha / rank) B [O, R] A [R, I]. */
const sumGraph = (lora: LoraConfig) => {
  const [w, a, b] = [input('w', ['O', 'I']), input('a', ['R', 'I']), input('b', ['O', 'R'])]
  return { sum: add(w, matmul(b, a, { alpha: loraScale(lora) })) }
}

/** The weights that graphs of a model without an adapter take: new arrays for those that the adapter changes, the others as they are. */
export const mergedWeights = async (
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
