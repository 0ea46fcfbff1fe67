/** @file Asks for answers to problems, so many at a time; those that are kept already are taken over. Who answers is `Ask`. */

import { setMaxListeners } from 'node:events'
import pMap from 'p-map'
import type { ChatModel } from '../chat/chat-model.ts'
import { Batcher } from '../policy/chat/batcher.ts'
import type { Task } from '../tasks/task.ts'
import { StepRollouts } from '../train/rollout.ts'
import type { SamplingPolicy } from '../train/sampling.ts'
import { JudgeError } from '../util/errors.ts'
import { seedNumber } from '../util/rng.ts'
import type { AnswerFile, AskSettings, SavedAnswer } from './answers.ts'
import type { MeasuredProblem } from './task.ts'

type Reply = Pick<SavedAnswer, 'response' | 'finishReason' | 'tokens' | 'ids' | 'episode'>

type AskedProblem = Pick<MeasuredProblem, 'id' | 'messages'>

/** Has one answer to a problem. */
export type Ask<Problem extends AskedProblem = MeasuredProblem> = (
  problem: Problem,
  seed: string,
  signal: AbortSignal,
) => Promise<Reply>

/** How a model is asked in words. */
export const askInText =
  (chat: ChatModel, { temperature, maxTokens }: AskSettings): Ask<AskedProblem> =>
  async ({ messages }, seed, signal) => {
    const request = { messages, maxTokens, temperature, seed: seedNumber(seed), signal }
    const { text: response, finishReason, usage } = await chat.complete(request)
    const { completionTokens: tokens } = usage
    return { response, finishReason, ...(tokens !== null && { tokens }) }
  }

/** What a policy has beside what it can do. */
export interface AskedPolicy {
  policy: SamplingPolicy
  /** Places of its context. */
  positions: number
  /** Rows that are decoded together. */
  concurrency: number
}

/** How it is asked in the task's own tokens. */
export const askInTokens = (
  { policy, positions, concurrency: maxRows }: AskedPolicy,
  { stopTokens, show }: Task<unknown>,
  { temperature, maxTokens }: AskSettings,
): Ask => {
  const batcher = new Batcher(policy, { maxRows, maxWaiting: Number.POSITIVE_INFINITY })
  return async ({ prompt: promptTokens }, seed) => {
    const room = Math.min(maxTokens, positions - promptTokens.length)
    if (room < 1)
      throw new JudgeError(
        'bad-request',
        `the prompt has ${promptTokens.length} tokens, the context ${positions}`,
      )
    const options = { maxTokens: room, temperature, stopTokens }
    const [{ tokens, finishReason }] = await batcher.submit({ promptTokens, options, count: 1, seed })
    return { response: show(tokens), finishReason, tokens: tokens.length, ids: Array.from(tokens) }
  }
}

/** How it acts in the task's world, an episode an answer. */
export const askInTurns = (
  { policy }: AskedPolicy,
  task: Task<unknown>,
  { temperature, maxTokens }: AskSettings,
): Ask => {
  const { environment: world, limits, stopStrings, outcome } = task.world!
  return async ({ problem }, seed) => {
    const [[{ rollout, grade }]] = await new StepRollouts(policy, { seed, step: 0 }).rollOut({
      ...{ problems: [problem], samples: 1, prompt: (own: unknown) => task.prompt(own) },
      sampling: { maxTokens, temperature, stopTokens: task.stopTokens, stopStrings },
      environment: { world, limits },
      grade: async items => items.map(({ rollout: { key } }) => outcome(key)),
    })
    const { tokens, mask, turns, end, failure } = rollout
    return {
      response: task.show(tokens),
      finishReason: end,
      ...{ tokens: tokens.length, ids: Array.from(tokens) },
      episode: {
        ...{ mask: Array.from(mask), turns: turns.map(({ start, end }) => ({ start, end })), end },
        outcome: grade && { ...grade, rewards: [...grade.rewards] },
        ...(failure !== undefined && { failure }),
      },
    }
  }
}

/** Who is asked. */
export interface Asked<Problem extends AskedProblem> {
  ask: Ask<Problem>
  /** As it was named. */
  model: string
  /** Names who answers and how it is asked. */
  by: string
  settings: AskSettings
  samples: number
  /** Requests at a time. */
  concurrency: number
}

export interface AskEvents {
  /** Answers that are there, of all. */
  onAnswer(done: number, total: number): void
  signal: AbortSignal
}

/** Beyond what the model is asked at a time no request waits inside it. */
const WAITING = 2

/** A prompt that the model cannot be asked, as one that is longer than its context. */
const isRefusal = (error: unknown): error is JudgeError =>
  error instanceof JudgeError && error.kind === 'bad-request'

export interface AskedAnswers {
  /** By problem; empty where there is none. */
  answers_P: SavedAnswer[][]
  /** Problems that could not be asked, each with the reason. */
  refused: { id: string; reason: string }[]
}

/**
 * Answers to all problems. The same seed gives the same answers, whoever else is asked beside them.
 * @throws JudgeError where there is no answer to be had; what `file` throws; the signal's reason
 */
export const askAll = async <Problem extends AskedProblem>(
  { ask, model, by, settings, samples, concurrency }: Asked<Problem>,
  problems: readonly Problem[],
  { onAnswer, signal }: AskEvents,
  file?: AnswerFile,
): Promise<AskedAnswers> => {
  const jobs = problems.flatMap(problem =>
    Array.from({ length: samples }, (_, sample) => ({
      problem,
      row: { id: problem.id, sample, prompt: problem.messages, by },
    })),
  )
  const refused: AskedAnswers['refused'] = []
  let done = 0
  const count = <T>(result: T): T => {
    onAnswer(++done, jobs.length)
    return result
  }
  const answered = async ({ problem, row }: (typeof jobs)[number]): Promise<SavedAnswer | null> => {
    const { id, sample } = row
    try {
      const reply = await ask(problem, `${settings.seed}/${id}/${sample}`, signal)
      const answer = { ...row, ...reply, model, settings }
      file?.add(answer)
      return count(answer)
    } catch (error) {
      if (!isRefusal(error)) throw error
      refused.push({ id, reason: error.message })
      return count(null)
    }
  }
  // Every request under way listens.
  setMaxListeners(0, signal)
  const kept = jobs.map(({ row }) => file?.find(row) ?? null)
  done = kept.filter(answer => answer !== null).length
  onAnswer(done, jobs.length)
  const all = await pMap(jobs, async (job, i) => kept[i] ?? (await answered(job)), {
    concurrency: WAITING * concurrency,
    signal,
  })
  const answers_P = problems.map((_, p) =>
    all.slice(p * samples, (p + 1) * samples).flatMap(answer => answer ?? []),
  )
  return { answers_P, refused }
}
