/** @file A critic as a setting of any recipe: PPO's value head in place of comparing the rollouts of a group. */

import { z } from 'zod'
import type { Policy } from '../../policy/policy.ts'
import type { LossSpec } from '../../rl/loss.ts'
import { LOSS_PRESETS } from '../../rl/loss-presets.ts'
import { type Credited, creditByCritic, creditRollouts, type Graded, type Groups } from '../../rl/rollout.ts'
import { scheduleSchema } from '../../rl/schedules.ts'
import { choice, lossSettingSchema, orNull } from '../../train/config.ts'
import { type ScoringOptions, valuesOf } from '../../train/scores.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { amount, fraction } from '../../util/setting-shapes.ts'

/** PPO with a value head; as a setting `critic: criticSchema.nullable().default(null)`, null for none. */
export const criticSchema = z.strictObject({
  learningRate: orNull(scheduleSchema, "Learning rate of the value head; null: as the policy's."),
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
})
export type Critic = z.output<typeof criticSchema>

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
 * @throws ConfigError for a policy without a value head
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
