/** @file What a teacher's log-probs make of a step's rollouts: an advantage a token, and how far the two models are apart. */

import type { Credited, Graded, Groups } from '../../rl/rollout.ts'
import { NumericError } from '../../util/errors.ts'
import { mean } from '../../util/statistics.ts'

/** A token counts as changed where the teacher finds it at least twice as likely as the student, or half. */
const CHANGED = Math.log(2)

/** Teacher and student on the student's own tokens. */
interface TeacherGap {
  /** Mean of log π - log π_T over the tokens: the estimate of KL(student || teacher), nats a token. */
  kl: number
  /** Share of tokens that the teacher finds at least twice as likely as the student, or half. */
  changes: number
}

/**
 * The advantage of a token: its log-prob under the teacher less that under the policy that sampled it; 0 where the environment wrote.
 * @param teacher log-probs one a token, rollout by rollout in the order of the groups
 * @param baseline `batch`: less the mean over all tokens
 * @throws NumericError for log-probs of a teacher that are not finite
 */
export const teacherCredit = <Problem, Grade>(
  groups: Groups<Graded<Problem, Grade>>,
  teacher: readonly ArrayLike<number>[],
  baseline: 'batch' | 'none',
): { credited: Credited<Problem, Grade>[][]; gap: TeacherGap } => {
  const rollouts = groups.flat().map(({ rollout }) => rollout)
  const gaps = rollouts.flatMap(({ logprobs, mask, key }, i) =>
    Array.from(logprobs, (own, t) => teacher[i][t] - own).filter((gap, t) => {
      if (mask[t] === 1 && !Number.isFinite(gap))
        throw new NumericError(
          `${key}: expected a log-prob of the teacher for token ${t}, got ${teacher[i][t]}`,
        )
      return mask[t] === 1
    }),
  )
  const meanGap = gaps.length > 0 ? mean(gaps) : 0
  const level = baseline === 'batch' ? meanGap : 0
  const of = teacher.values()
  const credited = groups.map(group =>
    group.map((item): Credited<Problem, Grade> => {
      const { logprobs, mask } = item.rollout
      const taught = of.next().value!
      return { ...item, advantages: logprobs.map((own, t) => (mask[t] === 0 ? 0 : taught[t] - own - level)) }
    }),
  )
  const changes = gaps.length > 0 ? mean(gaps.map(gap => Number(Math.abs(gap) >= CHANGED))) : 0
  return { credited, gap: { kl: -meanGap, changes } }
}
