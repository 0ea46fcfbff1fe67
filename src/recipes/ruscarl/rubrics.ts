/** @file The rubrics of training: the true ones, spoilt ones, or another problem's; and how verdicts on them are scored. */

import { maxPoints, type Rubric, type Verdict } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/linear.ts'
import { perturbRubric } from '../../rubric/perturb.ts'
import { counted, creditOf, judge, type NullHandling } from '../../rubric/score.ts'
import { type ScoredTask, type Scoring, scored } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import { Rng } from '../../util/rng.ts'
import { RewardNoise } from '../checklist/noise.ts'
import type { RuscarlConfig } from './config.ts'

/** Problems with their true rubrics. */
type RubricSource<Problem> = Pick<Task<Problem>, 'id' | 'rubric'>

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
  const shuffled = new Rng(`shuffled rubrics/${seed}`).shuffle(problems)
  return new Map(shuffled.map((problem, i) => [id(problem), shuffled[(i + 1) % shuffled.length]]))
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

/** How training grades beside what the task's graders say. */
interface TrainingOptions<Problem> extends Pick<Scoring<Problem>, 'rubricOf' | 'told'> {
  nulls?: NullHandling
}

/** The task as training grades it: by the configured rubrics, with the noise of an experiment. */
export const asTrained = <Problem>(
  { noise, flipRate, reward }: Pick<RuscarlConfig, 'noise' | 'flipRate' | 'reward'>,
  task: Task<Problem>,
  { rubricOf, told, nulls }: TrainingOptions<Problem>,
): ScoredTask<Problem> =>
  scored(task, {
    rubricOf,
    // A spoilt rubric says something else than the run's.
    ...(noise === 'none' && { told }),
    score: trainingScore(noise, nulls),
    noise: new RewardNoise({ flipRate, randomScores: reward === 'random' }),
  })

/**
 * The score of a second opinion: null unless every criterion has a verdict. A judge that fails must not look like one that
 * has come to think less of the responses.
 */
export const completeScore = (rubric: Rubric, verdicts: readonly Verdict[]): number | null =>
  verdicts.some(verdict => creditOf(verdict) === null) ? null : trainingScore('none')(rubric, verdicts)
