/** @file How far a verifier says what execution says: a learnt one drifts as the policy that it judges changes. */

import type { Verdict } from '../../rubric/criterion.ts'

/** A verdict beside the truth, on a criterion with these points. */
export interface Compared {
  points: number
  said: Verdict
  truth: Verdict
}

export interface VerifierAgreement {
  /** Share of verdicts that are as execution has them. */
  agreement: number | null
  /** Share of criteria that are not met and are said to be. */
  falseAccepts: number | null
  /** Share of criteria that are met and are said not to be. */
  falseRejects: number | null
  /** Verdicts that both gave. */
  n: number
}

const answerShare = <Item>(items: readonly Item[], test: (item: Item) => boolean): number | null =>
  items.length > 0 ? items.filter(test).length / items.length : null

const agreementOf = (compared: readonly Compared[]): VerifierAgreement => {
  const both = compared.filter(({ said, truth }) => said.met !== null && truth.met !== null)
  return {
    agreement: answerShare(both, ({ said, truth }) => said.met === truth.met),
    falseAccepts: answerShare(
      both.filter(({ truth }) => !truth.met),
      ({ said }) => said.met === true,
    ),
    falseRejects: answerShare(
      both.filter(({ truth }) => truth.met === true),
      ({ said }) => !said.met,
    ),
    n: both.length,
  }
}

/** The same for rewards and for penalties by themselves: they err in different directions. */
export const agreementBySign = (
  compared: readonly Compared[],
): Record<'all' | 'reward' | 'penalty', VerifierAgreement> => ({
  all: agreementOf(compared),
  reward: agreementOf(compared.filter(({ points }) => points > 0)),
  penalty: agreementOf(compared.filter(({ points }) => points < 0)),
})

/** As figures of a step or an evaluation, by the sign of the points. */
export const agreementMetrics = (compared: readonly Compared[]) => {
  const { reward, penalty } = agreementBySign(compared)
  return {
    verifierAgreement: { reward: reward.agreement, penalty: penalty.agreement },
    verifierFalseAccepts: { reward: reward.falseAccepts, penalty: penalty.falseAccepts },
    verifierFalseRejects: { reward: reward.falseRejects, penalty: penalty.falseRejects },
  }
}
