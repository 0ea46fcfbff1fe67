/** @file Settings of a training that fit a public model's size and this machine's memory. */

import type { ModelConfig } from '../../model/config.ts'
import { loraModules } from '../../model/lora-files.ts'
import { modelTensors } from '../../policy/local/parameters.ts'
import { estimateMemory } from '../../recipes/common/feasible.ts'

/** What a training begins with; the rest are the recipe's defaults. */
export interface FittedSettings {
  lora: { rank: number; alpha: number }
  learningRate: number
  maxTokens: number
  microBatchTokens: number
  recompute: boolean
  /** As estimated, of the largest that fits; of the smallest where nothing does. */
  memoryBytes: number
}

export const ROLLOUTS = { prompts: 8, samples: 8, temperature: 0.8 } as const

const RANK = 16
const LORA = { rank: RANK, alpha: 2 * RANK }
/** Share of this machine's memory that a training may take beside the system and the graders. */
const SHARE = 0.7
const PROMPT_TOKENS = 96

/** Adapters of larger models want smaller steps: 4e-4 is of pilots at 135 million weights, the rest a guess by width. */
const learningRateOf = (weights: number): number => (weights < 3e8 ? 4e-4 : weights < 1.2e9 ? 2e-4 : 1e-4)

/** The memory of a training with this micro-batch. */
const memoryOf = (
  config: ModelConfig,
  microBatchTokens: number,
  recompute: boolean,
  maxTokens: number,
  machineBytes: number,
): number =>
  estimateMemory(config, {
    lora: { ...LORA, targetModules: [...loraModules] },
    ...{ reference: false, microBatchTokens, recompute, sequence: PROMPT_TOKENS + maxTokens },
    ...{ rows: ROLLOUTS.prompts * ROLLOUTS.samples, prompts: ROLLOUTS.prompts },
    ...{ promptTokens: PROMPT_TOKENS, newTokens: maxTokens, machineBytes },
  }).total

/** Large micro-batches first, then layers that are computed a second time. */
const CHOICES: readonly (readonly [microBatchTokens: number, recompute: boolean])[] = [
  [2048, false],
  [1024, false],
  [512, false],
  [1024, true],
  [512, true],
]

/** @param memoryBytes that this machine has @param responses tokens of the longest, where the model's context has room for them */
export const fittedSettings = (
  config: ModelConfig,
  memoryBytes: number,
  responses: number,
): FittedSettings => {
  const maxTokens = Math.min(responses, Math.floor(config.maxPositions / 2))
  const tried = CHOICES.map(([microBatchTokens, recompute]) => ({
    microBatchTokens,
    recompute,
    memoryBytes: memoryOf(config, microBatchTokens, recompute, maxTokens, memoryBytes),
  }))
  const fitting = tried.find(({ memoryBytes: need }) => need <= SHARE * memoryBytes) ?? tried.at(-1)!
  return {
    lora: LORA,
    learningRate: learningRateOf(modelTensors(config, null, false).total),
    maxTokens,
    ...fitting,
  }
}
