/** @file From a recipe's configuration to its training: settings of the loop, sampling, phases, credit, the reference; and supervised phases. */

import type { z } from 'zod'
import { isRemote, type PipelinedPolicySettings, type PolicySettings } from '../../policy/open.ts'
import type { Policy, SamplingOptions } from '../../policy/policy.ts'
import { correctionOf } from '../../policy/tinker/settings.ts'
import { assertComputable } from '../../policy/update.ts'
import type { CriterionWeights } from '../../rl/advantages.ts'
import { type EntropyBonusOptions, withEntropyBonus } from '../../rl/entropy-bonus.ts'
import type { LossSpec } from '../../rl/loss.ts'
import { withMaxTokens } from '../../rl/loss-presets.ts'
import {
  type Credited,
  creditRollouts,
  type Graded,
  type GroupedDatum,
  type Groups,
  type RatioMode,
} from '../../rl/rollout.ts'
import { readMetrics } from '../../runs/readers.ts'
import type { EvalRow, MetricsRow } from '../../runs/rows.ts'
import type { modelSchema, reinforcementShape } from '../../train/config.ts'
import type { LoopSettings, Pipeline } from '../../train/loop.ts'
import { expectingMismatch, type MonitorSettings } from '../../train/monitors/config.ts'
import type { Phase, Recipe } from '../../train/recipe.ts'
import { entropiesOf, type ScoringOptions } from '../../train/scores.ts'
import { progressOf, runSteps, type StepsResult, type StepsSettings } from '../../train/steps.ts'
import { type DrawStep, type SupervisedSettings, supervisedStep } from '../../train/supervised.ts'
import { normalisedAdvantages } from '../options/normalise.ts'
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

/** Where ratios start from another prompt on purpose, or from rounded weights, their gap is no mismatch. */
const monitorsOf = ({ monitors, ratio, policy }: TrainingConfig): MonitorSettings | null =>
  monitors && (ratio === 'true-is' || (!isRemote(policy) && policy.sampleBits === 8))
    ? expectingMismatch(monitors)
    : monitors

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
 * @throws ConfigError, TinkerError before anything is sampled, for a loss that the policy cannot compute, or a critic that is none
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
  const saved = from?.dir ?? fork
  // A recipe may sample a lot before its first step. A saved critic is loaded first: servers take that as its first request alone.
  if (saved === null) await policy.critic?.assertThere?.()
  const recipe = await recipeFor()
  if (saved !== null) {
    await policy.load(saved)
    await policy.critic?.assertThere?.()
  }
  events.onPhase?.({ name: 'reinforcement', steps: config.steps, done: from?.step ?? 0 })
  const { train } = await import('../../train/loop.ts')
  const settings = { ...loopSettings(config, configHash), ...progressOf(from) }
  return train(policy, recipe, run, settings, from?.step ?? 0, events)
}

/**
 * GRPO: rewards become advantages within their groups, and those the credit of tokens.
 * @param weights of the parts of rewards, where they are normalised apart
 * @throws NumericError for a reward that is not finite
 */
export const grpoCredit = <Problem, Grade>(
  groups: Groups<Graded<Problem, Grade>>,
  config: Pick<TrainingConfig, 'advantage'> & { normalise?: 'criterion' },
  weights: CriterionWeights = {},
): { credited: Credited<Problem, Grade>[][]; zeroVarianceGroups: number } => {
  const { advantages_P_G, zeroVarianceGroups } = normalisedAdvantages(config, groups, { weights })
  return {
    credited: creditRollouts(groups, advantages_P_G),
    zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
  }
}

/**
 * The credit of each token with an entropy bonus (RuscaRL's baseline of Table 13).
 * @throws ConfigError for a policy that cannot tell entropies
 */
export const entropyCredit = async <Problem, Grade>(
  policy: Policy,
  credited: Credited<Problem, Grade>[][],
  bonus: EntropyBonusOptions,
  options: ScoringOptions,
): Promise<Credited<Problem, Grade>[][]> => {
  const entropies_P_G = await entropiesOf(policy, credited, options)
  return credited.map((group, p) =>
    group.map((item, g) => ({
      ...item,
      advantages: withEntropyBonus(item.advantages, entropies_P_G[p][g], bonus),
    })),
  )
}

export interface SupervisedPhase {
  /** What the progress line calls it. */
  name: string
  policy: Policy
  draw: DrawStep
  evaluate(step: number, last: boolean): Promise<EvalRow[]>
  /** Whether the model is worth a test before the first step, as fresh weights are not. Default true; without steps it is in any case. */
  testsStart?: boolean
  config: SupervisedSettings &
    Pick<StepsSettings, 'maxMinutes' | 'monitors'> & {
      checkpoint: { every: number; keepLast: number }
      /** Every so many steps, besides the end; 0: only there. */
      evaluation: { every: number }
    }
}

/**
 * The losses of the steps that are done, each in its place, so that a keyframe that waits finds those that it had: rows may be missing
 * where damaged ones were accepted.
 */
export const lossesBefore = (done: number, rows: readonly Pick<MetricsRow, 'step' | 'loss'>[]): number[] => {
  const losses = new Map(rows.map(({ step, loss }) => [step, loss]))
  return Array.from({ length: done }, (_, i) => losses.get(i + 1) ?? Number.POSITIVE_INFINITY)
}

/**
 * Trains from the start, from a fork's, or from the session's checkpoint, which is loaded here. Without steps the start is what is
 * tested in full and saved.
 */
export const runSupervised = async (
  { run, from, fork, configHash }: Pick<RunSession, 'run' | 'from' | 'fork' | 'configHash'>,
  { name, policy, draw, evaluate, testsStart = true, config }: SupervisedPhase,
  events: RunEvents = {},
): Promise<StepsResult> => {
  const saved = from?.dir ?? fork
  if (saved !== null) await policy.load(saved)
  const done = from?.step ?? 0
  const isStartAlone = config.steps === 0
  events.onPhase?.({ name, steps: config.steps, done })
  if (isStartAlone && from !== null) return { step: done, finished: true }
  const settings = {
    steps: config.steps,
    savesStart: isStartAlone,
    evalEvery: config.evaluation.every,
    checkpointEvery: config.checkpoint.every,
    keepCheckpoints: config.checkpoint.keepLast,
    maxMinutes: config.maxMinutes,
    ...progressOf(from),
    configHash,
    monitors: config.monitors,
  }
  const before = done === 0 ? [] : lossesBefore(done, readMetrics(run.dir))
  const work = {
    trainStep: supervisedStep(policy, draw, config, before),
    evaluate: async (step: number, last: boolean) =>
      step === 0 && !testsStart && !isStartAlone ? [] : evaluate(step, last || isStartAlone),
  }
  return runSteps(policy, run, settings, work, done, events)
}
