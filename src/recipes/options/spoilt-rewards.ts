/** @file What stands between the truth and a reward in an experiment: spoilt rubrics, inverted verdicts, scores drawn at random. */

import type { z } from 'zod'
import { maxPoints, type Rubric, type Verdict } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/linear.ts'
import { perturbRubric } from '../../rubric/perturb.ts'
import { counted, creditOf, judge, type NullHandling } from '../../rubric/score.ts'
import type { Task } from '../../tasks/task.ts'
import { choice, orAbsent } from '../../train/config.ts'
import { Rng } from '../../util/rng.ts'
import { fraction } from '../../util/setting-shapes.ts'
import { refuse } from '../common/refuse.ts'
import type { RewardOption } from './option.ts'

/**
 * Rubrics spoilt on purpose (RuscaRL Table 14), for scaffold and reward alike; evaluation keeps the true ones. `shuffled` gives every
 * prompt another one's rubric: a negative control.
 */
const NOISES = ['none', 'inverse', 'negated', 'ambiguous', 'contradictory', 'removed', 'shuffled'] as const

const FLIPS = 'Probability that a verdict is inverted before it is scored, as by a noisy judge; absent: 0.'

/** Settings of experiments: what is paid has less to do with the answers, or nothing. */
const shape = {
  noise: choice(NOISES, 'none', 'Negative control: how the rubrics of training are spoilt.'),
  reward: choice(
    ['rubric', 'random'],
    'rubric',
    'What is rewarded: the score by the rubric, or, as a negative control, `random` numbers.',
  ),
  flipRate: fraction.default(0).describe(FLIPS),
}

/** Of methods that have no other of these settings. */
export const noisyJudgeShape = { flipRate: orAbsent(fraction, FLIPS) }

type Spoilt = z.output<z.ZodObject<typeof shape>>

/** Problems with their true rubrics. */
type RubricSource<Problem> = Pick<Task<Problem>, 'id' | 'rubric'>

/** Training's rubric of each problem. Depends on noise, seed and problem alone. */
export const trainingRubrics = <Problem>(
  { noise, seed }: Pick<Spoilt, 'noise'> & { seed: number | string },
  source: RubricSource<Problem>,
  problems: readonly Problem[],
): ((problem: Problem) => Rubric) => {
  if (noise === 'none') return problem => source.rubric(problem)
  const known = new Map<string, Rubric>()
  const others = noise === 'shuffled' ? shuffledProblems(problems, seed, source) : null
  const made = (problem: Problem, name: string) =>
    noise === 'shuffled'
      ? source.rubric(others?.get(name) ?? problem)
      : perturbRubric(source.rubric(problem), noise, `${seed}/${name}`).rubric
  return problem => {
    const name = source.id(problem)
    const rubric = known.get(name) ?? made(problem, name)
    known.set(name, rubric)
    return rubric
  }
}

/** Another problem for every problem, one to one. */
const shuffledProblems = <Problem>(
  problems: readonly Problem[],
  seed: number | string,
  { id }: RubricSource<Problem>,
): Map<string, Problem> => {
  if (problems.length < 2)
    refuse(
      `noise: expected another than "shuffled" with a task that lists fewer than two training problems, whose rubrics could change places, got ${problems.length}`,
      'choose another noise, or give the task a pool of problems',
    )
  const shuffled = new Rng(`shuffled rubrics/${seed}`).shuffle(problems)
  return new Map(shuffled.map((problem, i) => [id(problem), shuffled[(i + 1) % shuffled.length]]))
}

/**
 * The signed score (RuscaRL Eq. 4), neither clipped nor defined without positive points. A negated rubric may have none: it
 * divides by the sum of all points without sign, so that there is a signal at all (RuscaRL Table 14).
 */
export const trainingScore =
  (noise: Spoilt['noise'], nulls?: NullHandling) =>
  (rubric: Rubric, verdicts: readonly Verdict[]): number | null => {
    if (noise !== 'negated' || maxPoints(rubric) > 0) return signedScore(rubric, verdicts, { nulls }).score
    const entries = counted(judge(rubric, verdicts), nulls)
    const attainable = entries.reduce((sum, { points }) => sum + Math.abs(points), 0)
    const earned = entries.reduce((sum, { points, credit }) => sum + points * credit, 0)
    return attainable > 0 ? earned / attainable : null
  }

/**
 * The score of a held-out judge: null unless every criterion has a verdict. A judge that fails must not look like one that
 * has come to think less of the responses.
 */
export const completeScore = (rubric: Rubric, verdicts: readonly Verdict[]): number | null =>
  verdicts.some(verdict => creditOf(verdict) === null) ? null : trainingScore('none')(rubric, verdicts)

/** Verdicts with some inverted, by their key alone; those that a grader failed to give stay as they are. */
export const flippedVerdicts = (
  verdicts: readonly Verdict[],
  flipRate: number,
  key: string | number,
): Verdict[] => {
  if (flipRate === 0) return [...verdicts]
  const rng = new Rng(`flipped verdicts/${key}`)
  return verdicts.map(verdict => {
    const flips = rng.next() < flipRate
    return flips && verdict.met !== null ? turned(verdict) : verdict
  })
}

const turned = ({ met, credit, level, ...verdict }: Verdict): Verdict => ({
  ...verdict,
  met: !met,
  ...(credit !== undefined && { credit: 1 - credit }),
  ...(level !== undefined && { level: (2 - level) as 0 | 1 | 2 }),
})

export const spoiltRewards: RewardOption<typeof shape> = {
  shape,
  refuse({ noise = 'none', flipRate = 0 }, { trueRubrics, unpaid, unjudged }) {
    if (noise !== 'none' && trueRubrics)
      refuse(`noise: expected "none" with ${trueRubrics}, got "${noise}"`, 'leave it out')
    const ignored = unpaid ?? unjudged
    if (flipRate > 0 && ignored) refuse(`flipRate: expected 0 with ${ignored}`, 'set one of the two back')
  },
  score: ({ noise = 'none' }, rule, nulls) => (noise === 'none' ? rule : trainingScore(noise, nulls)),
  plan: ({ noise, flipRate = 0 }) => [
    ...(noise === undefined ? [] : [`rubrics      ${noise === 'none' ? 'as they are' : noise}`]),
    ...(flipRate > 0 ? [`verdicts     ${Math.round(100 * flipRate)}% inverted`] : []),
  ],
  facts({ noise, reward, flipRate = 0 }) {
    const unpaid = reward === 'random' ? 'reward "random", which no criterion can change' : null
    return {
      ...{ unpaid, negated: noise === 'negated' },
      noise: unpaid ? 'reward "random"' : flipRate > 0 ? 'flipRate' : null,
    }
  },
  /** Draws depend on the rollout's key alone: neither the order in which rollouts are graded nor a resume changes them. */
  noise({ reward, flipRate = 0 }) {
    const isRandom = reward === 'random'
    if (!isRandom && flipRate === 0) return null
    return {
      verdicts: (verdicts, key) => flippedVerdicts(verdicts, flipRate, key),
      // It has nothing to do with the response, nor with whether there is a score.
      score: (score, key) => (isRandom ? new Rng(`random score/${key}`).next() : score),
    }
  },
  spoils: ({ noise = 'none', flipRate = 0, reward }) =>
    noise !== 'none' || flipRate > 0 || reward === 'random',
}
