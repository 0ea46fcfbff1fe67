/** @file Judges of answers that training never hears: they weigh criteria differently, and err, each by a seed of its own. */

import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/index.ts'
import { creditOf } from '../../rubric/score.ts'
import { Rng } from '../../util/rng.ts'

export interface RitScriptedJudge {
  name: string
  /** Spread of the logarithm of a criterion's weight: 0 weighs as the rubric does. */
  taste: number
  /** Chance that a verdict is inverted. */
  errs: number
}

/** Judges as training does. */
export const TRAINING_JUDGE: RitScriptedJudge = { name: 'judge.train', taste: 0, errs: 0 }

/** The judge of training, and four that it never hears, as RiT Table 4 has five. */
export const JUDGES: readonly RitScriptedJudge[] = [
  TRAINING_JUDGE,
  { name: 'judge.held-1', taste: 0.7, errs: 0 },
  { name: 'judge.held-2', taste: 0.7, errs: 0.05 },
  { name: 'judge.held-3', taste: 0, errs: 0.1 },
  { name: 'judge.held-4', taste: 1.2, errs: 0.1 },
]

/**
 * What a judge makes of an answer, in [0, 1]; null where nothing is known of it. It depends on the judge, the criteria and the
 * answer's key alone, so that the same answer gets the same score.
 */
export const judgedBy = (
  { name, taste, errs }: RitScriptedJudge,
  { criteria }: Rubric,
  verdicts: readonly Verdict[],
  key: string,
): number | null => {
  const known = new Set(verdicts.map(({ criterionId }) => criterionId))
  const own: Rubric = {
    criteria: criteria
      .filter(({ id }) => known.has(id))
      .map(criterion => ({
        ...criterion,
        points: criterion.points * Math.exp(taste * new Rng(`${name}/taste/${criterion.id}`).normal()),
      })),
  }
  const ids = new Set(own.criteria.map(({ id }) => id))
  const rng = new Rng(`${name}/errs/${key}`)
  const seen = verdicts
    .filter(({ criterionId }) => ids.has(criterionId))
    .map(verdict => {
      const flips = rng.next() < errs
      const credit = creditOf(verdict)
      return flips && credit !== null ? { ...verdict, met: !verdict.met, credit: 1 - credit } : verdict
    })
  const { score } = signedScore(own, seen)
  return score === null ? null : Math.max(0, score)
}
