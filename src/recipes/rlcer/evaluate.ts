/** @file Evaluation of rlcer: plain answers, answers with the policy's own rubrics as hints and with placebos, and the rubrics themselves. */

import { bestOfN } from '../../eval/passk.ts'
import type { Proposal } from '../../grade/proposal/index.ts'
import type { Sample } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { pointsWord } from '../../runs/criterion-words.ts'
import { withSamples } from '../../runs/eval-samples.ts'
import type { EvalItem, EvalRow, EvalSample } from '../../runs/rows.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import { mainTest } from '../../tasks/task.ts'
import type { ThoughtResponse } from '../../tasks/thinking.ts'
import { mean } from '../../util/statistics.ts'
import { gradeDrawn } from '../checklist/evaluate.ts'
import { scoresOf } from '../common/item-scores.ts'
import { testProblems } from '../common/test-problems.ts'
import type { RlcerConfig } from './config.ts'
import { rubricRow } from './evaluate-rubrics.ts'
import { EVALUATED_SETS, type Evaluated, type EvaluationParts, propose } from './evaluation-parts.ts'
import { fittingHints, placeboHints } from './hints.ts'
import { isRight } from './judging.ts'
import { seenOf } from './rubricator-prompt.ts'

export const evaluation =
  <Problem>(config: RlcerConfig, parts: EvaluationParts<Problem>) =>
  async (step: number, last: boolean): Promise<EvalRow[]> => {
    const own = { ...parts, config, step }
    const { evaluation: settings } = config
    const [, test] = mainTest(parts.task)
    const problems = test.slice(0, testProblems(config, step, last))
    const plain = await draw(own, problems, problem => parts.task.prompt(problem))
    const rows = [await answerRow(own, EVALUATED_SETS.plain, problems, plain)]
    if (step > 0 && !last) return rows
    if (settings.hinted) rows.push(...(await hintedRows(own, problems, plain)))
    if (settings.rubrics > 0) rows.push(await rubricRow(own, test.slice(0, settings.rubrics)))
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

const answerRow = async <Problem>(
  { task, config, step }: Evaluated<Problem>,
  set: string,
  problems: readonly Problem[],
  drawn: readonly Sample[],
  hints: readonly (readonly Criterion[])[] = [],
): Promise<EvalRow> => {
  const { samples, temperature, bestOf } = config.evaluation
  const responses = drawn.map(({ tokens }) => task.thinking.read(tokens))
  const graded = await gradeDrawn(task, problems, drawn)
  const items = problems.flatMap((problem, p): EvalItem[] => {
    const scores = knownScores(graded.slice(p * samples, (p + 1) * samples))
    if (scores.length === 0) return []
    const best = bestOf.map(n => [`best@${n}`, scores.length < n ? null : bestOfN(scores, n)] as const)
    return [{ id: task.id(problem), scores: { accuracy: mean(scores), ...Object.fromEntries(best) } }]
  })
  const row: EvalRow = {
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
  const firsts = new Map(problems.map((problem, p) => [task.id(problem), { problem, p }]))
  return withSamples(row, id => {
    const { problem, p } = firsts.get(id)!
    const i = p * samples
    return answerSample(hintedQuestion(task.question(problem), hints[p]), responses[i], graded[i], drawn[i])
  })
}

/** A question with the criteria that were told beside it. */
const hintedQuestion = (question: string, hints: readonly Criterion[] = []): string =>
  [question, ...hints.map(({ points, text }) => `${pointsWord(points)} ${text}`)].join('\n')

/** A first answer, for reading. */
const answerSample = (
  prompt: string,
  { text, answer, closed }: ThoughtResponse,
  scored: ScoredResponse,
  { tokens, finishReason }: Sample,
): EvalSample => {
  const correct = isRight(scored)
  return {
    ...{ prompt, response: text, reward: scored.score, answer: closed ? answer : null },
    ...(correct !== null && { correct }),
    ...{ tokens: tokens.length, finishReason },
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
    seenOf(config, task, problem, task.thinking.read(plain[p * samples].tokens)),
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
    const row = await answerRow(own, set, problems, await draw(own, problems, promptOf), criteria)
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
  const names = problems.map(problem => task.id(problem))
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
