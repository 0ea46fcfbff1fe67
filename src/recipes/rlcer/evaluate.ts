/** @file Evaluation of rlcer: plain answers, answers with the policy's own rubrics as hints and with placebos, and the rubrics themselves. */

import { bestOfN } from '../../eval/passk.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { pointsWord } from '../../runs/criterion-words.ts'
import type { EvalRow, EvalSample } from '../../runs/rows.ts'
import { mainTest } from '../../tasks/task.ts'
import { mean } from '../../util/statistics.ts'
import { type Answer, type Answers, drawAnswers, drawsOf, gradeSamples } from '../common/answers.ts'
import { answerShare, meanTokens, type SetItem, setRow } from '../common/evaluated-set.ts'
import { testProblems } from '../common/evaluation-config.ts'
import type { RlcerConfig } from './config.ts'
import {
  EVALUATED_SETS,
  type Evaluated,
  proposalsRow,
  proposeRubrics,
  type RlcerEvaluationParts,
} from './evaluate-rubrics.ts'
import { fittingHints, placeboHints } from './hints.ts'
import { isRight } from './judging.ts'
import { seenOf } from './verification.ts'

/** A set of questions: what is behind its rows' names, and the answers to its plain prompts. */
interface EvaluatedQuestions<Problem> {
  behind: string
  problems: readonly Problem[]
  plain: Answers<Problem>
}

export const rlcerEvaluation =
  <Problem>(config: RlcerConfig, parts: RlcerEvaluationParts<Problem>) =>
  async (step: number, last: boolean): Promise<EvalRow[]> => {
    const own = { ...parts, config, step }
    const { evaluation: settings } = config
    const count = testProblems(config, step, last)
    const sets: EvaluatedQuestions<Problem>[] = []
    for (const [name, test] of Object.entries(parts.task.tests).slice(0, parts.alone ? 1 : undefined)) {
      const problems = test.slice(0, count)
      sets.push({ behind: sets.length > 0 ? ` ${name}` : '', problems, plain: await answered(own, problems) })
    }
    const rows = sets.map(({ behind, plain }) => answerRow(own, `${EVALUATED_SETS.plain}${behind}`, plain))
    if (step > 0 && !last) return rows
    for (const set of settings.hinted ? sets : []) rows.push(...(await hintedRows(own, set)))
    const [, test] = mainTest(parts.task)
    if (settings.rubrics > 0) rows.push(await proposalsRow(own, test.slice(0, settings.rubrics)))
    return rows
  }

/** Answers to prompts with these hints, where there are any. */
const answered = async <Problem>(
  { policy, task, config }: Evaluated<Problem>,
  problems: readonly Problem[],
  hints: readonly (readonly Criterion[])[] = [],
): Promise<Answers<Problem>> => {
  const promptOf = (problem: Problem, p: number) => task.prompt(problem, shownHints(hints[p]))
  return gradeSamples(task, problems, await drawAnswers(policy, problems, drawsOf(config, task), promptOf))
}

/** No hints are no part of a prompt. */
const shownHints = (hints: readonly Criterion[] = []) => (hints.length > 0 ? hints : undefined)

/** An answer for reading, with the criteria that were told beside its question. */
const readable = <Problem>(
  { question, thinking }: Evaluated<Problem>['task'],
  { problem, tokens, end, said }: Answer<Problem>,
  hints: readonly Criterion[] = [],
): EvalSample => {
  const { text, answer, closed } = thinking.read(tokens)
  const correct = isRight(said)
  return {
    prompt: [question(problem), ...hints.map(own => `${pointsWord(own.points)} ${own.text}`)].join('\n'),
    ...{ response: text, reward: said.score, answer: closed ? answer : null },
    ...(correct !== null && { correct }),
    ...{ tokens: tokens.length, finishReason: end },
  }
}

const answerRow = <Problem>(
  { task, config, step }: Evaluated<Problem>,
  set: string,
  answers_P: Answers<Problem>,
  hints: readonly (readonly Criterion[])[] = [],
): EvalRow => {
  const { samples, temperature, bestOf } = config.evaluation
  const items = answers_P.flatMap((answers, p): SetItem[] => {
    const [first] = answers
    const { problem } = first
    const scores = answers.flatMap(({ said: { score, unjudged = false } }) => (unjudged ? [] : (score ?? [])))
    if (scores.length === 0) return []
    const best = bestOf.map(n => [`best@${n}`, scores.length < n ? null : bestOfN(scores, n)] as const)
    return [
      {
        id: task.id(problem),
        scores: { accuracy: mean(scores), ...Object.fromEntries(best) },
        first: () => readable(task, first, hints[p]),
      },
    ]
  })
  return setRow({ step, set, samples, temperature }, items, {
    names: ['accuracy', ...bestOf.map(n => `best@${n}`)],
    scores: { answered: answerShare(answers_P, ({ tokens }) => task.thinking.read(tokens).closed) },
    primary: 'accuracy',
    scoreNames: Object.fromEntries(bestOf.map(n => [`best@${n}`, `best of ${n}`])),
    responseTokens: meanTokens(answers_P),
  })
}

/** With a rubric that the policy wrote about its own first response, and with another question's. */
const hintedRows = async <Problem>(
  own: Evaluated<Problem>,
  { behind, problems, plain }: EvaluatedQuestions<Problem>,
): Promise<EvalRow[]> => {
  const { task, config } = own
  const shown = plain.map(([{ problem, tokens }]) =>
    seenOf(config, task, problem, task.thinking.read(tokens)),
  )
  const proposals = await proposeRubrics(own, problems, shown, 'evaluation')
  const promptLength = (problem: Problem, hints?: readonly Criterion[]) => task.prompt(problem, hints).length
  const { evaluation, rollout, rubricator } = config
  // What a prompt leaves room for.
  const room = { maxTokens: evaluation.maxTokens ?? rollout.maxTokens, positions: own.positions }
  const hints = problems.map((problem, p) => {
    const { criteria: written, wellFormed } = proposals[p]
    const isUsable = wellFormed || rubricator.unformattedSteers
    const criteria = isUsable ? fittingHints(task, problem, written, room) : []
    const tokens = criteria.length > 0 ? promptLength(problem, criteria) - promptLength(problem) : 0
    return { criteria, tokens }
  })
  const rowWith = async (kind: string, criteria: readonly (readonly Criterion[])[]): Promise<EvalRow> => {
    const row = answerRow(own, `${kind}${behind}`, await answered(own, problems, criteria), criteria)
    const added = problems.map(
      (problem, p) => promptLength(problem, shownHints(criteria[p])) - promptLength(problem),
    )
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
  if (!evaluation.placebo) return rows
  const names = problems.map(problem => task.id(problem))
  const placebos = placeboHints(hints, names, 'evaluation').map((criteria, p) =>
    fittingHints(task, problems[p], criteria, room),
  )
  return [...rows, await rowWith(EVALUATED_SETS.placebo, placebos)]
}
