/** @file Responses scored by a rubric: what graders say of one, and what it is worth. */

import type { Reward, Rollout } from '../rl/rollout.ts'
import type { Criterion, JudgeCall, Rubric, Verdict } from '../rubric/criterion.ts'
import { withoutCriteria } from '../rubric/dropout.ts'
import { signedScore } from '../rubric/index.ts'
import { creditOf } from '../rubric/score.ts'
import type { Item, Task, Verdicts } from './task.ts'

/**
 * What verdicts are worth; null where there is nothing to score.
 * @param said what graders said, where `verdicts` are those that points go by
 */
export type ResponseScoring = (
  rubric: Rubric,
  verdicts: readonly Verdict[],
  said?: readonly Verdict[],
) => number | null

/** What a task's graders say of one response. */
export interface ScoredResponse extends Verdicts {
  /** By the task's scoring rule; null where the rubric has nothing to score, or graders failed. */
  score: number | null
  /** The score is null because graders failed: nothing is known of the response. */
  unjudged?: boolean
  /** Criteria that the score leaves out; absent where nothing is ever left out. */
  leftOut?: LeftOut
  /** Where graders were asked about those all the same: the score by all criteria. */
  whole?: number | null
  /** What a judge said that saw all responses to the problem at once; it is what is paid then. */
  relative?: { score: number | null; explanation: string | null; call?: JudgeCall }
  /** What is added to its reward beside the score, by name; penalties are below 0. */
  charges?: Readonly<Record<string, number>>
  /** What a criterion counts as in statistics over prompts, by its id; itself where not given. */
  kinds?: Readonly<Record<string, string>>
}

/** Whether there is no score only for lack of verdicts: had they been given, whatever they said, there would be one. */
const lacksVerdicts = (score: ResponseScoring, rubric: Rubric, verdicts: readonly Verdict[]): boolean => {
  const given = verdicts.map(own => (creditOf(own) === null ? { ...own, met: false } : own))
  return score(rubric, verdicts) === null && score(rubric, given) !== null
}

/** What training pays: nothing for a rubric with nothing to score; null where graders failed, which is not a zero. */
export const rewardOf = ({
  score,
  unjudged = false,
}: Pick<ScoredResponse, 'score' | 'unjudged'> & Partial<ScoredResponse>): number | null =>
  unjudged ? null : (score ?? 0)

/** Criteria that a score leaves out, by id. */
export interface LeftOut {
  ids: ReadonlySet<string>
  /** Graders are asked about them all the same. */
  asked: boolean
}

/** A response to be scored. */
export interface ResponseItem<Problem> extends Omit<Item<Problem>, 'criteria'> {
  /** Absent: the score counts the whole rubric. */
  leftOut?: LeftOut
}

/** What stands between graders and a reward in an experiment; `key` names the rollout. */
export interface Noise {
  verdicts(verdicts: readonly Verdict[], key: string): Verdict[]
  score(score: number | null, key: string): number | null
}

/** How verdicts are made into scores. */
export interface Scoring<Problem> {
  /** What verdicts are worth; the signed score where absent. */
  score?: ResponseScoring
  /** Another rubric than the true one. */
  rubricOf?: (problem: Problem) => Rubric
  noise?: Noise
  /** Verdicts on other criteria than the rubric's are left out. */
  only?: boolean
  /** Ids of criteria that the run's own rubric tells in words; a kept rollout has the words of all others. */
  logged?: ReadonlySet<string>
}

/** A task whose answers are scored as they are graded. */
export interface ScoredTask<Problem, Said extends Verdicts = Verdicts>
  extends Omit<Task<Problem>, 'grade'>,
    Pick<Scoring<Problem>, 'logged'> {
  grade(items: readonly ResponseItem<Problem>[]): Promise<(Said & ScoredResponse)[]>
  /** What is said of all responses of a step to a problem together. */
  gradeGroup?(
    problem: Problem,
    rollouts: readonly Rollout[],
    step: number,
  ): Promise<readonly Partial<Said & ScoredResponse>[]>
}

/** A task of thinking, scored. */
export type ThinkingTask<Problem> = ScoredTask<Problem> & Required<Pick<Task<Problem>, 'thinking'>>

/** A task whose policy also writes rubrics, scored. */
export type RubricatorTask<Problem> = ThinkingTask<Problem> & Required<Pick<Task<Problem>, 'rubricator'>>

const signed: ResponseScoring = (rubric, verdicts) => signedScore(rubric, verdicts).score

/**
 * A task with scores: by its rubrics or others, or by the part of them that is not left out.
 * @example
 * const criteria = [{ id: 'right', text: 'Is right.', points: 2 }, { id: 'rude', text: 'Is rude.', points: -1 }]
 * const task = scored({
 *   ...{ train: [], tests: {}, label: 'sums', notes: [], id: String, question: String, show: String, prompt: () => [3, 4] },
 *   rubric: () => ({ criteria }),
 *   grade: async () => [{ verdicts: criteria.map(({ id }) => ({ criterionId: id, met: true, source: 'rule' })), wellFormed: true }],
 * })
 * const [{ score }] = await task.grade([{ problem: '3 + 4', tokens: Int32Array.of(7) }])
 * score // 0.5
 */
export const scored = <Problem, Said extends Verdicts = Verdicts>(
  task: Task<Problem, Said>,
  { score = signed, rubricOf = problem => task.rubric(problem), noise, only, logged }: Scoring<Problem> = {},
): ScoredTask<Problem, Said> => ({
  ...task,
  logged,
  rubric: rubricOf,
  async grade(items) {
    const parts = items.map(({ problem, leftOut }) => partsOf(rubricOf(problem), leftOut))
    const graded = await task.grade(
      items.map(({ leftOut: _left, ...item }, i) => ({ ...item, criteria: parts[i].asked.criteria })),
    )
    return items.map(({ key = '', leftOut }, i) => {
      const { rubric, counted, asked } = parts[i]
      const { verdicts: said, score: own } = graded[i]
      const given = only ? onCriteria(rubric, said) : said
      const verdicts = noise ? noised(noise, rubric, given, key) : given
      const counting = onCriteria(counted, verdicts)
      const worth = own === undefined ? score(counted, counting) : own
      const paid = noise ? noise.score(worth, key) : worth
      return {
        ...graded[i],
        score: paid,
        ...(paid === null && { unjudged: own === null || lacksVerdicts(score, counted, counting) }),
        ...(counted !== rubric && asked === rubric && { whole: score(rubric, onCriteria(rubric, verdicts)) }),
        verdicts,
        ...(leftOut && { leftOut }),
        ...(task.kind && { kinds: kindsOf(rubric, task.kind) }),
      }
    })
  },
})

/** Of a rubric what is asked about, and what counts. */
const partsOf = (rubric: Rubric, leftOut?: LeftOut) => {
  const counted = leftOut?.ids.size ? withoutCriteria(rubric, leftOut.ids) : rubric
  return { rubric, counted, asked: leftOut?.asked ? rubric : counted }
}

/** Verdicts on a rubric's criteria: graders may say more than a rubric of training asks. */
const onCriteria = ({ criteria }: Rubric, verdicts: readonly Verdict[]): Verdict[] => {
  const ids = new Set(criteria.map(({ id }) => id))
  return verdicts.filter(({ criterionId }) => ids.has(criterionId))
}

const kindsOf = ({ criteria }: Rubric, kind: (criterion: Criterion) => string) =>
  Object.fromEntries(criteria.map(criterion => [criterion.id, kind(criterion)]))

/** Noise is drawn for every criterion of the rubric, so that a verdict gets the same whoever else was asked about. */
const noised = (noise: Noise, { criteria }: Rubric, given: readonly Verdict[], key: string): Verdict[] => {
  const known = new Map(given.map(verdict => [verdict.criterionId, verdict]))
  const all = criteria.map(
    ({ id }): Verdict => known.get(id) ?? { criterionId: id, met: null, source: 'rule' },
  )
  const changed = new Map(noise.verdicts(all, key).map(verdict => [verdict.criterionId, verdict]))
  return given.map(verdict => changed.get(verdict.criterionId) ?? verdict)
}

/**
 * The reward of a graded response, with the credit of every criterion. What a judge of the whole group says is paid in place of the
 * score; charges are added to either.
 */
export const scoredReward = (response: ScoredResponse): Reward => {
  const { verdicts, relative, charges = {} } = response
  const credits = Object.fromEntries(verdicts.map(verdict => [verdict.criterionId, creditOf(verdict)]))
  const paid = relative ? relative.score : rewardOf(response)
  return {
    reward: paid === null ? null : Object.values(charges).reduce((sum, charge) => sum + charge, paid),
    parts: { ...credits, ...(relative && { relative: relative.score }), ...charges },
  }
}
