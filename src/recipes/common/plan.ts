/** @file What the plans of recipes that learn from rewards share: the model, what is trained of it, the optimiser, memory. */

import type { ModelConfig } from '../../model/config.ts'
import { modelTensors } from '../../policy/local/parameters.ts'
import type { LossSpec } from '../../rl/loss.ts'
import type { ModelShape } from '../../train/config.ts'
import { formatCount } from '../../util/format.ts'
import { estimateMemory, memoryLines } from './estimate.ts'
import { knownShape, modelPlace } from './known-models.ts'
import type { TrainingConfig } from './training.ts'

/** What a model starts as: a checkpoint, or what a cold start makes. */
interface Start {
  model: { folder: string | null }
  coldStart: { steps: number; model: { shape: ModelShape } } | null
}

/** The checked settings; one of checkpoint and cold start is there. */
export type PlannedConfig = Start &
  Pick<TrainingConfig, 'model' | 'policy' | 'rollout' | 'loss' | 'optimizer'>

/** Lengths in tokens that memory depends on. */
export interface PlannedPrompts {
  /** On average, and the longest. */
  tokens: number
  longest: number
  /** Different prompts that are decoded together: those of problems, or of samples where each has its own. */
  together: number
}

/** Shape of the model at the start; null where it is unknown before the model is there. @param fresh what a cold start makes */
export const startShape = (
  { coldStart, model }: Start,
  fresh: (shape: ModelShape) => ModelConfig,
): ModelConfig | null => (coldStart === null ? knownShape(model.folder!) : fresh(coldStart.model.shape))

const startWords = ({ coldStart, model }: Start): string =>
  coldStart === null ? modelPlace(model.folder!) : `cold start of ${coldStart.steps} steps, in this run`

const hasReference = ({ kl }: LossSpec): boolean => kl.kind !== 'none' && kl.coef > 0

const parameterWords = (sizes: ReturnType<typeof modelTensors> | null, { lora }: TrainingConfig['model']) => {
  if (sizes === null) return 'unknown before the model is there'
  const adapter = lora ? ` (LoRA rank ${lora.rank}, alpha ${lora.alpha})` : ''
  return `${formatCount(sizes.total)}, trained ${formatCount(sizes.trained)}${adapter}`
}

/** The lines that such plans have in common, and their figures. */
export const planTraining = (
  config: PlannedConfig,
  fresh: (shape: ModelShape) => ModelConfig,
  prompts: PlannedPrompts,
) => {
  const { model, policy, rollout, loss, optimizer } = config
  const shape = startShape(config, fresh)
  const rolloutsPerStep = rollout.prompts * rollout.samples
  const sizes = shape && modelTensors(shape, model.lora, false)
  const sequence = prompts.longest + rollout.maxTokens
  const memory =
    shape &&
    estimateMemory(shape, {
      lora: model.lora,
      reference: hasReference(loss),
      secondEngine: 'sampler' in policy && policy.sampler !== null,
      microBatchTokens: policy.microBatchTokens,
      sequence,
      rows: Math.min(rolloutsPerStep, policy.maxRows),
      prompts: Math.min(prompts.together, policy.maxRows),
      promptTokens: prompts.tokens,
      newTokens: rollout.maxTokens,
    })
  const { learningRate: rate } = optimizer
  return {
    start: startWords(config),
    parameters: `parameters   ${parameterWords(sizes, model)}`,
    learning: `learning rate ${rate.peak} (${rate.kind}${rate.warmup > 0 ? `, warm-up of ${rate.warmup} steps` : ''}), KL ${hasReference(loss) ? `${loss.kl.kind} x ${loss.kl.coef}` : 'none'}`,
    memory: memory ? memoryLines(memory, { ...policy, sequence }) : [],
    work: { rolloutsPerStep, tokensPerStep: rolloutsPerStep * rollout.maxTokens },
    sizes: {
      parameters: sizes?.total ?? null,
      trainedParameters: sizes?.trained ?? null,
      memoryBytes: memory,
    },
  }
}
