/** @file How training scores the answers of a task: options of any method with rubrics, their settings and how they are put together. */

import { z } from 'zod'
import { maxPoints, type Rubric, type Verdict } from '../../rubric/criterion.ts'
import { rubricDropoutSchema } from '../../rubric/dropout.ts'
import { signedScore } from '../../rubric/linear.ts'
import { perturbRubric } from '../../rubric/perturb.ts'
import { counted, creditOf, judge, type NullHandling } from '../../rubric/score.ts'
import { type ScoredTask, type Scoring, scored } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import { Rng } from '../../util/rng.ts'
import { assertGroups, criterionGroupsSchema, inGroups } from './criterion-groups.ts'
import { type GroupScorer, withGroupJudge } from './group-reward.ts'
import { groupRewardSchema } from './group-reward-config.ts'
import { RewardNoise } from './reward-noise.ts'
import { withDropout } from './rubric-dropout.ts'

/**
 * Rubrics spoilt on purpose (RuscaRL Table 14), for scaffold and reward alike; evaluation keeps the true ones. `shuffled` gives every
 * prompt another one's rubric: a negative control.
 */
const NOISES = ['none', 'inverse', 'negated', 'ambiguous', 'contradictory', 'removed', 'shuffled'] as const

/** Settings of experiments: what is paid has less to do with the answers, or nothing. */
export const spoiltRewardsShape = {
  noise: z.enum(NOISES).default('none').describe('Rubrics spoilt on purpose; a negative control.'),
  reward: z
    .enum(['rubric', 'random'])
    .default('rubric')
    .describe('`random`: rewards drawn at random, a negative control.'),
  flipRate: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe('Chance that a verdict is inverted before it is scored: a noisy judge.'),
}

/** Settings of what is made of verdicts. */
export const rewardOptionsShape = {
  rubricDropout: rubricDropoutSchema
    .optional()
    .describe(
      'Leave criteria out of the reward at random, drawn for each prompt and step; absent: none. Evaluation has the whole rubric.',
    ),
  criterionGroups: criterionGroupsSchema
    .optional()
    .describe(
      'Criteria whose points are paid only together; absent: each by itself. Evaluation counts each by itself.',
    ),
  groupJudge: groupRewardSchema
    .optional()
    .describe(
      "What is paid: scores of a judge that sees all responses to a prompt at once, in place of the rubric's; absent: the rubric's.",
    ),
}

const shape = { ...spoiltRewardsShape, ...rewardOptionsShape }
type RewardOptions = z.output<z.ZodObject<typeof shape>> & { seed: number | string }

/** Problems with their true rubrics. */
type RubricSource<Problem> = Pick<Task<Problem>, 'id' | 'rubric'>

/** Training's rubric of each problem. Depends on noise, seed and problem alone. */
export const trainingRubrics = <Problem>(
  { noise, seed }: Pick<RewardOptions, 'noise' | 'seed'>,
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
 * divides by the sum of all points without sign, so that there is a signal at all (RuscaRL Table 14).
 */
export const trainingScore =
  (noise: RewardOptions['noise'], nulls?: NullHandling) =>
  (rubric: Rubric, verdicts: readonly Verdict[]): number | null => {
    if (noise !== 'negated' || maxPoints(rubric) > 0) return signedScore(rubric, verdicts, { nulls }).score
    const entries = counted(judge(rubric, verdicts), nulls)
    const attainable = entries.reduce((sum, { points }) => sum + Math.abs(points), 0)
    const earned = entries.reduce((sum, { points, credit }) => sum + points * credit, 0)
    return attainable > 0 ? earned / attainable : null
  }

/** How training grades beside what the task's graders say. */
interface TrainingOptions<Problem>
  extends Pick<Scoring<Problem>, 'logged'>,
    Required<Pick<Scoring<Problem>, 'rubricOf'>> {
  nulls?: NullHandling
  /** A judge of groups, made of the task as training's graders score it alone. */
  groups?(heard: ScoredTask<Problem>): GroupScorer<Problem> | null
}

/**
 * The task as training grades it: by the configured rubrics, with every option that is set.
 * @throws ConfigError for groups of criteria that no rubric has
 */
export const asTrained = <Problem>(
  config: RewardOptions,
  task: Task<Problem>,
  { rubricOf, logged, nulls, groups }: TrainingOptions<Problem>,
): { heard: ScoredTask<Problem>; reward: ScoredTask<Problem> } => {
  const { noise, flipRate, reward, criterionGroups } = config
  // Negated, merits are penalties.
  if (noise !== 'negated') assertGroups(criterionGroups, task.train.map(rubricOf))
  const heard = scored(task, {
    rubricOf,
    // A spoilt rubric says something else than the run's.
    ...(noise === 'none' && { logged }),
    score: inGroups(criterionGroups, trainingScore(noise, nulls)),
    noise: new RewardNoise({ flipRate, randomScores: reward === 'random' }),
  })
  const dropped = withDropout(config, heard)
  const scorer = groups?.(heard) ?? null
  return { heard, reward: scorer ? withGroupJudge(config, dropped, scorer) : dropped }
}

/** Whether an option makes rewards another thing than the truth, so that the truth is worth watching beside them. */
export const isSpoilt = ({ noise, flipRate, reward, groupJudge, criterionGroups }: RewardOptions): boolean =>
  [groupJudge, criterionGroups].some(option => option !== undefined) ||
  noise !== 'none' ||
  flipRate > 0 ||
  reward === 'random'

/**
 * The score of a held-out judge: null unless every criterion has a verdict. A judge that fails must not look like one that
 * has come to think less of the responses.
 */
export const completeScore = (rubric: Rubric, verdicts: readonly Verdict[]): number | null =>
  verdicts.some(verdict => creditOf(verdict) === null) ? null : trainingScore('none')(rubric, verdicts)
