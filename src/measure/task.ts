/** @file How a task is measured: what of `Task` is told of its problems, and which scores are counted of what graders say. */

import type { ChatMessage } from '../chat/chat-model.ts'
import type { TaskKind as MeasuredKind, TaskScores } from '../recipes/common/task-kind.ts'
import type { TokenIds } from '../rl/datum.ts'
import type { Criterion, Rubric } from '../rubric/criterion.ts'
import type { Task } from '../tasks/task.ts'
import { promptMessages } from './spoken.ts'

export type { MeasuredKind }

export interface MeasuredTask {
  name: string
  about: string
  scores: TaskScores
  primary: string
}

/** A problem of a task as it is asked and told. */
export interface MeasuredProblem {
  id: string
  /** Of the task itself. */
  problem: unknown
  prompt: TokenIds
  /** What is asked, as rows of answers keep it. */
  messages: readonly ChatMessage[]
  /** All criteria that graders speak of. */
  rubric: Rubric
  /** Name of a criterion's rate by its id; several may share one, and one that is not here has none. */
  rates: ReadonlyMap<string, string>
}

const SCORE: TaskScores = { score: { words: 'rubric score', count: ({ score }) => ({ value: score }) } }

const ACCURACY: TaskScores = {
  accuracy: { words: 'answers right', count: ({ score }) => ({ value: score }) },
}

const PAID: TaskScores = {
  environment: {
    words: "the environment's reward",
    unit: 'reward',
    count: ({ outcome }) => ({
      value: outcome ? outcome.rewards.reduce<number>((sum, reward) => sum + (reward ?? 0), 0) : null,
    }),
  },
}

/** What is counted of a task that is opened. */
export const measuredTask = (
  name: string,
  { about, ...kind }: MeasuredKind,
  task: Task<unknown>,
  problems: readonly MeasuredProblem[],
): MeasuredTask => {
  const pays = task.world?.pays
  const isScored = !pays || problems.some(({ rubric }) => rubric.criteria.length > 0)
  const own = task.isBinary ? ACCURACY : SCORE
  const { scores = { ...(pays && PAID), ...(isScored && own) } } = kind
  const { primary = Object.keys(scores)[0] } = kind
  const ofProblems = typeof primary === 'string' ? primary : primary(problems.map(({ problem }) => problem))
  return { name, about, scores, primary: ofProblems }
}

/** A task's problems as they are measured. */
export const measuredProblems = (
  { asked, rate }: MeasuredKind,
  task: Task<unknown>,
  problems: readonly unknown[],
): MeasuredProblem[] =>
  problems.map(problem => {
    const prompt = task.prompt(problem)
    const counted = task.rubric(problem)
    const rubric = task.thinking?.heldOutRubric ?? counted
    // Of an answer that is right or wrong the score says so already.
    const isMeasured = ({ id }: Criterion) => !task.isBinary || counted.criteria.every(own => own.id !== id)
    const nameOf = rate ?? ((own: Criterion) => (isMeasured(own) ? (task.kind?.(own) ?? own.id) : null))
    return {
      ...{ id: task.id(problem), problem, prompt, rubric },
      messages: asked === 'words' ? promptMessages(prompt) : [{ role: 'user', content: task.show(prompt) }],
      rates: new Map(
        rubric.criteria.flatMap(own => {
          const name = nameOf(own)
          return name === null ? [] : [[own.id, name] as const]
        }),
      ),
    }
  })
