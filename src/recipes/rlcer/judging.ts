/** @file What is known of a step's questions before anybody is paid: who is right, which criteria are valid, which of them pay. */

import { creditOf } from '../../rubric/score.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import { GradusError } from '../../util/errors.ts'
import type { RlcerConfig } from './config.ts'
import type { QuestionRollouts } from './exploration.ts'
import { controlledVerdicts, type JudgedRubric, validCriteria } from './rewards.ts'
import { type JudgedCriterion, judgeCriteria, outcomeProxies, statementName } from './validity.ts'
import type { RubricGrade } from './verification.ts'

/** A question with all that its verdicts say. */
export interface JudgedQuestion<Problem> extends QuestionRollouts<Problem> {
  /** Names it within its run. */
  key: string
  /** By reasoner; null where nobody knows. */
  correct: readonly (boolean | null)[]
  /** By rubricator. */
  rubrics: readonly JudgedRubric[]
  /** What steers reasoners: the valid criteria of all rubrics together. */
  valid: readonly JudgedCriterion[]
  /** Number of criteria that pay its reasoners; absent: all valid ones. */
  paying?: number
  /** Names of criteria that stand for the outcome in this step. */
  proxies: ReadonlySet<string>
}

/** Right, as far as answers have a score: all of it. */
export const isRight = ({ score, unjudged = false }: ScoredResponse): boolean | null =>
  unjudged || score === null ? null : score >= 1

type JudgingSettings = Pick<
  RlcerConfig,
  'validity' | 'rubricator' | 'dedupe' | 'control' | 'controlAt' | 'seed'
>

export const judgeQuestions = <Problem>(
  explored: readonly QuestionRollouts<Problem>[],
  config: JudgingSettings,
  step: number,
): JudgedQuestion<Problem>[] => {
  const judged = explored.map((question, q) => {
    const key = `${config.seed}/${step}/${q}`
    const correct = question.reasoners.map(({ grade }) => isRight(grade.scored))
    const rubrics = question.rubricators.map(({ grade }, n) =>
      judgedRubric(grade, correct, config, `${key}/${n}`),
    )
    return { ...question, key, correct, rubrics, criteria: rubrics.flatMap(own => own.criteria) }
  })
  const proxies = outcomeProxies(judged)
  const isProxy = ({ criterion }: JudgedCriterion) => proxies.has(statementName(criterion))
  const leftOut = config.validity.proxies === 'drop' ? isProxy : () => false
  const { unformattedSteers } = config.rubricator
  return judged.map(({ criteria: _, ...question }) => ({
    ...question,
    valid: validCriteria(question.rubrics, { dedupe: config.dedupe, unformattedSteers }, leftOut),
    proxies,
  }))
}

/** @param key names what a control draws for it */
export const judgedRubric = (
  { proposal, verdicts_N_K }: Pick<RubricGrade, 'proposal' | 'verdicts_N_K'>,
  correct: readonly (boolean | null)[],
  { validity, control, controlAt }: Pick<RlcerConfig, 'validity' | 'control' | 'controlAt'>,
  key: string,
): JudgedRubric => {
  const rubric = { ...proposal, verdicts_N_K }
  const { K, wellFormed } = rubric
  const judged = judgeCriteria(rubric, correct, validity)
  const spoilt = control && controlAt === 'verdicts' ? controlledVerdicts(judged, control, key) : null
  // What a control says is judged anew: whether it goes with being right is what is asked.
  const criteria = spoilt
    ? judgeCriteria({ ...rubric, verdicts_N_K: verdictsOf(spoilt, correct.length) }, correct, validity)
    : judged
  return { K, wellFormed, criteria, failed: hasFailed(verdicts_N_K) }
}

const verdictsOf = (criteria: readonly JudgedCriterion[], responses: number): RubricGrade['verdicts_N_K'] =>
  Array.from({ length: responses }, (_, m) =>
    criteria.map(({ criterion, met }) => ({
      criterionId: criterion.id,
      met: met[m],
      source: 'rule' as const,
    })),
  )

/**
 * Whether the verifier failed on a rubric altogether. A rule that gives no verdict says that the criterion cannot be executed,
 * which is the rubric's fault and no failure.
 */
const hasFailed = (verdicts_N_K: RubricGrade['verdicts_N_K']): boolean => {
  const verdicts = verdicts_N_K.flat()
  return verdicts.length > 0 && verdicts.every(own => own.source !== 'rule' && creditOf(own) === null)
}

const REASON_CHARACTERS = 200

/**
 * When the verifier has no word to say about a whole step, it is out of order: going on would train on nothing.
 * @throws GradusError with the first reason that was given
 */
export const assertVerified = (questions: readonly JudgedQuestion<unknown>[]): void => {
  const grades = questions.flatMap(({ rubricators }) => rubricators.map(({ grade }) => grade))
  const verdicts = grades.flatMap(({ verdicts_N_K }) => verdicts_N_K.flat())
  if (!hasFailed([verdicts])) return
  const reason = verdicts.find(({ explanation }) => explanation)?.explanation ?? 'no reason given'
  throw new GradusError(
    `verifier: expected verdicts on ${grades.length} rubrics, got none that decides anything (${reason.slice(0, REASON_CHARACTERS)})`,
    { hint: 'see to the verifier, then go on with --resume-or-start' },
  )
}
