/** @file A critic as a setting of any recipe: a value head on the policy, or a model of its own, in place of comparing a group. */

import { z } from 'zod'
import type { LoraConfig } from '../../model/lora-files.ts'
import { modelPath } from '../../model/model-place.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import { isRemote, type PipelinedPolicySettings, type PolicySettings } from '../../policy/open.ts'
import type { Policy } from '../../policy/policy.ts'
import type { LossSpec } from '../../rl/loss.ts'
import { LOSS_PRESETS } from '../../rl/loss-presets.ts'
import { type Credited, creditByCritic, creditRollouts, type Graded, type Groups } from '../../rl/rollout.ts'
import { scheduleSchema } from '../../rl/schedules.ts'
import { choice, loraSchema, lossSettingSchema, orAbsent, orNull } from '../../train/config.ts'
import { type ScoringOptions, valuesOf } from '../../train/scores.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { amount, fraction } from '../../util/setting-shapes.ts'

/** PPO with a critic; as a setting `critic: criticSchema.nullable().default(null)`, null for none. */
export const criticSchema = z.strictObject({
  learningRate: orNull(
    scheduleSchema,
    "Learning rate of the value head, or of a critic of its own; null: as the policy's.",
  ),
  gamma: fraction.default(1).describe('Discount of later rewards.'),
  lambda: fraction.default(1).describe('Lambda of GAE: how far credit reaches back.'),
  whitening: choice(
    ['role', 'none'],
    'role',
    '`role`: scale the advantages of each role to mean 0 and variance 1 over the step.',
  ),
  coef: amount.default(1).describe('Weight of the value loss.'),
  clip: z
    .number()
    .gt(0)
    .nullable()
    .default(0.5)
    .describe('Largest change of a value in an update; null: no limit.'),
  own: orAbsent(
    z.strictObject({
      folder: orNull(
        z.string(),
        "The model that it starts from, with the policy's vocabulary; null: the one that the policy starts from.",
      ),
      lora: orAbsent(
        loraSchema.nullable(),
        'Train an adapter of it; null: all of its weights. Absent: as `model.lora`.',
      ),
    }),
    'A separate critic, as in the paper: a second model with a value head, which alone learns from the value loss. It computes on the processor, in turn with the policy, and takes about as much memory and learning time again. The critic of a training service is always separate, with the model and adapter of the policy. Absent: a value head on the layers of the policy, which the value loss then trains as well.',
  ),
})
export type Critic = z.output<typeof criticSchema>

interface WithCritic {
  critic?: Critic | null
  policy: PolicySettings | PipelinedPolicySettings
}

/** Whether there is a critic that is a model of its own, as those of servers are. */
export const hasOwnCritic = ({ critic = null, policy }: WithCritic): boolean =>
  critic !== null && (isRemote(policy) || critic.own !== undefined)

/** The model of a critic of its own; null where there is none. @param start the model that the policy starts from */
export const ownCriticSource = (
  config: WithCritic & { model: { lora: LoraConfig | null }; seed: number | string },
  start: string,
): ModelSource | null => {
  if (!hasOwnCritic(config)) return null
  const { critic, model, seed } = config
  const { folder = null, lora = model.lora } = critic?.own ?? {}
  return { folder: folder === null ? start : modelPath(folder), lora: lora ?? undefined, seed }
}

/** What presets of a loss have as the term of a critic, where they have one. */
const USUAL_VALUE = canonicalJson(LOSS_PRESETS['gradus:rlcer'].value)

/** A loss beside the setting `critic`, whose term is that setting's: what a configuration keeps has none. */
export const lossBesideCritic = lossSettingSchema.transform((loss, context): LossSpec => {
  if (loss.value !== null && canonicalJson(loss.value) !== USUAL_VALUE)
    context.addIssue({
      code: 'custom',
      path: ['value'],
      message: "nothing; the critic's term is said by critic.coef and critic.clip",
    })
  return { ...loss, value: null }
})

/** The loss with the critic's term; without one where there is no critic. */
export const withCriticLoss = (loss: LossSpec, critic: Critic | null): LossSpec => ({
  ...loss,
  value: critic && { coef: critic.coef, clip: critic.clip },
})

/** Rollouts credited by the critic where there is one, else by advantages relative to the group. */
export const creditedBy = async <Problem, Grade>(
  critic: Critic | null,
  policy: Policy,
  groups: Groups<Graded<Problem, Grade>>,
  advantages_P_G: readonly (readonly number[])[],
  options: ScoringOptions,
): Promise<Credited<Problem, Grade>[][]> =>
  critic === null ? creditRollouts(groups, advantages_P_G) : creditWithCritic(policy, groups, critic, options)

/**
 * Rollouts credited by the critic's estimates of before the update; those without a reward are left out.
 * @throws ConfigError for a policy without a critic
 */
export const creditWithCritic = async <Problem, Grade>(
  policy: Policy,
  groups: Groups<Graded<Problem, Grade>>,
  { gamma, lambda, whitening }: Critic,
  options: ScoringOptions,
): Promise<Credited<Problem, Grade>[][]> =>
  creditByCritic(groups, await valuesOf(policy, groups, options), { gamma, lambda, whitening })

/** Mean squared distance of the critic's estimates from its targets; null where nothing was estimated. */
export const valueErrorOf = (credited: Groups<Credited<unknown, unknown>>): number | null => {
  let sum = 0
  let count = 0
  for (const { rollout, returns, oldValues } of credited.flat())
    for (const [t, written] of rollout.mask.entries()) {
      if (!returns || !oldValues || written === 0) continue
      sum += (returns[t] - oldValues[t]) ** 2
      count++
    }
  return count > 0 ? sum / count : null
}
