/** @file How a task is measured: what of `Task` is told of its problems, and which scores are counted of what graders say. */

import type { ChatMessage } from '../chat/chat-model.ts'
import type { TokenIds } from '../rl/datum.ts'
import type { Criterion, Rubric } from '../rubric/criterion.ts'
import type { TaskKind } from '../tasks/kind.ts'
import type { ScoredResponse } from '../tasks/scored-response.ts'
import type { Task } from '../tasks/task.ts'
import type { EpisodeOutcome } from '../tasks/world.ts'
import { messagesOf } from './spoken.ts'

/** What graders and, where there is one, an environment say of an answer. */
export type AnswerGrades = Pick<ScoredResponse, 'score' | 'verdicts'> & { outcome?: EpisodeOutcome | null }

/** What an answer counts; among answers by its weight (instructions of a prompt, say), 1 where absent. */
export interface CountedValue {
  /** Null where nothing is known. */
  value: number | null
  weight?: number
}

export interface TaskScore {
  words: string
  count(graded: AnswerGrades, rubric: Rubric): CountedValue
  /** What it is a number of; absent: a share. */
  unit?: 'reward'
}

/** The scores of a task; the first is what comparisons count won and lost problems by. */
export type TaskScores = Readonly<Record<string, TaskScore>>

/** A task by its name, with what is counted of it where that is more than its score. */
export interface MeasuredKind<Settings = unknown> extends TaskKind<Settings> {
  scores?: TaskScores
  primary?: string
  /** Name of a criterion's rate; null: it has none. Absent: by the task's own kinds. */
  rate?(criterion: Criterion): string | null
  /** The text that is graded of a response; absent: all of it. */
  read?(response: string): string
}

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
  { about, pays, ...kind }: MeasuredKind,
  task: Task<unknown>,
  problems: readonly MeasuredProblem[],
): MeasuredTask => {
  const isScored = !pays || problems.some(({ rubric }) => rubric.criteria.length > 0)
  const own = task.isBinary ? ACCURACY : SCORE
  const { scores = { ...(pays && PAID), ...(isScored && own) } } = kind
  return { name, about, scores, primary: kind.primary ?? Object.keys(scores)[0] }
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
    const isTold = ({ id }: Criterion) => !task.isBinary || counted.criteria.every(own => own.id !== id)
    const nameOf = rate ?? ((own: Criterion) => (isTold(own) ? (task.kind?.(own) ?? own.id) : null))
    return {
      ...{ id: task.id(problem), problem, prompt, rubric },
      messages: asked === 'words' ? messagesOf(prompt) : [{ role: 'user', content: task.show(prompt) }],
      rates: new Map(
        rubric.criteria.flatMap(own => {
          const name = nameOf(own)
          return name === null ? [] : [[own.id, name] as const]
        }),
      ),
    }
  })
