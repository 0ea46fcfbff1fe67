/** @file The rubrics of training: the true ones, spoilt ones, or another problem's; and how verdicts on them are scored. */

import { maxPoints, type Rubric, type Verdict } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/linear.ts'
import { perturbRubric } from '../../rubric/perturb.ts'
import { counted, creditOf, judge, type NullHandling } from '../../rubric/score.ts'
import { Rng } from '../../util/rng.ts'
import type { RuscarlConfig } from './config.ts'

export interface RubricSource<Problem> {
  name(problem: Problem): string
  /** The true rubric. */
  rubric(problem: Problem): Rubric
}

/** Training's rubric of each problem. Depends on noise, seed and problem alone. */
export const trainingRubrics = <Problem>(
  { noise, seed }: Pick<RuscarlConfig, 'noise' | 'seed'>,
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
    const name = source.name(problem)
    const rubric = known.get(name) ?? made(problem, name)
    known.set(name, rubric)
    return rubric
  }
}

/** Another problem for every problem, one to one. */
const shuffledProblems = <Problem>(
  problems: readonly Problem[],
  seed: number | string,
  { name }: RubricSource<Problem>,
): Map<string, Problem> => {
  const shuffled = new Rng(`shuffled rubrics/${seed}`).shuffle(problems)
  return new Map(shuffled.map((problem, i) => [name(problem), shuffled[(i + 1) % shuffled.length]]))
}

/**
 * The signed score (RuscaRL Eq. 4), neither clipped nor defined without positive points. A negated rubric may have none: it
 * divides by the sum of all points without sign, so that there is a signal at all (spec 4.6).
 */
export const trainingScore =
  (noise: RuscarlConfig['noise'], nulls?: NullHandling) =>
  (rubric: Rubric, verdicts: readonly Verdict[]): number | null => {
    if (noise !== 'negated' || maxPoints(rubric) > 0) return signedScore(rubric, verdicts, { nulls }).score
    const entries = counted(judge(rubric, verdicts), nulls)
    const attainable = entries.reduce((sum, { points }) => sum + Math.abs(points), 0)
    const earned = entries.reduce((sum, { points, credit }) => sum + points * credit, 0)
    return attainable > 0 ? earned / attainable : null
  }

/**
 * The score of a second opinion: null unless every criterion has a verdict. A judge that fails must not look like one that
 * has come to think less of the responses.
 */
export const completeScore = (rubric: Rubric, verdicts: readonly Verdict[]): number | null =>
  verdicts.some(verdict => creditOf(verdict) === null) ? null : trainingScore('none')(rubric, verdicts)
