/** @file How advantages spread over a proof's tokens, where that is not evenly. */

import type { StepGrade } from '../../grade/logic/grade.ts'
import { stepAdvantages } from '../../rl/advantages.ts'
import { stepwiseCredit } from '../../rl/datum.ts'
import { creditRollouts, type Groups } from '../../rl/rollout.ts'
import { tokensOfSpan } from '../logic/format.ts'
import type { RubricAsRewardConfig } from './config.ts'
import type { CreditedLogicRollout, LogicRollout } from './rollout.ts'

/** Each step's tokens carry the step's own verdict, normalised over all steps of the group, beside the rollout's advantage. */
export const creditSteps = (
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
        const span = tokensOfSpan(response, ...step.span)
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
  { distinct = false, atMost = Number.POSITIVE_INFINITY }: { distinct?: boolean; atMost?: number },
): number[] => {
  const seen = new Set<string>()
  let count = 0
  return group.map(({ grade: { rewarded, response } }) => {
    // Of text, not of tokens: the same text may be cut in several ways.
    const { text } = response
    const isGood = rewarded.excluded === null && rewarded.correctAndProved === true
    if (!isGood || count >= atMost || (distinct && seen.has(text))) return 0
    seen.add(text)
    count++
    return 1
  })
}

/** Rejection sampling: learn the rollouts that are correct and proved, leave out the others. */
export const creditAccepted = (
  groups: Groups<LogicRollout>,
  { accepted }: Pick<RubricAsRewardConfig, 'accepted'> = {},
): CreditedLogicRollout[][] =>
  creditRollouts(
    groups,
    groups.map(group => acceptedOf(group, accepted ?? {})),
  )
