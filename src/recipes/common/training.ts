/** @file From a recipe's configuration to its training: settings of the loop, sampling, phases, the reference. */

import type { z } from 'zod'
import { isRemote, type PipelinedPolicySettings, type PolicySettings } from '../../policy/open.ts'
import type { Policy, SamplingOptions } from '../../policy/policy.ts'
import { correctionOf } from '../../policy/tinker/settings.ts'
import { assertComputable } from '../../policy/update.ts'
import type { LossSpec } from '../../rl/loss.ts'
import { withMaxTokens } from '../../rl/loss-presets.ts'
import type { GroupedDatum } from '../../rl/rollout.ts'
import type { modelSchema, reinforcementShape } from '../../train/config.ts'
import type { LoopSettings, Pipeline } from '../../train/loop.ts'
import type { MonitorSettings } from '../../train/monitors/config.ts'
import type { Phase, Recipe } from '../../train/recipe.ts'
import { type StepsResult, trainedMsOf } from '../../train/steps.ts'
import { ConfigError } from '../../util/errors.ts'
import type { RunEvents } from './recipe.ts'
import type { Session } from './session.ts'

/** What recipes that learn from rewards have in their configurations. */
export type TrainingConfig = Omit<z.output<z.ZodObject<typeof reinforcementShape>>, 'model' | 'policy'> & {
  policy: PolicySettings | PipelinedPolicySettings
  model: Pick<z.output<typeof modelSchema>, 'folder' | 'lora'>
  loss: LossSpec
  evaluation: { every: number }
  pipeline?: Pipeline
}

/**
 * An engine of its own for sampling is of use where sampling runs beside learning.
 * @throws ConfigError for one without `pipeline`
 */
export const assertSamplerIsUsed = ({
  policy,
  pipeline,
}: {
  policy: PipelinedPolicySettings
  pipeline: Pipeline
}): void => {
  if (!isRemote(policy) && policy.sampler !== null && !pipeline)
    throw new ConfigError(
      'policy.sampler: expected null without pipeline, where sampling and learning take turns and a second engine would only take memory',
      { hint: 'set pipeline to true, or policy.sampler to null' },
    )
}

/** The settings of the loop. */
export const loopSettings = (
  config: TrainingConfig,
  hash: string,
  monitors: MonitorSettings | null = config.monitors,
): LoopSettings => {
  const { learningRate, ...optimizer } = config.optimizer
  return {
    steps: config.steps,
    seed: config.seed,
    optimizer,
    learningRate,
    pipeline: config.pipeline,
    evalEvery: config.evaluation.every,
    checkpointEvery: config.checkpoint.every,
    keepCheckpoints: config.checkpoint.keepLast,
    maxMinutes: config.maxMinutes,
    configHash: hash,
    monitors,
    correction: isRemote(config.policy) ? correctionOf(config.policy) : null,
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
  { run, from, fork }: Pick<Session, 'run' | 'from' | 'fork'>,
  policy: Policy,
  loss: LossSpec,
  recipeFor: () => Recipe<Rolled> | Promise<Recipe<Rolled>>,
  settings: LoopSettings,
  events: RunEvents,
): Promise<StepsResult> => {
  assertComputable(policy, loss)
  const { kl } = loss
  if (kl.kind !== 'none' && kl.coef > 0) await policy.freezeReference()
  const recipe = await recipeFor()
  const saved = from?.dir ?? fork
  if (saved !== null) await policy.load(saved)
  events.onPhase?.({ name: 'reinforcement', steps: settings.steps, done: from?.step ?? 0 })
  const { train } = await import('../../train/loop.ts')
  const trainedMs = trainedMsOf(from?.state.recipe)
  return train(policy, recipe, run, { ...settings, trainedMs }, from?.step ?? 0, events)
}
