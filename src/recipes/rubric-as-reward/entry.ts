/** @file The rubric-as-reward recipe as the command line knows it. */

import type { ModelConfig } from '../../model/config.ts'
import { modelTensors } from '../../policy/local/parameters.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import { estimateMemory, memoryLines } from '../common/estimate.ts'
import { knownShape, modelPlace } from '../common/known-models.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { shorterStart } from '../common/test-problems.ts'
import { logicModelConfig } from '../logic-cold-start/model.ts'
import { checkSettings } from './check-settings.ts'
import { type RubricAsRewardConfig, rubricAsRewardSchema, trainingSteps } from './config.ts'
import { presets } from './presets.ts'
import { conditionWeights } from './rewards.ts'
import { runRubricAsReward } from './run.ts'

/** Tokens of a prompt, roughly: 15 sentences as words, or with instructions through a chat template. */
const PROMPT_TOKENS = { miniature: 130, chat: 600 }

const shapeOf = ({ coldStart, model }: RubricAsRewardConfig): ModelConfig | null => {
  if (coldStart !== null) return logicModelConfig(coldStart.model.shape)
  return model.folder === null ? null : knownShape(model.folder)
}

const modelLine = ({ model, coldStart }: RubricAsRewardConfig): string => {
  if (coldStart !== null) return `cold start of ${coldStart.steps} steps, in this run`
  return model.folder === null ? 'none: set model.folder' : modelPlace(model.folder)
}

const rewardLine = ({ condition, weights, credit, method }: RubricAsRewardConfig): string => {
  const used = Object.entries(weights ?? conditionWeights(condition))
  const sum = used.map(([id, weight]) => `${Number(weight.toFixed(3))} ${id}`).join(' + ')
  const how = method === 'rejection' ? 'rejection' : `${credit} credit, ${method}`
  return `${condition}${sum === '' ? '' : `: 3 x (${sum})`}, ${how}`
}

const plan = (config: RubricAsRewardConfig): RunPlan => {
  checkSettings(config)
  const { rollout, model, policy, loss, optimizer, task, evaluation } = config
  const steps = trainingSteps(config)
  const shape = shapeOf(config)
  const rollouts = rollout.prompts * rollout.samples
  const tokensPerStep = rollouts * rollout.maxTokens
  const sizes = shape && modelTensors(shape, model.lora, false)
  const sequence = PROMPT_TOKENS[task.prompt] + rollout.maxTokens
  const memory =
    shape &&
    estimateMemory(shape, {
      lora: model.lora,
      reference: loss.kl.coef > 0,
      microBatchTokens: policy.microBatchTokens,
      sequence,
      rows: Math.min(rollouts, policy.maxRows),
      prompts: Math.min(rollout.prompts, policy.maxRows),
      promptTokens: PROMPT_TOKENS[task.prompt],
      newTokens: rollout.maxTokens,
    })
  const { learningRate: rate } = optimizer
  return {
    lines: [
      `model        ${modelLine(config)}`,
      `parameters   ${sizes ? `${formatCount(sizes.total)}, trained ${formatCount(sizes.trained)}${model.lora ? ` (LoRA rank ${model.lora.rank}, alpha ${model.lora.alpha})` : ''}` : 'unknown before the model is there'}`,
      `task         ${task.file ?? `generated, hops ${JSON.stringify(task.hops)}, ${task.style}`}, ${task.prompt} prompt`,
      `reward       ${rewardLine(config)}`,
      `steps        ${steps}, each ${rollout.prompts} problems x ${rollout.samples} samples, at most ${rollout.maxTokens} tokens: up to ${formatInteger(tokensPerStep)} new tokens a step`,
      `optimiser    AdamW, learning rate ${rate.peak} (${rate.kind}), KL ${loss.kl.coef > 0 ? `${loss.kl.kind} x ${loss.kl.coef}` : 'none'}`,
      'grading      by rules and solver in this process: no judge model, no network',
      `evaluation   ${evaluation.problems} problems on ${evaluation.sets.join(', ')}, before and after${shorterStart({ steps, evaluation })}`,
      ...(memory ? memoryLines(memory, { ...policy, sequence }) : []),
    ],
    json: {
      steps,
      rolloutsPerStep: rollouts,
      tokensPerStep,
      parameters: sizes?.total ?? null,
      trainedParameters: sizes?.trained ?? null,
      memoryBytes: memory,
    },
  }
}

export const rubricAsRewardEntry: RecipeEntry<RubricAsRewardConfig> = {
  name: 'rubric-as-reward',
  summary: 'reinforcement learning against the five-criterion logic rubric, every step checked by a solver',
  schema: rubricAsRewardSchema,
  presets,
  plan,
  run: runRubricAsReward,
}
