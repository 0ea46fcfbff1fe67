/** @file Grades answers: rules where a criterion has one, else a judge; apart from that a judge that training never saw. */

import pMap from 'p-map'
import type { Grader } from '../grade/grader.ts'
import { rubricGrader } from '../grade/rubric-grader.ts'
import type { Criterion, Verdict } from '../rubric/criterion.ts'
import { gradeAnswer } from '../tasks/conversation/task.ts'
import type { Answer, SavedVerdict } from './answers.ts'
import { type GradedAnswer, valuesOf } from './figures.ts'
import type { MeasuredProblem, MeasuredTask } from './task.ts'

/** A judge by the name that rows keep. */
export interface NamedJudge {
  name: string
  grader: Grader
}

export interface Graders {
  rules: Grader
  formal: Grader
  judge: NamedJudge | null
  heldOut: NamedJudge | null
  /** Nats a token under the model that a training started from; absent where nothing is known of one. */
  startLogprob?(answer: Answer): number | null
}

/** Answers graded at a time: as many as the calls of a judge, and more than rules need. */
const CONCURRENCY = 64

/** Verdicts that a judge gave before, where the same one is asked or none is; the others are asked for. */
const remembered = (
  saved: readonly SavedVerdict[] | undefined,
  by: string | undefined,
  judge: NamedJudge | null,
): Grader | undefined => {
  if (saved === undefined || (judge !== null && judge.name !== by)) return judge?.grader
  const known = new Map(saved.map(verdict => [JSON.stringify([verdict.criterionId, verdict.text]), verdict]))
  const knownOf = ({ id, text }: Criterion): Verdict | undefined => {
    const verdict = known.get(JSON.stringify([id, text]))
    if (verdict === undefined || verdict.met === null) return undefined
    const { met, credit, explanation } = verdict
    return {
      criterionId: id,
      met,
      ...(credit !== undefined && { credit }),
      ...(explanation !== undefined && { explanation }),
      source: 'llm',
    }
  }
  return {
    async grade(item, criteria, options) {
      const open = criteria.filter(criterion => knownOf(criterion) === undefined)
      const asked =
        open.length === 0 ? [] : await (judge?.grader ?? rubricGrader()).grade(item, open, options)
      const fresh = new Map(asked.map(verdict => [verdict.criterionId, verdict]))
      return criteria.map(criterion => knownOf(criterion) ?? fresh.get(criterion.id)!)
    },
  }
}

/**
 * Verdicts on all answers, by problem.
 * @param onGraded told how many answers have all their verdicts
 * @throws the signal's reason; JudgeError when every call of a judge would fail
 */
export const gradeAll = async (
  task: MeasuredTask,
  problems: readonly MeasuredProblem[],
  answers_P: readonly (readonly Answer[])[],
  { rules, formal, judge, heldOut, startLogprob }: Graders,
  { onGraded, signal }: { onGraded(done: number, total: number): void; signal?: AbortSignal },
): Promise<GradedAnswer[][]> => {
  const jobs = problems.flatMap((problem, p) => answers_P[p].map(answer => ({ problem, answer, p })))
  let done = 0
  const graded = await pMap(
    jobs,
    async ({ problem, answer, p }) => {
      const text = task.read(answer.response)
      const likely = startLogprob?.(answer) ?? null
      const read = { response: text, ...(likely !== null && { startLogprob: likely }) }
      const verdictsBy = (own: Grader | undefined): Promise<readonly Verdict[]> => {
        const grader = rubricGrader({ rules, formal, ...(own && { judge: own }) })
        return gradeAnswer(problem, read, problem.rubric.criteria, grader)
      }
      const verdicts = await verdictsBy(remembered(answer.verdicts, answer.judge, judge))
      const second = heldOut && (await verdictsBy(remembered(answer.heldOut, answer.heldOutJudge, heldOut)))
      onGraded(++done, jobs.length)
      return { p, own: { answer, text, verdicts, ...(second && { heldOut: second }) } }
    },
    { concurrency: CONCURRENCY, signal },
  )
  const graded_P: GradedAnswer[][] = problems.map(() => [])
  for (const { p, own } of graded) graded_P[p].push(own)
  return graded_P
}

/** Verdicts as a row keeps them; what a judge was asked stands beside its verdict. */
const savedVerdicts = (verdicts: readonly Verdict[], { rubric }: MeasuredProblem): SavedVerdict[] =>
  verdicts.map(({ criterionId, met, credit, explanation, source }, i) => ({
    criterionId,
    ...(source === 'rule' || source === 'formal' ? {} : { text: rubric.criteria[i].text }),
    met,
    ...(credit !== undefined && { credit }),
    ...(explanation !== undefined && { explanation }),
    source,
  }))

const judgeOf = (
  verdicts: readonly Verdict[],
  judge: NamedJudge | null,
  before: string | undefined,
): string | undefined =>
  verdicts.some(({ source }) => source === 'llm' || source === 'model') ? (judge?.name ?? before) : undefined

/** The row of a graded answer. */
export const savedAnswer = (
  task: MeasuredTask,
  problem: MeasuredProblem,
  graded: GradedAnswer,
  { judge, heldOut }: Pick<Graders, 'judge' | 'heldOut'>,
): Answer => {
  const { answer, verdicts, heldOut: second } = graded
  const values = valuesOf(task, problem, graded)
  const { verdicts: _, heldOut: __, judge: before, heldOutJudge: ___, scores: ____, ...rest } = answer
  const judgedBy = judgeOf(verdicts, judge, before)
  return {
    ...rest,
    scores: Object.fromEntries(Object.keys(task.scores).map(name => [name, values[name].value])),
    verdicts: savedVerdicts(verdicts, problem),
    ...(judgedBy !== undefined && { judge: judgedBy }),
    ...(second && { heldOut: savedVerdicts(second, problem), heldOutJudge: heldOut!.name }),
  }
}
