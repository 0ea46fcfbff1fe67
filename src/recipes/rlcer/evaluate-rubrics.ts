/** @file How good proposed rubrics are, on questions that training never sees. */

import { chanceOfValidity, criterionCorrelation } from '../../eval/validity.ts'
import { readRubric } from '../../grade/proposal/distinct.ts'
import type { Proposal } from '../../grade/proposal/index.ts'
import type { TokenAutomaton } from '../../model/automaton.ts'
import type { Policy } from '../../policy/policy.ts'
import type { EvalRow } from '../../runs/rows.ts'
import type { RubricatorTask } from '../../tasks/scored-response.ts'
import type { ThinkingVerifier, ThoughtResponse } from '../../tasks/thinking.ts'
import { mean, meanKnown } from '../../util/statistics.ts'
import { drawAnswers, gradeSamples } from '../common/answers.ts'
import { setRow } from '../common/evaluated-set.ts'
import { samplingOf } from '../common/training.ts'
import type { RlcerConfig } from './config.ts'
import { isRight, judgedRubric } from './judging.ts'
import { agreementMetrics, comparedVerdicts } from './metrics.ts'
import { isConstant, type JudgedCriterion } from './validity.ts'
import {
  fittingPrompt,
  type ProposedRubric,
  type RubricGrade,
  seenOf,
  verifyProposals,
} from './verification.ts'

/** Sets of questions by name, as rows of evaluations and experiments know them. */
export const EVALUATED_SETS = {
  plain: 'unseen',
  hinted: 'hinted',
  placebo: 'placebo',
  rubrics: 'rubrics',
} as const

export interface RlcerEvaluationParts<Problem> {
  policy: Policy
  task: RubricatorTask<Problem>
  /** The one that is nearest to the truth. */
  verifier: ThinkingVerifier<Problem>
  /** A learnt one that decides in training: how far it is from the truth by now is told of the rubrics that are looked at. */
  drifting?: ThinkingVerifier<Problem>
  /** The first set and nothing else: a second pass needs no more. */
  alone?: boolean
  /** Places of the model's context; absent: prompts always fit. */
  positions?: number
  /** Holds rubricators to a grammar; absent: they write as they like. */
  rubricAutomaton?: TokenAutomaton
}

export type Evaluated<Problem> = RlcerEvaluationParts<Problem> & { config: RlcerConfig; step: number }

/** A rubric about each of these responses, at the temperature of training. */
export const proposeRubrics = async <Problem>(
  own: Evaluated<Problem>,
  problems: readonly Problem[],
  shown: readonly ThoughtResponse[],
  label: string,
): Promise<Proposal[]> => {
  const { policy, task, config } = own
  const { rubricator, rollout } = config
  const drawn = await policy.sample({
    ...{ temperature: rollout.temperature, topK: rollout.topK, topP: rollout.topP },
    ...{ maxTokens: rubricator.maxTokens, stopTokens: task.stopTokens, seed: `${label}/rubricator` },
    ...(own.rubricAutomaton && { automaton: own.rubricAutomaton }),
    prompts: problems.map((problem, p) => fittingPrompt(config, own, problem, shown[p])),
  })
  return drawn.map(({ tokens, finishReason }) =>
    readRubric(task.rubricator.text(tokens), finishReason === 'length', rubricator),
  )
}

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
  // Under dotted names.
  const drift = Object.entries(agreementMetrics(drifted.flatMap(comparedVerdicts))).flatMap(([name, signs]) =>
    Object.entries(signs).map(([sign, value]) => [`${name}.${sign}`, value]),
  )
  const items = problems.map((problem, p) => {
    const correct = answers_P[p].map(({ said }) => isRight(said))
    const own = grades.slice(p * each, (p + 1) * each)
    const criteria = own.flatMap(({ proposal }) => proposal.criteria)
    return {
      id: task.id(problem),
      scores: {
        ...rubricScores(own, correct, config),
        ...(worth && { worth: meanKnown(criteria.flatMap(criterion => worth(criterion) ?? [])) }),
      },
    }
  })
  return setRow({ step, set: EVALUATED_SETS.rubrics, samples: each, temperature }, items, {
    names: [...Object.keys(RUBRIC_SCORES), ...(worth ? ['worth'] : [])],
    primary: 'validMinusNull',
    scoreNames: { ...RUBRIC_SCORES, worth: 'correlation in the population' },
    figures: {
      criteriaPerRubric: mean(proposals.map(({ K }) => K)),
      ...(drifting && Object.fromEntries(drift)),
    },
  })
}

/** Scores of a question's rubrics in words. */
const RUBRIC_SCORES = {
  validMinusNull: 'valid above chance',
  valid: 'valid criteria',
  nullValid: 'valid by chance',
  correlation: 'correlation with being right',
  format: 'well formed',
  informative: 'questions that are neither all right nor all wrong',
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
