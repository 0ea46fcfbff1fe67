/** @file What a step says in metrics.jsonl: both roles' rewards, how valid criteria are beside what chance gives, and what they let slip; and rollouts for reading. */

import {
  criterionSaturation,
  isValidCriterion,
  type ValidityProblem,
  type ValidityRates,
  validityRates,
} from '../../eval/validity.ts'
import { repeatsAmong } from '../../grade/proposal/distinct.ts'
import type { Credited } from '../../rl/rollout.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import type { MetricsRow, RolloutRow } from '../../runs/rows.ts'
import type { RubricatorTask } from '../../tasks/scored-response.ts'
import type { HeldOut } from '../../train/recipe.ts'
import { tokenFields } from '../../train/token-fields.ts'
import { partMeans, rewardMetrics, rolloutFields } from '../../train/update-rows.ts'
import { meanKnown } from '../../util/statistics.ts'
import type { RlcerConfig } from './config.ts'
import type { ReasonerGrade, Reviewed } from './exploration.ts'
import { isRight, type JudgedQuestion } from './judging.ts'
import { isConstant, statementName } from './validity.ts'
import type { RubricGrade } from './verification.ts'

/** A verdict beside the truth, on a criterion with these points. */
export interface Compared {
  points: number
  said: Verdict
  truth: Verdict
}

const answerShare = <Item>(items: readonly Item[], test: (item: Item) => boolean): number | null =>
  meanKnown(items.map(item => Number(test(item))))

/**
 * As metrics of a step or an evaluation: how often verdicts are as execution has them, how often criteria are said to be met that are
 * not, and the other way round. Rewards and penalties by themselves: they err in different directions.
 */
export const agreementMetrics = (compared: readonly Compared[]) => {
  const both = compared.filter(({ said, truth }) => said.met !== null && truth.met !== null)
  const bySign = (share: (own: readonly Compared[]) => number | null) => ({
    reward: share(both.filter(({ points }) => points > 0)),
    penalty: share(both.filter(({ points }) => points < 0)),
  })
  const wrong = (own: readonly Compared[], met: boolean) =>
    answerShare(
      own.filter(({ truth }) => truth.met === met),
      ({ said }) => said.met !== met,
    )
  return {
    verifierAgreement: bySign(own => answerShare(own, ({ said, truth }) => said.met === truth.met)),
    verifierFalseAccepts: bySign(own => wrong(own, false)),
    verifierFalseRejects: bySign(own => wrong(own, true)),
  }
}

type Questions = readonly JudgedQuestion<unknown>[]
type Metrics = Omit<MetricsRow, 'step'>

export const rlcerMetrics = (questions: Questions, config: RlcerConfig, step: number): Metrics => {
  const reasoners = questions.map(own => own.reasoners)
  const {
    outcome = null,
    cot = null,
    overlong = null,
  } = partMeans(reasoners) as Record<string, number | null>
  const known = questions.flatMap(({ correct }) => correct.filter(right => right !== null))
  return {
    ...rewardMetrics(reasoners),
    accuracy: meanKnown(known.map(Number)),
    constantZ: answerShare(questions, ({ correct }) => isConstant(correct)),
    ...{ outcome, cot },
    // Questions without a paying criterion count as `emptyCot` above: as answers become right there are more of them.
    cotWherePaid: meanKnown(
      questions
        .filter(({ valid, paying = valid.length }) => paying > 0)
        .flatMap(own => own.reasoners.flatMap(({ parts }) => parts.cot ?? [])),
    ),
    ...(config.overlong && { overlong }),
    ...(config.rubricator.enabled && rubricMetrics(questions, config, step)),
  }
}

const rubricMetrics = (questions: Questions, config: RlcerConfig, step: number): Metrics => {
  const rubricators = questions.map(own => own.rubricators)
  const rubrics = questions.flatMap(own => own.rubrics)
  const { evolving = null } = partMeans(rubricators) as Record<string, number | null>
  return {
    rubricatorReward: rewardMetrics(rubricators).reward,
    evolving,
    formatRate: answerShare(rubrics, ({ wellFormed }) => wellFormed),
    criteriaPerRubric: meanKnown(rubrics.map(({ K }) => K)),
    repeatRate: answerShare(
      rubrics,
      ({ criteria }) => repeatsAmong(criteria.map(({ criterion }) => criterion)) > 0,
    ),
    payingCriteria: meanKnown(questions.map(({ valid }) => valid.length)),
    ...validityMetrics(questions, config, step),
    ...proxyMetrics(questions),
    ...nullRates(questions),
    ...driftMetrics(questions, config),
  }
}

const criteriaOf = ({ rubrics }: JudgedQuestion<unknown>) => rubrics.flatMap(({ criteria }) => criteria)

/** Shuffles of correctness that chance is told by. */
const SHUFFLES = 100

/** Rates beside what shuffled answers give, and the share of valid criteria by sign as it is read and as it could be. */
const validityMetrics = (
  questions: Questions,
  { validity: { alpha, signAware }, seed }: Pick<RlcerConfig, 'validity' | 'seed'>,
  step: number,
): Metrics => {
  const problems = questions.map(
    (own): ValidityProblem => ({
      correct: own.correct,
      criteria: criteriaOf(own).map(({ criterion, met }) => ({ points: criterion.points, met })),
    }),
  )
  const rates = validityRates(problems, { alpha, signAware, shuffles: SHUFFLES, seed: `${seed}/${step}` })
  const { validRate, nullValidRate, correlation, nullCorrelation } = rates
  // Where all answers are right, or none is, no criterion can be valid: the more such questions, the less the rates above say.
  const informative = problems.filter(({ correct }) => !isConstant(correct))
  const among = validityRates(informative, { alpha, signAware, shuffles: SHUFFLES, seed: `${seed}/${step}` })
  const bySign = (sign: 1 | -1, aware: boolean) =>
    validityRates(
      problems.map(({ correct, criteria }) => ({
        correct,
        criteria: criteria.filter(({ points }) => Math.sign(points) === sign),
      })),
      { alpha, signAware: aware, shuffles: 0 },
    ).validRate
  const { constantShare, alwaysMetShare } = criterionSaturation(problems)
  return {
    ...{ validRate, nullValidRate, correlation, nullCorrelation },
    validMinusNull: difference(rates),
    validMinusNullInformative: difference(among),
    validBySign: {
      reward: bySign(1, true),
      'penalty, sign-aware': bySign(-1, true),
      'penalty, literal': bySign(-1, false),
    },
    saturation: constantShare,
    alwaysMet: alwaysMetShare,
    penaltyShare: answerShare(
      problems.flatMap(own => own.criteria),
      ({ points }) => points < 0,
    ),
  }
}

const difference = ({ validRate, nullValidRate }: ValidityRates): number | null =>
  validRate === null || nullValidRate === null ? null : validRate - nullValidRate

/** How many criteria stand for the outcome, and how valid the others are. */
const proxyMetrics = (questions: Questions): Metrics => {
  const all = questions.flatMap(own =>
    criteriaOf(own).map(({ criterion, valid }) => ({
      valid,
      proxy: own.proxies.has(statementName(criterion)),
    })),
  )
  return {
    proxyShare: answerShare(all, ({ proxy }) => proxy),
    validRateWithoutProxies: answerShare(
      all.filter(({ proxy }) => !proxy),
      ({ valid }) => valid,
    ),
  }
}

const gradesOf = (questions: Questions): RubricGrade[] =>
  questions.flatMap(({ rubricators }) => rubricators.map(({ grade }) => grade))

/** Share of verdicts that were not given, by the sign of the points. */
const nullRates = (questions: Questions): Metrics => {
  const rate = (sign: 1 | -1) =>
    meanKnown(
      gradesOf(questions).flatMap(({ proposal: { criteria }, verdicts_N_K }) =>
        criteria.flatMap(({ points }, k) =>
          Math.sign(points) === sign
            ? verdicts_N_K.map(verdicts => Number(creditOf(verdicts[k]) === null))
            : [],
        ),
      ),
    )
  return { judgeNullRatePositive: rate(1), judgeNullRateNegative: rate(-1) }
}

/**
 * How often the verifier says what execution says, where that is known: a learnt one drifts as the policy changes. And of valid criteria
 * how many are so by execution too.
 */
const driftMetrics = (questions: Questions, { validity }: Pick<RlcerConfig, 'validity'>): Metrics => {
  const compared = gradesOf(questions).flatMap(comparedVerdicts)
  if (compared.length === 0) return {}
  const valid = questions.flatMap(({ rubrics, rubricators, correct }) =>
    rubrics.flatMap(({ criteria }, n) => {
      const { truth_N_K = [] } = rubricators[n].grade
      return criteria.flatMap(({ criterion: { points }, valid: own }, k) =>
        own ? isValidCriterion({ points, met: truth_N_K.map(each => each[k].met) }, correct, validity) : [],
      )
    }),
  )
  return { ...agreementMetrics(compared), validByExecution: answerShare(valid, Boolean) }
}

/** Verdicts of a rubric beside those of execution; none where nothing was executed. */
export const comparedVerdicts = ({
  proposal: { criteria },
  verdicts_N_K,
  truth_N_K,
}: Pick<RubricGrade, 'proposal' | 'verdicts_N_K' | 'truth_N_K'>): Compared[] =>
  truth_N_K
    ? verdicts_N_K.flatMap((verdicts, m) =>
        criteria.map(({ points }, k) => ({ points, said: verdicts[k], truth: truth_N_K[m][k] })),
      )
    : []

/** Whether answers are right, for the monitors, where reasoners are paid for something else. */
export const outcomeOpinion = (
  credited: readonly Credited<unknown, unknown>[],
  { reasonerReward, control }: Pick<RlcerConfig, 'reasonerReward' | 'control'>,
): { heldOut?: Promise<HeldOut> } => {
  const paidForOutcome = reasonerReward === 'outcome' || reasonerReward === 'outcome+rubric'
  if (paidForOutcome && control === null) return {}
  const scores = credited.map(({ rollout, grade }) => {
    const right = rollout.role === 'reasoner' ? isRight((grade as ReasonerGrade).scored) : null
    return right === null ? null : Number(right)
  })
  return { heldOut: Promise.resolve({ scores }) }
}

/** A reasoner's or a rubricator's rollout, distinguished by its role. */
export const rlcerRolloutRow = <Problem>(
  task: RubricatorTask<Problem>,
  step: number,
  item: Credited<unknown, unknown>,
): RolloutRow =>
  item.rollout.role === 'rubricator'
    ? rubricatorRow(task, step, item as Credited<Reviewed<Problem>, RubricGrade>)
    : reasonerRow(task, step, item as Credited<Problem, ReasonerGrade>)

const reasonerRow = <Problem>(
  task: RubricatorTask<Problem>,
  step: number,
  item: Credited<Problem, ReasonerGrade>,
): RolloutRow => {
  const { problem, grade, parts, rollout } = item
  const correct = isRight(grade.scored)
  return {
    ...rolloutFields(step, item),
    problemId: task.id(problem),
    prompt: task.question(problem),
    response: grade.response.text,
    ...tokenFields(item, grade.response.text, tokens => task.thinking.read(tokens).text),
    answer: grade.response.closed ? grade.response.answer : null,
    ...(correct !== null && { correct }),
    parts,
    ...(rollout.sampledFrom && { flags: { hinted: 1 } }),
  }
}

/** Of a rubricator's criteria the row says which were valid. */
const rubricatorRow = <Problem>(
  task: RubricatorTask<Problem>,
  step: number,
  item: Credited<Reviewed<Problem>, RubricGrade>,
): RolloutRow => {
  const { problem: asked, grade, parts, rollout } = item
  const { criteria = [] } = grade.judged ?? {}
  const [fault] = grade.proposal.problems
  return {
    ...rolloutFields(step, item),
    problemId: task.id(asked.problem),
    prompt: `${task.question(asked.problem)}\n\n${asked.responses[asked.shown].text}`,
    response: task.rubricator.text(rollout.tokens),
    ...tokenFields(item, task.rubricator.text(rollout.tokens), tokens => task.rubricator.text(tokens)),
    parts,
    ...(fault !== undefined && { flags: { unformatted: 1 } }),
    verdicts: criteria.map(({ criterion, correlation, valid, anchors }) => ({
      criterionId: criterion.id,
      met: valid,
      source: 'statistic',
      explanation: `${criterion.text} (${criterion.points}): ${correlation === null ? 'no correlation, all answers or all verdicts are alike' : `correlation ${correlation.toFixed(2)} with being right`}${anchors ? `; ${anchors.reason}` : ''}`,
    })),
  }
}
