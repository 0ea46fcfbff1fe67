/** @file Evaluation of rlcer: plain answers, answers with the policy's own rubrics as hints and with placebos, and the rubrics themselves. */

import { bestOfN } from '../../eval/passk.ts'
import { chanceOfValidity, criterionCorrelation } from '../../eval/validity.ts'
import { type Proposal, readProposal } from '../../grade/proposal/index.ts'
import type { TokenAutomaton } from '../../model/automaton.ts'
import type { Policy, Sample } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { EvalItem, EvalRow, MetricGroup, Score } from '../../runs/rows.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import type { RubricatorTask, ThinkingVerifier, ThoughtResponse } from '../../tasks/thinking.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'
import { testProblems } from '../common/test-problems.ts'
import { agreementFigures, type Compared } from '../reasoning/agreement.ts'
import type { RlcerConfig } from './config.ts'
import {
  fittingPrompt,
  type ProposedRubric,
  type RubricGrade,
  seenOf,
  verifyProposals,
} from './exploration.ts'
import { comparedVerdicts } from './figures.ts'
import { fittingHints, placeboHints } from './hints.ts'
import { isRight, judgedRubric } from './judging.ts'
import { isConstant, type JudgedCriterion } from './validity.ts'

export interface EvaluationParts<Problem> {
  policy: Policy
  task: RubricatorTask<Problem>
  /** The one that is nearest to the truth. */
  verifier: ThinkingVerifier<Problem>
  /** A learnt one that decides in training: how far it is from the truth by now is told of the rubrics that are looked at. */
  drifting?: ThinkingVerifier<Problem>
  /** Never trained on. */
  test: readonly Problem[]
  /** Places of the model's context; absent: prompts always fit. */
  positions?: number
  /** Holds rubricators to a grammar; absent: they write as they like. */
  rubricAutomaton?: TokenAutomaton
}

type Evaluated<Problem> = EvaluationParts<Problem> & { config: RlcerConfig; step: number }

/** Sets of questions by name, as rows of evaluations and experiments know them. */
export const EVALUATED_SETS = {
  plain: 'unseen',
  hinted: 'hinted',
  placebo: 'placebo',
  rubrics: 'rubrics',
} as const

export const evaluation =
  <Problem>(config: RlcerConfig, parts: EvaluationParts<Problem>) =>
  async (step: number, last: boolean): Promise<EvalRow[]> => {
    const own = { ...parts, config, step }
    const { evaluation: settings } = config
    const problems = parts.test.slice(0, testProblems(config, step, last))
    const plain = await draw(own, problems, problem => parts.task.prompt(problem))
    const rows = [await answerRow(own, EVALUATED_SETS.plain, problems, plain)]
    if (step > 0 && !last) return rows
    if (settings.hinted) rows.push(...(await hintedRows(own, problems, plain)))
    if (settings.rubrics > 0) rows.push(await rubricRow(own, parts.test.slice(0, settings.rubrics)))
    return rows
  }

/** Samples of every problem; the same streams for every set, so that sets are compared pair by pair. */
const draw = <Problem>(
  { policy, task, config }: Evaluated<Problem>,
  problems: readonly Problem[],
  promptOf: (problem: Problem, i: number) => TokenIds,
): Promise<Sample[]> => {
  const { samples, temperature, topK, topP } = config.evaluation
  return policy.sample({
    ...{ temperature, topK, topP, stopTokens: task.stopTokens, seed: 'evaluation' },
    maxTokens: config.rollout.maxTokens,
    prompts: problems.map(promptOf),
    samplesPerPrompt: samples,
  })
}

const scored = (values: readonly number[]): Score => {
  if (values.length === 0) return { value: null }
  const { low, high } = bootstrapInterval(values, { resamples: 2000, seed: 'evaluation' })
  return { value: mean(values), interval: [low, high] }
}

/** The scores of a row from those of its items. */
const scoresOf = (items: readonly EvalItem[], names: readonly string[]): EvalRow['scores'] =>
  Object.fromEntries(names.map(name => [name, scored(items.flatMap(({ scores }) => scores[name] ?? []))]))

const answerRow = async <Problem>(
  { task, config, step }: Evaluated<Problem>,
  set: string,
  problems: readonly Problem[],
  drawn: readonly Sample[],
): Promise<EvalRow> => {
  const { samples, temperature, bestOf } = config.evaluation
  const responses = drawn.map(({ tokens }) => task.read(tokens))
  const graded = await task.gradeAnswers(
    drawn.map(({ prompt }, i) => ({ problem: problems[prompt], response: responses[i] })),
  )
  const items = problems.flatMap((problem, p): EvalItem[] => {
    const scores = knownScores(graded.slice(p * samples, (p + 1) * samples))
    if (scores.length === 0) return []
    const best = bestOf.map(n => [`best@${n}`, scores.length < n ? null : bestOfN(scores, n)] as const)
    return [{ id: task.name(problem), scores: { accuracy: mean(scores), ...Object.fromEntries(best) } }]
  })
  return {
    ...{ step, set, n: items.length, samples, temperature },
    scores: {
      ...scoresOf(items, ['accuracy', ...bestOf.map(n => `best@${n}`)]),
      answered: { value: mean(responses.map(({ closed }) => Number(closed))) },
    },
    primary: 'accuracy',
    scoreNames: Object.fromEntries(bestOf.map(n => [`best@${n}`, `best of ${n}`])),
    responseTokens: mean(drawn.map(({ tokens }) => tokens.length)),
    items,
  }
}

const knownScores = (graded: readonly ScoredResponse[]): number[] =>
  graded.flatMap(({ score, unjudged = false }) => (unjudged || score === null ? [] : [score]))

/** With a rubric that the policy wrote about its own first response, and with another question's. */
const hintedRows = async <Problem>(
  own: Evaluated<Problem>,
  problems: readonly Problem[],
  plain: readonly Sample[],
): Promise<EvalRow[]> => {
  const { task, config } = own
  const { samples, placebo } = config.evaluation
  const shown = problems.map((problem, p) =>
    seenOf(config, task, problem, task.read(plain[p * samples].tokens)),
  )
  const proposals = await propose(own, problems, shown, 'evaluation')
  const promptLength = (problem: Problem, hints?: readonly Criterion[]) => task.prompt(problem, hints).length
  const hints = problems.map((problem, p) => {
    const criteria = usableHints(own, problem, proposals[p])
    const tokens = criteria.length > 0 ? promptLength(problem, criteria) - promptLength(problem) : 0
    return { criteria, tokens }
  })
  const rowWith = async (set: string, criteria: readonly (readonly Criterion[])[]): Promise<EvalRow> => {
    const promptOf = (problem: Problem, p: number) =>
      criteria[p].length > 0 ? task.prompt(problem, criteria[p]) : task.prompt(problem)
    const row = await answerRow(own, set, problems, await draw(own, problems, promptOf))
    const added = problems.map((problem, p) => promptOf(problem, p).length - promptLength(problem))
    return {
      ...row,
      scores: {
        ...row.scores,
        hinted: { value: mean(criteria.map(({ length }) => Number(length > 0))) },
      },
      figures: { hintTokens: mean(added), hints: mean(criteria.map(({ length }) => length)) },
    }
  }
  const rows = [
    await rowWith(
      EVALUATED_SETS.hinted,
      hints.map(({ criteria }) => criteria),
    ),
  ]
  if (!placebo) return rows
  const names = problems.map(problem => task.name(problem))
  const room = { maxTokens: config.rollout.maxTokens, positions: own.positions }
  const placebos = placeboHints(hints, names, 'evaluation').map((criteria, p) =>
    fittingHints(task, problems[p], criteria, room),
  )
  return [...rows, await rowWith(EVALUATED_SETS.placebo, placebos)]
}

/** Criteria of a rubric in the format, as far as they leave room for an answer. */
const usableHints = <Problem>(
  { task, config, positions }: Evaluated<Problem>,
  problem: Problem,
  { criteria, wellFormed }: Proposal,
): readonly Criterion[] =>
  wellFormed || config.rubricator.unformattedSteers
    ? fittingHints(task, problem, criteria, { maxTokens: config.rollout.maxTokens, positions })
    : []

/** A rubric about each of these responses, at the temperature of training. */
const propose = async <Problem>(
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
    readProposal(finishReason === 'length' ? '' : task.rubricatorText(tokens), rubricator.format),
  )
}

/** Rubrics of a question that are looked at: about its first responses. */
const RUBRICS_A_QUESTION = 2

/** How good proposed rubrics are: their format, and how valid they are beyond what chance gives, on groups as training has them. */
const rubricRow = async <Problem>(
  own: Evaluated<Problem>,
  problems: readonly Problem[],
): Promise<EvalRow> => {
  const { policy, task, config, step, verifier, drifting } = own
  const { samples, temperature, topK, topP, maxTokens } = config.rollout
  const drawn = await policy.sample({
    ...{ temperature, topK, topP, maxTokens, stopTokens: task.stopTokens, seed: 'evaluation/rubrics' },
    prompts: problems.map(problem => task.prompt(problem)),
    samplesPerPrompt: samples,
  })
  const thoughts = drawn.map(({ prompt, tokens }) => ({
    problem: problems[prompt],
    response: task.read(tokens),
  }))
  const right = (await task.gradeAnswers(thoughts)).map(isRight)
  const seen = thoughts.map(({ problem, response }) => seenOf(config, task, problem, response))
  const each = Math.min(RUBRICS_A_QUESTION, samples)
  const asked = problems.flatMap((problem, p) =>
    Array.from({ length: each }, (_, n) => ({ problem, shown: seen[p * samples + n], group: p, n })),
  )
  const proposals = await propose(
    own,
    asked.map(({ problem }) => problem),
    asked.map(({ shown }) => shown),
    'evaluation/rubrics',
  )
  const rubrics = asked.map(
    ({ problem, group, n }, i): ProposedRubric<Problem> => ({
      ...{ problem, proposal: proposals[i], key: `evaluation/rubrics/${group}/${n}` },
      responses: seen.slice(group * samples, (group + 1) * samples),
    }),
  )
  const grades = await verifyProposals({ verifier }, rubrics)
  const drifted = drifting ? await verifyProposals({ verifier: drifting, truth: verifier }, rubrics) : []
  const items = problems.map((problem, p): EvalItem => {
    const correct = right.slice(p * samples, (p + 1) * samples)
    const rubrics = grades.slice(p * each, (p + 1) * each)
    return { id: task.name(problem), scores: rubricScores(rubrics, correct, config) }
  })
  return {
    ...{ step, set: EVALUATED_SETS.rubrics, n: items.length, samples: each, temperature },
    scores: scoresOf(items, Object.keys(RUBRIC_SCORES)),
    primary: 'validMinusNull',
    scoreNames: RUBRIC_SCORES,
    figures: {
      criteriaPerRubric: mean(proposals.map(({ K }) => K)),
      ...(drifting && flatAgreement(drifted.flatMap(comparedVerdicts))),
    },
    items,
  }
}

/** Figures of a verifier's agreement under dotted names. */
const flatAgreement = (compared: readonly Compared[]): MetricGroup =>
  Object.fromEntries(
    Object.entries(agreementFigures(compared)).flatMap(([name, signs]) =>
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

const rubricScores = (
  rubrics: readonly RubricGrade[],
  correct: readonly (boolean | null)[],
  config: RlcerConfig,
): Record<keyof typeof RUBRIC_SCORES, number | null> => {
  const plain = { validity: config.validity, control: null, controlAt: config.controlAt }
  const criteria = rubrics.flatMap(grade => judgedRubric(grade, correct, plain, '').criteria)
  const average = (values: readonly number[]) => (values.length > 0 ? mean(values) : null)
  const known = criteria.flatMap(({ correlation }) => correlation ?? [])
  const informative = !isConstant(correct)
  const valid = informative ? average(criteria.map(own => Number(own.valid))) : null
  const nullValid = informative ? average(criteria.map(own => chanceOf(own, correct, config))) : null
  return {
    validMinusNull: valid === null || nullValid === null ? null : valid - nullValid,
    ...{ valid, nullValid, correlation: average(known) },
    format: average(rubrics.map(({ proposal }) => Number(proposal.wellFormed))),
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
