/** @file A task with a rubric a problem as a run trains on it: graded as training grades, and for the truth. */

import { needsStart } from '../../grade/rules/likelihood.ts'
import type { Policy, ScoreItem } from '../../policy/policy.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { Criterion, JudgeCall, Rubric, Verdict } from '../../rubric/criterion.ts'
import type { MetricGroup, RolloutRow, RolloutVerdict } from '../../runs/rows.ts'
import {
  type LeftOut,
  type ScoredResponse,
  type ScoredTask,
  scoredReward,
} from '../../tasks/scored-response.ts'
import type { Verdicts } from '../../tasks/task.ts'
import { mean } from '../../util/statistics.ts'
import type { HeldOutJudge } from '../options/held-out-judge.ts'

/** A verdict that is kept; `criterionId` may be a name that tells it from another grader's. */
export type KeptVerdict = Omit<Verdict, 'source'> & Pick<RolloutVerdict, 'source' | 'leftOut'>

const NO_WORDS: ReadonlyMap<string, WrittenCriterion> = new Map()

const wordsOf = (own: WrittenCriterion | undefined) => own && { text: own.text, points: own.points }

/** Criteria by the ids that their verdicts are kept under. */
export const criteriaById = (criteria: readonly Criterion[], prefix = ''): [string, WrittenCriterion][] =>
  criteria.map(criterion => [`${prefix}${criterion.id}`, criterion])

/** Verdicts under names that tell them from other ones, each with whether its criterion was left out of the score. */
export const namedVerdicts = (
  prefix: string,
  verdicts: readonly Verdict[],
  leftOut?: LeftOut,
): (Verdict & Pick<RolloutVerdict, 'leftOut'>)[] =>
  verdicts.map(verdict => ({
    ...verdict,
    criterionId: `${prefix}${verdict.criterionId}`,
    ...(leftOut?.ids.has(verdict.criterionId) && { leftOut: true }),
  }))

/** What a criterion says and weighs. */
export type WrittenCriterion = Pick<Criterion, 'text' | 'points'>

/**
 * Fields of a row for its verdicts, in their order.
 * @param words of criteria by the verdicts' `criterionId`, those that the run's own rubric does not tell
 */
export const verdictFields = (
  verdicts: readonly KeptVerdict[],
  words: ReadonlyMap<string, WrittenCriterion> = NO_WORDS,
): Pick<RolloutRow, 'verdicts' | 'judgeCalls'> => {
  const places = new Map<JudgeCall, number>()
  const placeOf = (call: JudgeCall): number => {
    if (!places.has(call)) places.set(call, places.size)
    return places.get(call)!
  }
  const rows = verdicts.map(
    ({ criterionId, met, credit, explanation, source, call, leftOut }): RolloutVerdict => ({
      criterionId,
      ...wordsOf(words.get(criterionId)),
      met,
      ...(credit !== undefined && { credit }),
      ...(explanation !== undefined && { explanation }),
      ...(call !== undefined ? { call: placeOf(call) } : source !== undefined && { source }),
      ...(leftOut && { leftOut }),
    }),
  )
  return { verdicts: rows, ...(places.size > 0 && { judgeCalls: [...places.keys()] }) }
}

/**
 * Scores responses by the weights that a policy starts with. They are those of a KL term: one pass without gradient, of the
 * plain prompt and at temperature 1, whatever was sampled.
 */
export class StartLikelihood {
  #policy: Policy | null = null

  /** Whether any of the rubrics asks for it; else nothing is frozen and nothing scored. */
  static neededBy(rows: readonly { rubric: Rubric }[]): boolean {
    return rows.some(({ rubric }) => needsStart(rubric.criteria))
  }

  /** To be called while the policy still is the starting model: its weights are frozen as the reference. */
  async startAt(policy: Policy): Promise<void> {
    await policy.freezeReference()
    this.#policy = policy
  }

  /**
   * Mean log-prob of each response's tokens, the end of its turn included, nats a token; null without any, and before there is a
   * policy.
   */
  async of(items: readonly ScoreItem[]): Promise<(number | null)[]> {
    const scored = items.filter(({ tokens }) => tokens.length > 0)
    if (this.#policy === null || scored.length === 0) return items.map(() => null)
    const scores = await this.#policy.score(scored, { weights: 'reference' })
    const means = scores.map(({ logprobs }) => mean(logprobs)).values()
    return items.map(({ tokens }) => (tokens.length > 0 ? means.next().value! : null))
  }
}

/** What a problem's criteria say and weigh, but for those that the run's own rubric tells. */
export const unloggedCriteria = <Problem>(
  task: Pick<ScoredTask<Problem>, 'rubric' | 'logged'>,
  problem: Problem,
): ReadonlyMap<string, WrittenCriterion> =>
  new Map(criteriaById(task.rubric(problem).criteria.filter(({ id }) => !task.logged?.has(id))))

/**
 * How rollouts on a task are graded and paid: by the points of the criteria that they meet, unless the task says otherwise.
 * @example
 * const { arithmetic, scored } = await import('gradus/tasks')
 * const { grade, reward } = gradedBy(scored(arithmetic.arithmeticTask()))
 * const problem = arithmetic.arithmeticProblem('sums', 0)
 * const tokens = Int32Array.from(arithmetic.ARITHMETIC_PIECES.encode(`\n</think>\nanswer ${arithmetic.answerOf(problem)}`))
 * const [graded] = await grade([{ problem, rollout: { key: 'a', tokens }, step: 1 }])
 * reward(graded) // { reward: 1, parts: { answer: 1, sound: 0 } }
 */
export const gradedBy = <Problem, Said extends Verdicts = Verdicts>(task: ScoredTask<Problem, Said>) => ({
  grade: (items: readonly { problem: Problem; rollout: Pick<Rollout, 'tokens' | 'key'>; step: number }[]) =>
    task.grade(items.map(({ problem, rollout: { tokens, key }, step }) => ({ problem, tokens, key, step }))),
  gradeBatch: task.gradeBatch,
  gradeGroup: task.gradeGroup,
  reward: (grade: Said & ScoredResponse) => scoredReward(grade),
})

/** A task with its graders. */
export interface RubricTask<Problem> {
  /** As training grades: rubrics and verdicts spoilt where an experiment asks for it. */
  reward: ScoredTask<Problem>
  /** As evaluation grades. */
  truth: ScoredTask<Problem>
  /** A held-out judge, for the monitors; absent where it would be the one of training, and where nobody asked for what costs. */
  heldOut?: HeldOutJudge<Problem>
  /** Training's own judge, whose opinion of the test set evaluations tell beside the truth (`judge.train`). */
  trainingJudge?: ScoredTask<Problem>
  /** Scores by the starting model, to be told of the policy before it has learnt anything; absent where nobody asks. */
  start?: StartLikelihood
  /** What grading took since it was last asked about. */
  metrics?(): MetricGroup
  close(): Promise<void>
}
