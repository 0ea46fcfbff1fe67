/** @file What a run of ruscarl would do and need: steps, tokens, judge calls, cost, memory. Nothing is run or called. */

import type { ModelConfig } from '../../model/config.ts'
import { modelTensors } from '../../policy/local/parameters.ts'
import type { DataFigures } from '../../tasks/conversation/figures.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import { freshPackingModel } from '../checklist/packing.ts'
import { estimateMemory, memoryLines } from '../common/estimate.ts'
import { heldOutJudgePlan, judgeLines, judgePlan } from '../common/judge-plan.ts'
import { knownShape, modelPlace } from '../common/known-models.ts'
import type { RunPlan } from '../common/recipe.ts'
import { shorterStart } from '../common/test-problems.ts'
import { checkSettings } from './check-settings.ts'
import type { RuscarlConfig } from './config.ts'
import { dataFigures } from './data-figures.ts'

const modelLine = ({ coldStart, model, sft }: RuscarlConfig): string => {
  const start =
    coldStart !== null
      ? `cold start of ${coldStart.steps} steps, in this run`
      : model.folder === null
        ? 'none: set model.folder'
        : modelPlace(model.folder)
  if (sft === null) return start
  const author = sft.teacher ?? 'the starting policy'
  return `${start}; then ${sft.steps} supervised steps on what ${author} writes under the whole scaffold`
}

const shapeOf = ({ coldStart, model }: RuscarlConfig): ModelConfig | null => {
  if (coldStart !== null) return freshPackingModel(coldStart.model.shape, coldStart.seed).init?.config ?? null
  return model.folder === null ? null : knownShape(model.folder)
}

const dataLines = ({ task }: RuscarlConfig, data: DataFigures): string[] =>
  task.kind === 'packing'
    ? [`data         packing lists, ${data.train} trips to train on, ${formatInteger(data.test)} to test on`]
    : [
        `data         ${task.file}${data.assumed ? ' (not there yet: HealthBench as the paper used it is assumed)' : ''}: ${formatInteger(data.train)} conversations to train on, ${formatInteger(data.test)} to test on`,
        `             ${data.criteria.toFixed(2)} criteria a rubric, ${data.judged.toFixed(2)} of them for the judge; prompts of ${formatInteger(data.promptTokens)} tokens${data.tokensEstimated ? ' (at four characters a token)' : ''}, with the whole scaffold ${formatInteger(data.scaffoldedTokens)}`,
      ]

/** What groups without a spread may cost besides; the figures of the plan are without it. */
const dynamicLines = ({ exploration: { dynamicSampling } }: RuscarlConfig): string[] =>
  dynamicSampling === null
    ? []
    : [
        `             dynamic sampling: up to ${1 + dynamicSampling.rounds} times the samples, tokens and grading of a step, when no group has a spread`,
      ]

/** @throws ConfigError for settings that do not go together; DataError for a file that cannot be used */
export const planRuscarl = (config: RuscarlConfig): RunPlan => {
  checkSettings(config)
  const { rollout, steps, scaffold, ratio, noise, policy, model, loss, optimizer, evaluation } = config
  const data = dataFigures(config)
  const rollouts = rollout.prompts * rollout.samples
  const newTokens = rollouts * rollout.maxTokens
  const judge = judgePlan(config, data)
  const heldOutJudge = heldOutJudgePlan(config, data)
  const shape = shapeOf(config)
  const sizes = shape && modelTensors(shape, model.lora, false)
  const promptTokens = Math.min(data.longestPrompt, config.task.maxPromptTokens)
  const sequence = promptTokens + rollout.maxTokens
  const memory =
    shape &&
    estimateMemory(shape, {
      lora: model.lora,
      reference: loss.kl.kind !== 'none' && loss.kl.coef > 0,
      secondEngine: policy.sampler !== null,
      microBatchTokens: policy.microBatchTokens,
      sequence,
      rows: Math.min(rollouts, policy.maxRows),
      // Every sample has a prompt of its own while it is scaffolded.
      prompts: Math.min(rollouts, policy.maxRows),
      promptTokens: data.scaffoldedTokens,
      newTokens: rollout.maxTokens,
    })
  const { learningRate: rate } = optimizer
  const passes = (steps * rollout.prompts) / data.train
  return {
    lines: [
      `model        ${modelLine(config)}`,
      `parameters   ${sizes ? `${formatCount(sizes.total)}, trained ${formatCount(sizes.trained)}` : 'unknown before the model is there'}`,
      ...dataLines(config, data),
      `training     ${steps} steps of ${rollout.prompts} prompts x ${rollout.samples} samples (${passes.toFixed(1)} passes), at most ${formatInteger(rollout.maxTokens)} tokens each: up to ${formatInteger(newTokens)} new tokens a step, ${formatCount(newTokens * steps)} in all`,
      ...dynamicLines(config),
      `scaffold     ${scaffold.group.kind} in the group, ${scaffold.decay.kind} over the steps, ratio ${ratio}`,
      `rubrics      ${noise === 'none' ? 'as they are' : noise}`,
      `optimiser    AdamW, ${config.minibatches * config.epochs} updates a step, learning rate ${rate.peak} (${rate.kind}), KL ${loss.kl.kind === 'none' || loss.kl.coef === 0 ? 'none' : `${loss.kl.kind} x ${loss.kl.coef}`}`,
      ...judgeLines(judge, heldOutJudge),
      `evaluation   ${formatInteger(Math.min(evaluation.problems, data.test))} problems x ${evaluation.samples} at the start and the end${shorterStart(config)}${evaluation.every > 0 ? `, ${formatInteger(Math.min(evaluation.problemsBetween, data.test))} every ${evaluation.every} steps between` : ''}`,
      ...(memory ? memoryLines(memory, { ...policy, sequence }) : []),
    ],
    json: {
      steps,
      prompts: rollout.prompts,
      samples: rollout.samples,
      rolloutsPerStep: rollouts,
      tokensPerStep: newTokens,
      data,
      judge,
      heldOutJudge,
      parameters: sizes?.total ?? null,
      trainedParameters: sizes?.trained ?? null,
      memoryBytes: memory,
    },
  }
}
