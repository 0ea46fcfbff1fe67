/** @file How advantages spread over a proof's tokens, and which rollouts are learnt. */

import type { StepGrade } from '../../grade/logic/grade.ts'
import { stepAdvantages } from '../../rl/advantages.ts'
import { stepwiseCredit } from '../../rl/datum.ts'
import { type Credited, creditRollouts, type Graded, type Groups } from '../../rl/rollout.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { tokenSpan } from '../../tasks/logic/format.ts'
import type { LogicResponse } from '../../tasks/logic/task.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import type { RubricAsRewardConfig } from './config.ts'

/** A rollout with what its graders said of it. */
type LogicSaid = LogicResponse & ScoredResponse
export type LogicRollout = Graded<LogicTaskExample, LogicSaid>
export type CreditedLogicRollout = Credited<LogicTaskExample, LogicSaid>

/** Each step's tokens carry the step's own verdict, normalised over all steps of the group, beside the rollout's advantage. */
const creditSteps = (
  groups: Groups<LogicRollout>,
  advantages_P_G: readonly (readonly number[])[],
  { advantage: settings, stepWeight }: Pick<RubricAsRewardConfig, 'advantage' | 'stepWeight'>,
): CreditedLogicRollout[][] => {
  const verdicts_P_G_S = groups.map(group =>
    group.map(({ grade: { grade } }) => (grade.excluded === null ? grade.steps.map(stepVerdict) : [])),
  )
  const steps_P_G_S = stepAdvantages(verdicts_P_G_S, settings)
  return groups.map((group, p) =>
    group.map((item, g) => {
      const {
        rollout,
        grade: { grade, response },
      } = item
      if (grade.excluded !== null) return { ...item, advantages: new Float32Array(rollout.tokens.length) }
      const own = advantages_P_G[p][g]
      const placed = grade.steps.flatMap((step, s) => {
        const span = tokenSpan(response, ...step.span)
        return span ? [{ span, advantage: own + stepWeight * steps_P_G_S[p][g][s] }] : []
      })
      const advantages = stepwiseCredit(
        placed.map(({ span }) => span),
        placed.map(({ advantage }) => advantage),
        rollout.mask,
        own,
      )
      return { ...item, advantages }
    }),
  )
}

/** The step's graded credit; a repeated step, or an entailed one asserted over the heads of steps between, earns nothing. */
const stepVerdict = ({ credit, repeated, supported, status }: StepGrade): number =>
  repeated || (supported === false && status === 'entailed') ? 0 : (credit ?? 0)

/** Which rollouts of a group are learnt: 1 for those that are accepted, earlier ones first. */
const acceptedOf = (
  group: readonly LogicRollout[],
  { distinct = false, atMost = Number.POSITIVE_INFINITY }: Partial<RubricAsRewardConfig['accepted']> = {},
): number[] => {
  const seen = new Set<string>()
  let count = 0
  return group.map(({ reward, grade: { response } }) => {
    // Of text, not of tokens: the same text may be cut in several ways.
    const { text } = response
    // Condition `proof` pays nothing else.
    const isGood = (reward ?? 0) > 0
    if (!isGood || count >= atMost || (distinct && seen.has(text))) return 0
    seen.add(text)
    count++
    return 1
  })
}

/** What each rollout is taught, by method and credit; by rejection those that are correct and proved are learnt, and no others. */
export const credit = (
  config: Pick<RubricAsRewardConfig, 'method' | 'credit' | 'accepted' | 'advantage' | 'stepWeight'>,
  groups: Groups<LogicRollout>,
  advantages_P_G: readonly (readonly number[])[],
): CreditedLogicRollout[][] => {
  if (config.method !== 'rejection' && config.credit === 'per-step')
    return creditSteps(groups, advantages_P_G, config)
  const accepted_P_G = () => groups.map(group => acceptedOf(group, config.accepted))
  return creditRollouts(groups, config.method === 'rejection' ? accepted_P_G() : advantages_P_G)
}

/** Of rejection: cross-entropy on the accepted rollouts; the policy term with advantage 1 and no ratio is just that. */
export const learntLoss = ({
  method,
  loss,
}: Pick<RubricAsRewardConfig, 'method' | 'loss'>): RubricAsRewardConfig['loss'] =>
  method === 'rejection'
    ? { ...loss, policy: { ...loss.policy, kind: 'reinforce' }, kl: { kind: 'none', coef: 0 } }
    : loss
