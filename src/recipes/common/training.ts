/** @file From a recipe's configuration to its training: settings of the loop, sampling, phases, the reference. */

import type { z } from 'zod'
import { isRemote, type PipelinedPolicySettings, type PolicySettings } from '../../policy/open.ts'
import type { Policy, SamplingOptions } from '../../policy/policy.ts'
import { correctionOf } from '../../policy/tinker/settings.ts'
import { assertComputable } from '../../policy/update.ts'
import { grpoAdvantages } from '../../rl/advantages.ts'
import type { LossSpec } from '../../rl/loss.ts'
import { withMaxTokens } from '../../rl/loss-presets.ts'
import {
  advantagesOf,
  type Credited,
  creditRollouts,
  type Graded,
  type GroupedDatum,
  type Groups,
  type RatioMode,
} from '../../rl/rollout.ts'
import type { modelSchema, reinforcementShape } from '../../train/config.ts'
import type { LoopSettings, Pipeline } from '../../train/loop.ts'
import type { MonitorSettings } from '../../train/monitors/config.ts'
import type { Phase, Recipe } from '../../train/recipe.ts'
import { progressOf, type StepsResult } from '../../train/steps.ts'
import { type Critic, withCriticLoss } from './critic.ts'
import type { RunEvents } from './recipe.ts'
import type { RunSession } from './session.ts'

/** What recipes that learn from rewards have in their configurations. */
export type TrainingConfig = Omit<z.output<z.ZodObject<typeof reinforcementShape>>, 'model' | 'policy'> & {
  policy: PolicySettings | PipelinedPolicySettings
  model: Pick<z.output<typeof modelSchema>, 'folder' | 'lora'>
  loss: LossSpec
  evaluation: { every: number }
  pipeline?: Pipeline
  critic?: Critic | null
  ratio?: RatioMode
}

/** Where ratios start from another prompt on purpose, their gap is no mismatch. */
const monitorsOf = ({ monitors, ratio }: TrainingConfig): MonitorSettings | null =>
  monitors && ratio === 'true-is' ? { ...monitors, samplerMismatch: null } : monitors

const loopSettings = (config: TrainingConfig, configHash: string): LoopSettings => {
  const { optimizer: settings, evaluation, checkpoint, critic, policy } = config
  const { learningRate, ...optimizer } = settings
  const { steps, seed, pipeline, maxMinutes } = config
  return {
    ...{ steps, seed, optimizer, learningRate, pipeline, maxMinutes, configHash },
    ...(critic?.learningRate && { valueLearningRate: critic.learningRate }),
    evalEvery: evaluation.every,
    checkpointEvery: checkpoint.every,
    keepCheckpoints: checkpoint.keepLast,
    monitors: monitorsOf(config),
    correction: isRemote(policy) ? correctionOf(policy) : null,
  }
}

/** How rollouts are sampled. */
export const samplingOf = (
  { rollout: { maxTokens, temperature, topK, topP } }: Pick<TrainingConfig, 'rollout'>,
  stopTokens?: readonly number[],
): Omit<SamplingOptions, 'seed'> => ({ maxTokens, temperature, topK, topP, stopTokens })

/** A phase with the configuration's settings; a loss that divides by the longest allowed response gets that length. */
export const phaseOf = (
  { loss, rollout, minibatches, epochs }: Pick<TrainingConfig, 'loss' | 'rollout' | 'minibatches' | 'epochs'>,
  datums: readonly GroupedDatum[],
  name = 'policy',
): Phase => ({
  name,
  datums,
  loss: withMaxTokens(loss, rollout.maxTokens),
  temperature: rollout.temperature,
  minibatches,
  epochs,
})

/**
 * Trains from the start or from the session's checkpoint. The reference of a KL term is the model that the run started from,
 * an adapter with what it had learnt; also after a resume.
 * @throws ConfigError before anything is sampled, for a loss that the policy cannot compute
 * @param recipeFor makes the recipe while the policy still is that model
 */
export const reinforce = async <Rolled>(
  { run, from, fork, configHash }: Pick<RunSession, 'run' | 'from' | 'fork' | 'configHash'>,
  policy: Policy,
  config: TrainingConfig,
  recipeFor: () => Recipe<Rolled> | Promise<Recipe<Rolled>>,
  events: RunEvents = {},
): Promise<StepsResult> => {
  const loss = config.critic === undefined ? config.loss : withCriticLoss(config.loss, config.critic)
  assertComputable(policy, loss)
  if (loss.kl.kind !== 'none' && loss.kl.coef > 0) await policy.freezeReference()
  const recipe = await recipeFor()
  const saved = from?.dir ?? fork
  if (saved !== null) await policy.load(saved)
  events.onPhase?.({ name: 'reinforcement', steps: config.steps, done: from?.step ?? 0 })
  const { train } = await import('../../train/loop.ts')
  const settings = { ...loopSettings(config, configHash), ...progressOf(from) }
  return train(policy, recipe, run, settings, from?.step ?? 0, events)
}

/** GRPO: rewards become advantages within their groups, and those the credit of tokens. @throws NumericError for a reward that is not finite */
export const grpoCredit = <Problem, Grade>(
  groups: Groups<Graded<Problem, Grade>>,
  { advantage }: Pick<TrainingConfig, 'advantage'>,
): { credited: Credited<Problem, Grade>[][]; zeroVarianceGroups: number } => {
  const { advantages_P_G, zeroVarianceGroups } = advantagesOf(groups, known =>
    grpoAdvantages(known, advantage),
  )
  return {
    credited: creditRollouts(groups, advantages_P_G),
    zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
  }
}
