/** @file Graders whose errors are known: constant, scripted, and noisy ones, for experiments and tests. */

import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { GradeItem, GradeOptions, Grader } from '../grader.ts'

/** What a scripted grader says: met or not, a credit in [0, 1], or no verdict. */
export type Opinion = boolean | number | null

/**
 * A grader that is a function. An aborted signal stops it, as any grader.
 * @example
 * const grader = scriptedGrader(({ response }, { id }) => (id === 'warm' ? null : response.includes('Seine')))
 * const criteria = [{ id: 'river', text: 'Names the river.', points: 2 }, { id: 'warm', text: 'Is warm.', points: 1 }]
 * const verdicts = await grader.grade({ prompt: [], response: 'The Seine.' }, criteria)
 * verdicts.map(({ met }) => met) // [ true, null ]
 */
export const scriptedGrader = (
  opinion: (item: GradeItem, criterion: Criterion, options: GradeOptions) => Opinion | Promise<Opinion>,
): Grader => ({
  grade: async (item, criteria, options = {}) => {
    options.signal?.throwIfAborted()
    const opinions = await Promise.all(criteria.map(criterion => opinion(item, criterion, options)))
    return criteria.map(({ id }, index) => asVerdict(id, opinions[index]))
  },
})

/**
 * A grader that always says the same: a negative control.
 * @example
 * const [verdict] = await constantGrader(0.25).grade({ prompt: [], response: '' }, [{ id: 'a', text: 'A.', points: 1 }])
 * verdict.credit // 0.25
 * verdict.met // false
 */
export const constantGrader = (opinion: Opinion): Grader => scriptedGrader(() => opinion)

const asVerdict = (criterionId: string, opinion: Opinion): Verdict => {
  if (opinion === null)
    return { criterionId, met: null, explanation: 'scripted to have none', source: 'rule' }
  if (typeof opinion === 'boolean') return { criterionId, met: opinion, source: 'rule' }
  return { criterionId, met: opinion > 0.5, credit: opinion, source: 'rule' }
}

export interface NoiseOptions {
  /** Chance that a verdict is inverted: met to not met, credit c to 1 - c. */
  flipRate?: number
  /** Chance that a verdict is withheld. */
  nullRate?: number
  seed: number | string
}

/**
 * Makes a grader err at known rates. Which verdicts are hit depends on seed, conversation, response, criterion and repeat
 * alone: not on the order of calls, and not on what else is graded.
 * @throws ConfigError for rates outside [0, 1]
 * @example
 * const grader = noisyGrader(constantGrader(true), { nullRate: 1, seed: 1 })
 * const [verdict] = await grader.grade({ prompt: [], response: '' }, [{ id: 'a', text: 'A.', points: 1 }])
 * verdict.met // null
 */
export const noisyGrader = (grader: Grader, { flipRate = 0, nullRate = 0, seed }: NoiseOptions): Grader => {
  if (![flipRate, nullRate].every(rate => rate >= 0 && rate <= 1))
    throw new ConfigError(
      `noisyGrader: expected rates in [0, 1], got flipRate ${flipRate} and nullRate ${nullRate}; give shares`,
    )
  return {
    async grade(item, criteria, options = {}) {
      const verdicts = await grader.grade(item, criteria, options)
      const place = JSON.stringify([item.id, item.prompt, item.response, options.sampleIndex ?? 0])
      return verdicts.map((verdict, index) => {
        const rng = new Rng(`${seed}/${place}/${criteria[index].id}`)
        // Both drawn at once, so that one rate does not change which verdicts the other hits.
        const [hidden, flipped] = [rng.next() < nullRate, rng.next() < flipRate]
        if (hidden) return asVerdict(verdict.criterionId, null)
        return flipped ? inverted(verdict) : verdict
      })
    },
    async close() {
      await grader.close?.()
    },
  }
}

const inverted = (verdict: Verdict): Verdict => {
  const { met, credit, level } = verdict
  if (met === null) return verdict
  if (credit === undefined) return { ...verdict, met: !met }
  const graded = level === undefined ? {} : { level: (2 - level) as 0 | 1 | 2 }
  return { ...verdict, met: 1 - credit > 0.5, credit: 1 - credit, ...graded }
}
