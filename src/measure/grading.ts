/**
 * @file Grades answers as their task does: what it leaves to graders goes to rules where a criterion has one, else to a judge; apart
 * from that to a judge that training never saw.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import pMap from 'p-map'
import type { Grader } from '../grade/grader.ts'
import { rubricGrader } from '../grade/rubric-grader.ts'
import type { AnswerGrades, TaskParts } from '../recipes/common/task-kind.ts'
import type { Rollout } from '../rl/rollout.ts'
import type { Criterion, Verdict } from '../rubric/criterion.ts'
import { type ResponseScoring, scored } from '../tasks/scored-response.ts'
import type { Task } from '../tasks/task.ts'
import { DataError } from '../util/errors.ts'
import type { SavedAnswer, SavedVerdict } from './answers.ts'
import { type GradedAnswer, measuredValues } from './metrics.ts'
import { spokenTokens } from './spoken.ts'
import type { MeasuredKind, MeasuredProblem, MeasuredTask } from './task.ts'

/** A judge by what rows keep of it. */
export interface NamedJudge {
  name: string
  /** Of how it is asked and, where it is a file of this machine, of what that holds: another digest, other verdicts. */
  digest: string
  grader: Grader
}

export interface Graders {
  rules: Grader
  formal: Grader
  judge: NamedJudge | null
  heldOut: NamedJudge | null
  /** Nats a token under the model that a training started from; absent where nothing is known of one. */
  startLogprob?(answer: SavedAnswer): number | null
  /** What verdicts are worth; the signed score where absent. */
  score?: ResponseScoring
}

/** What is asked about the answer that is being graded. */
const current = new AsyncLocalStorage<{ grader: Grader; startLogprob: number | null }>()

/** A task that is opened with these is graded by `gradeAll`, which has other graders for each answer. */
export const GRADING: Pick<TaskParts, 'grader' | 'startLogprobs'> = {
  grader: { grade: (...asked) => current.getStore()!.grader.grade(...asked) },
  startLogprobs: async items => items.map(() => current.getStore()!.startLogprob),
}

/** Answers graded at a time: as many as the calls of a judge, and more than rules need. */
const CONCURRENCY = 64

/** Verdicts that a judge gave before, where the same one is asked or none is; the others are asked for. */
const remembered = (
  saved: readonly SavedVerdict[] | undefined,
  [name, digest]: readonly [name?: string, digest?: string],
  judge: NamedJudge | null,
): Grader | undefined => {
  const isOther = judge !== null && (judge.name !== name || judge.digest !== digest)
  if (saved === undefined || isOther) return judge?.grader
  const known = new Map(saved.map(verdict => [JSON.stringify([verdict.criterionId, verdict.text]), verdict]))
  const knownOf = ({ id, text }: Criterion): Verdict | undefined => {
    const verdict = known.get(JSON.stringify([id, text]))
    if (verdict === undefined || verdict.met === null) return undefined
    const { met, credit, explanation } = verdict
    return { criterionId: id, met, credit, explanation, source: 'llm' }
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

/** An answer as its task reads it. @throws DataError for a saved one that says no tokens where they are needed */
const tokensOf = ({ asked }: MeasuredKind, { id, response, finishReason, ids }: SavedAnswer): Int32Array => {
  if (asked === 'words') return spokenTokens(response, finishReason)
  if (ids !== undefined) return Int32Array.from(ids)
  throw new DataError(`${id}: expected the answer's tokens in ids, got words alone`, {
    hint: 'of this task answers can be graded that gradus eval --out has kept',
  })
}

/** An episode as it was, but for what sampling said of it. */
const rolloutOf = (
  { id, sample, episode }: SavedAnswer,
  { prompt }: MeasuredProblem,
  tokens: Int32Array,
): Rollout | undefined =>
  episode && {
    ...{ key: `${id}/${sample}`, role: 'policy', group: id, sample, prompt, tokens },
    ...{ turns: episode.turns, end: episode.end },
    mask: Uint8Array.from(episode.mask),
    logprobs: new Float32Array(tokens.length),
  }

/**
 * What graders say of all answers, by problem.
 * @param task opened with `GRADING`
 * @param onGraded called with how many answers have all their verdicts
 * @throws the signal's reason; JudgeError when every call of a judge would fail
 */
export const gradeAll = async (
  kind: MeasuredKind,
  task: Task<unknown>,
  problems: readonly MeasuredProblem[],
  answers_P: readonly (readonly SavedAnswer[])[],
  { rules, formal, judge, heldOut, startLogprob, score }: Graders,
  { onGraded, signal }: { onGraded(done: number, total: number): void; signal?: AbortSignal },
): Promise<GradedAnswer[][]> => {
  const grading = scored(task, { score })
  const jobs = problems.flatMap((problem, p) => answers_P[p].map(answer => ({ problem, answer, p })))
  let done = 0
  const graded = await pMap(
    jobs,
    async ({ problem, answer, p }) => {
      const tokens = tokensOf(kind, answer)
      const rollout = rolloutOf(answer, problem, tokens)
      // Nothing is known of an episode that failed; what has no rubric is not judged.
      const isLost = rollout && (rollout.end === 'failed' || problem.rubric.criteria.length === 0)
      const gradedBy = async (own: Grader | undefined): Promise<AnswerGrades> => {
        const outcome = answer.episode && { outcome: answer.episode.outcome }
        if (isLost) return { score: null, verdicts: [], ...outcome }
        const grader = rubricGrader({ rules, formal, ...(own && { judge: own }) })
        const asked = { grader, startLogprob: startLogprob?.(answer) ?? null }
        const item = { problem: problem.problem, tokens, ...(rollout && { rollout }) }
        const [said] = await current.run(asked, () => grading.grade([item]))
        return { score: said.score, verdicts: said.verdicts, said, ...outcome }
      }
      const { verdicts, judge: by, judgeDigest, heldOut: others, heldOutJudge, heldOutDigest } = answer
      const own = await gradedBy(remembered(verdicts, [by, judgeDigest], judge))
      const second = heldOut && (await gradedBy(remembered(others, [heldOutJudge, heldOutDigest], heldOut)))
      onGraded(++done, jobs.length)
      const text = kind.read?.(answer.response) ?? answer.response
      return { p, own: { answer, text, ...own, ...(second && { heldOut: second }) } }
    },
    { concurrency: CONCURRENCY, signal },
  )
  const graded_P: GradedAnswer[][] = problems.map(() => [])
  for (const { p, own } of graded) graded_P[p].push(own)
  return graded_P
}

/** Verdicts as a row keeps them; what a judge was asked stands beside its verdict. */
const savedVerdicts = (verdicts: readonly Verdict[], { rubric }: MeasuredProblem): SavedVerdict[] =>
  verdicts.map(({ criterionId, met, credit, explanation, source }) => ({
    criterionId,
    ...(source === 'rule' || source === 'formal'
      ? {}
      : { text: rubric.criteria.find(({ id }) => id === criterionId)?.text }),
    ...{ met, credit, explanation, source },
  }))

const judgeOf = (
  verdicts: readonly Verdict[],
  judge: NamedJudge | null,
  before: Pick<SavedAnswer, 'judge' | 'judgeDigest'>,
): Pick<SavedAnswer, 'judge' | 'judgeDigest'> => {
  if (!verdicts.some(({ source }) => source === 'llm' || source === 'model')) return {}
  return judge ? { judge: judge.name, judgeDigest: judge.digest } : before
}

/** The row of a graded answer. */
export const savedAnswer = (
  task: MeasuredTask,
  problem: MeasuredProblem,
  graded: GradedAnswer,
  { judge, heldOut }: Pick<Graders, 'judge' | 'heldOut'>,
): SavedAnswer => {
  const { answer, verdicts, heldOut: second } = graded
  const values = measuredValues(task, problem, graded)
  const { verdicts: _, heldOut: __, judge: name, judgeDigest, scores: ___, ...rest } = answer
  const { heldOutJudge: ____, heldOutDigest: _____, ...kept } = rest
  return {
    ...kept,
    scores: Object.fromEntries(Object.keys(task.scores).map(name => [name, values[name].value])),
    verdicts: savedVerdicts(verdicts, problem),
    ...judgeOf(verdicts, judge, { judge: name, judgeDigest }),
    ...(second && {
      heldOut: savedVerdicts(second.verdicts, problem),
      ...{ heldOutJudge: heldOut!.name, heldOutDigest: heldOut!.digest },
    }),
  }
}
