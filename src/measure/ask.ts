/** @file Asks a chat model for answers to problems, so many at a time; those that are kept already are taken over. */

import { setMaxListeners } from 'node:events'
import pMap from 'p-map'
import type { ChatModel } from '../chat/chat-model.ts'
import { JudgeError } from '../util/errors.ts'
import { seedNumber } from '../util/rng.ts'
import type { Answer, AnswerFile, AskSettings } from './answers.ts'
import type { MeasuredProblem } from './task.ts'

/** A model that is asked. */
export interface Asked {
  chat: ChatModel
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
  answers_P: Answer[][]
  /** Problems that could not be asked, each with the reason. */
  refused: { id: string; reason: string }[]
}

/**
 * Answers to all problems. The same seed gives the same answers, whoever else is asked beside them.
 * @throws JudgeError where there is no answer to be had; what `file` throws; the signal's reason
 */
export const askAll = async (
  { chat, model, by, settings, samples, concurrency }: Asked,
  problems: readonly MeasuredProblem[],
  { onAnswer, signal }: AskEvents,
  file?: AnswerFile,
): Promise<AskedAnswers> => {
  const jobs = problems.flatMap(({ id, messages: prompt }) =>
    Array.from({ length: samples }, (_, sample) => ({ id, sample, prompt, by })),
  )
  const refused: AskedAnswers['refused'] = []
  const { temperature, maxTokens, seed } = settings
  let done = 0
  const count = <T>(result: T): T => {
    onAnswer(++done, jobs.length)
    return result
  }
  const ask = async (job: (typeof jobs)[number]): Promise<Answer | null> => {
    const { id, sample, prompt: messages } = job
    const request = { messages, maxTokens, temperature, seed: seedNumber(`${seed}/${id}/${sample}`), signal }
    try {
      const { text: response, finishReason, usage } = await chat.complete(request)
      const { completionTokens: tokens } = usage
      const answer = { ...job, response, finishReason, ...(tokens !== null && { tokens }), model, settings }
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
  const kept = jobs.map(job => file?.find(job) ?? null)
  done = kept.filter(answer => answer !== null).length
  onAnswer(done, jobs.length)
  const all = await pMap(jobs, async (job, i) => kept[i] ?? (await ask(job)), {
    concurrency: WAITING * concurrency,
    signal,
  })
  const answers_P = problems.map((_, p) =>
    all.slice(p * samples, (p + 1) * samples).flatMap(answer => answer ?? []),
  )
  return { answers_P, refused }
}
