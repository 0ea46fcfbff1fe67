/** @file From both roles' rewards to advantages, apart from each other: by a critic, or by leaving one out. */

import type { Policy } from '../../policy/policy.ts'
import { type Advantages, batchNormalised, grpoAdvantages, rlooAdvantages } from '../../rl/advantages.ts'
import { type Credited, creditRollouts, type Graded, type Groups, writtenTokens } from '../../rl/rollout.ts'
import { creditWithCritic } from '../common/critic.ts'
import { normalisedAdvantages } from '../options/normalise.ts'
import type { RlcerConfig } from './config.ts'
import type { QuestionRollouts } from './exploration.ts'
import { REASONER_PARTS, RUBRICATOR_PARTS } from './rewards.ts'

type CreditSettings = Pick<RlcerConfig, 'critic' | 'advantage' | 'reasonerReward' | 'ratio' | 'rollout'> & {
  rubricator: Pick<RlcerConfig['rubricator'], 'evolving'>
}

/** Rollouts of both roles with what they are taught. */
export interface CreditedStep {
  credited: Credited<unknown, unknown>[]
  /** With a critic: those of which nothing is known; it has no target for them, and they are no part of an update. */
  unknown: Credited<unknown, unknown>[]
  /** Of the reasoners' groups: share with equal rewards. Null with a critic, which compares no groups. */
  zeroVarianceGroups: number | null
}

export const creditStep = async <Problem>(
  policy: Policy,
  questions: readonly QuestionRollouts<Problem>[],
  config: CreditSettings,
): Promise<CreditedStep> => {
  const reasoners: Groups<Graded<unknown, unknown>> = questions.map(own => own.reasoners)
  const rubricators: Groups<Graded<unknown, unknown>> = questions.map(own => own.rubricators)
  const { critic, rollout, ratio, rubricator } = config
  if (critic !== null) {
    const all = [...reasoners, ...rubricators].flat()
    const known = all.filter(({ reward }) => reward !== null)
    const options = { temperature: rollout.temperature, ratio }
    const credited = (await creditWithCritic(policy, [known], critic, options)).flat()
    const unknown = all
      .filter(({ reward }) => reward === null)
      .map(item => ({ ...item, advantages: new Float32Array(item.rollout.tokens.length) }))
    return { credited, unknown, zeroVarianceGroups: null }
  }
  const ofReasoners = roleAdvantages(
    reasoners,
    'mean',
    REASONER_PARTS[config.reasonerReward],
    config.advantage,
  )
  const paid = RUBRICATOR_PARTS.filter(part => part !== 'evolving' || rubricator.evolving)
  const ofRubricators = roleAdvantages(rubricators, 'leave-one-out', paid, config.advantage)
  const credited = [
    ...creditRollouts(reasoners, ofReasoners.advantages_P_G).flat(),
    ...creditRollouts(rubricators, ofRubricators.advantages_P_G).flat(),
  ]
  const { zeroVarianceGroups, groups } = ofReasoners
  return { credited, unknown: [], zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups) }
}

/**
 * Advantages within questions. Reasoners share a prompt, so the group's mean is their baseline; each rubricator has a prompt of its
 * own, and the others of its question are: a control variate that does not depend on the rollout itself.
 */
export const roleAdvantages = (
  groups: Groups<Graded<unknown, unknown>>,
  baseline: 'mean' | 'leave-one-out',
  parts: readonly string[],
  advantage: RlcerConfig['advantage'],
): Advantages => {
  const { scale, ddof, epsilon } = advantage
  const weights = Object.fromEntries(parts.map(name => [name, 1]))
  const whole = (known: number[][]): Advantages => {
    const centred = baseline === 'mean' ? grpoAdvantages(known, { scale: 'none' }) : rlooAdvantages(known)
    if (scale === 'none') return centred
    if (scale === 'group') return grpoAdvantages(known, { ddof, epsilon })
    const normalised = batchNormalised(centred.advantages_P_G, { ddof, epsilon })
    // The mean that is taken off is rounding: groups with nothing to compare stay at 0, and can be told by it.
    const advantages_P_G = normalised.map((group, p) =>
      centred.advantages_P_G[p].every(a => a === 0) ? group.map(() => 0) : group,
    )
    return { ...centred, advantages_P_G }
  }
  return normalisedAdvantages({ advantage }, groups, { weights, whole })
}

/**
 * Both roles' objectives added up (Eq. 13) where the loss is a mean over the tokens of both: each role's advantages are scaled
 * by all tokens over its own, so that neither counts for more because it writes more, or because more of it is left out. The
 * clipped term is linear in the advantage, so this is the sum of two means.
 */
export const balanceRoles = (items: readonly Credited<unknown, unknown>[]): Credited<unknown, unknown>[] => {
  const tokens = new Map<string, number>()
  for (const { rollout } of items)
    tokens.set(rollout.role, (tokens.get(rollout.role) ?? 0) + writtenTokens(rollout))
  const all = [...tokens.values()].reduce((sum, count) => sum + count, 0)
  return items.map(item => {
    const own = tokens.get(item.rollout.role)!
    if (own === all || own === 0) return item
    return { ...item, advantages: item.advantages.map(a => (a * all) / own) }
  })
}

/**
 * What enters the update: rollouts that say nothing to the policy leave it, unless a critic learns from them, and both roles
 * weigh alike unless pooled.
 */
export const learnable = (
  credited: readonly Credited<unknown, unknown>[],
  { dropZero, critic, roles }: Pick<RlcerConfig, 'dropZero' | 'critic' | 'roles'>,
): readonly Credited<unknown, unknown>[] => {
  const leaves = dropZero && critic === null
  const kept = leaves ? credited.filter(({ advantages }) => advantages.some(a => a !== 0)) : credited
  return roles === 'sum' ? balanceRoles(kept) : kept
}
