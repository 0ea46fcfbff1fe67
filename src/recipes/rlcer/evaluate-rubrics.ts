/** @file How good proposed rubrics are, on questions that training never sees. */

import { chanceOfValidity, criterionCorrelation } from '../../eval/validity.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { EvalRow, MetricGroup } from '../../runs/rows.ts'
import { mean, meanKnown } from '../../util/statistics.ts'
import { drawAnswers, gradeSamples } from '../common/answers.ts'
import { setRow } from '../common/evaluated-set.ts'
import { samplingOf } from '../common/training.ts'
import { agreementMetrics, type Compared } from '../reasoning/agreement.ts'
import type { RlcerConfig } from './config.ts'
import { EVALUATED_SETS, type Evaluated, proposeRubrics } from './evaluation-parts.ts'
import { isRight, judgedRubric } from './judging.ts'
import { comparedVerdicts } from './metrics.ts'
import { seenOf } from './rubricator-prompt.ts'
import { isConstant, type JudgedCriterion } from './validity.ts'
import { type ProposedRubric, type RubricGrade, verifyProposals } from './verification.ts'

/** Rubrics of a question that are looked at: about its first responses. */
const RUBRICS_A_QUESTION = 2

/** How good proposed rubrics are: their format, and how valid they are beyond what chance gives, on groups as training has them. */
export const proposalsRow = async <Problem>(
  own: Evaluated<Problem>,
  problems: readonly Problem[],
): Promise<EvalRow> => {
  const { policy, task, config, step, verifier, drifting } = own
  const { worth } = task.rubricator
  const { samples, temperature } = config.rollout
  const sampling = { ...samplingOf(config, task.stopTokens), seed: 'evaluation/rubrics' }
  const drawn = await drawAnswers(policy, problems, { samples, sampling }, own => task.prompt(own))
  const answers_P = await gradeSamples(task, problems, drawn)
  const seen_P = answers_P.map(answers =>
    answers.map(({ problem, tokens }) => seenOf(config, task, problem, task.thinking.read(tokens))),
  )
  const each = Math.min(RUBRICS_A_QUESTION, samples)
  const asked = problems.flatMap((problem, p) =>
    Array.from({ length: each }, (_, n) => ({ problem, shown: seen_P[p][n], group: p, n })),
  )
  const proposals = await proposeRubrics(
    own,
    asked.map(({ problem }) => problem),
    asked.map(({ shown }) => shown),
    'evaluation/rubrics',
  )
  const rubrics = asked.map(
    ({ problem, group, n }, i): ProposedRubric<Problem> => ({
      ...{ problem, proposal: proposals[i], key: `evaluation/rubrics/${group}/${n}` },
      responses: seen_P[group],
    }),
  )
  const grades = await verifyProposals({ verifier }, rubrics)
  const drifted = drifting ? await verifyProposals({ verifier: drifting, truth: verifier }, rubrics) : []
  const items = problems.map((problem, p) => {
    const correct = answers_P[p].map(({ said }) => isRight(said))
    const own = grades.slice(p * each, (p + 1) * each)
    return {
      id: task.id(problem),
      scores: { ...rubricScores(own, correct, config), ...(worth && { worth: meanWorth(own, worth) }) },
    }
  })
  return setRow({ step, set: EVALUATED_SETS.rubrics, samples: each, temperature }, items, {
    names: [...Object.keys(RUBRIC_SCORES), ...(worth ? ['worth'] : [])],
    primary: 'validMinusNull',
    scoreNames: { ...RUBRIC_SCORES, worth: 'correlation in the population' },
    figures: {
      criteriaPerRubric: mean(proposals.map(({ K }) => K)),
      ...(drifting && flatAgreement(drifted.flatMap(comparedVerdicts))),
    },
  })
}

/** Figures of a verifier's agreement under dotted names. */
const flatAgreement = (compared: readonly Compared[]): MetricGroup =>
  Object.fromEntries(
    Object.entries(agreementMetrics(compared)).flatMap(([name, signs]) =>
      Object.entries(signs).map(([sign, value]) => [`${name}.${sign}`, value]),
    ),
  )

/** Scores of a question's rubrics in words. */
const RUBRIC_SCORES = {
  validMinusNull: 'valid above chance',
  valid: 'valid criteria',
  nullValid: 'valid by chance',
  correlation: 'correlation with being right',
  format: 'well formed',
  informative: 'questions that are neither all right nor all wrong',
}

/** What a question's criteria are worth on average; null where nothing is known of any. */
const meanWorth = (
  rubrics: readonly RubricGrade[],
  worth: (criterion: Criterion) => number | null,
): number | null => {
  const criteria = rubrics.flatMap(({ proposal }) => proposal.criteria)
  return meanKnown(criteria.flatMap(own => worth(own) ?? []))
}

const rubricScores = (
  rubrics: readonly RubricGrade[],
  correct: readonly (boolean | null)[],
  config: RlcerConfig,
): Record<keyof typeof RUBRIC_SCORES, number | null> => {
  const plain = { validity: config.validity, control: null, controlAt: config.controlAt }
  const criteria = rubrics.flatMap(grade => judgedRubric(grade, correct, plain, '').criteria)
  const known = criteria.flatMap(({ correlation }) => correlation ?? [])
  const informative = !isConstant(correct)
  const valid = informative ? meanKnown(criteria.map(own => Number(own.valid))) : null
  const nullValid = informative ? meanKnown(criteria.map(own => chanceOf(own, correct, config))) : null
  return {
    validMinusNull: valid === null || nullValid === null ? null : valid - nullValid,
    ...{ valid, nullValid, correlation: meanKnown(known) },
    format: meanKnown(rubrics.map(({ proposal }) => Number(proposal.wellFormed))),
    informative: Number(informative),
  }
}

/** Exact chance that a criterion met as often would be valid although it had nothing to do with being right. */
const chanceOf = (
  { criterion: { points }, met }: JudgedCriterion,
  correct: readonly (boolean | null)[],
  { validity: { alpha, signAware } }: Pick<RlcerConfig, 'validity'>,
): number => {
  if (criterionCorrelation({ points, met }, correct) === null) return 0
  const turned = signAware && points < 0
  const pairs = met.flatMap((own, m) => {
    const right = correct[m]
    return own === null || right === null ? [] : [{ good: own !== turned, right }]
  })
  const count = (test: (pair: (typeof pairs)[number]) => boolean) => pairs.filter(test).length
  return chanceOfValidity(
    pairs.length,
    count(({ right }) => right),
    count(({ good }) => good),
    alpha,
  )
}
