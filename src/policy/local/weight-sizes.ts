/** @file How many weights a model has, and what goes by their number, before any is allocated. */

import type { ModelConfig } from '../../model/config.ts'
import { type LoraConfig, loraSpecs } from '../../model/lora-files.ts'
import { elementCount, tensorSpecs } from '../../model/weights.ts'
import type { Provider } from '../../tensor/providers.ts'
import { memoryHere } from '../../util/memory-failure.ts'

/** Weights that a model of this shape has, without a value head; for estimates before anything is allocated. */
export const modelTensors = (config: ModelConfig, lora: LoraConfig | null) => {
  const count = (specs: readonly { shape: readonly number[] }[]) =>
    specs.reduce((sum, { shape }) => sum + elementCount(shape), 0)
  const base = count(tensorSpecs(config))
  const adapter = lora && count(loraSpecs(config, lora))
  return { total: base + (adapter ?? 0), trained: adapter ?? base }
}

/** Bits of a weight while tokens are drawn; with 8, matrices are rounded. */
export type SampleBits = 8 | 32

/** Weights of so many bytes are fixed into the decoding graph whatever memory there is; of more, where they are a small part of it. */
const SMALL_WEIGHT_BYTES = 128 * 2 ** 20
const SMALL_SHARE = 0.05

/**
 * Whether weights are fixed into the decoding graph after every update, which decodes faster and holds them once more for each
 * layout of a step. Depends on the machine alone, so that a run's numbers do.
 * @param count of float32 weights
 */
export const fixesWeights = (count: number, machineBytes = memoryHere()): boolean =>
  4 * count <= Math.max(SMALL_WEIGHT_BYTES, SMALL_SHARE * machineBytes)

/** Up to so many weights it pays to have a graph for batches with little padding beside that for others: each keeps memory of its own. */
const MOST_TWO_LAYOUTS = 2 ** 24

/** Whether batches go through graphs of two layouts, with their padding and without. @param count of weights, an adapter's included */
export const hasTwoLayouts = (count: number): boolean => count <= MOST_TWO_LAYOUTS

/** Each is a thread with weights of its own. */
export const MOST_ENGINES = 64

/** Models of up to so many weights gain by a second engine: of 33 million it takes a quarter more memory for little (docs/decisions/two-engines.md). */
const MOST_SHARED_WEIGHTS = 2 ** 24

/**
 * How many engines share the work where nobody says: two, of a small model on two threads of the processor or more.
 * @param weights of the model, without those of an adapter; asked for where it depends on them
 */
export const defaultEngines = (
  { provider = 'cpu', threads = 2 }: { provider?: Provider; threads?: number },
  weights: () => number,
): number => (provider === 'cpu' && threads >= 2 && weights() <= MOST_SHARED_WEIGHTS ? 2 : 1)
