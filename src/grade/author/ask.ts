/** @file Asks a model for something in JSON: read leniently, checked, sent back once with what is wrong, then refused. */

import type { AnswerSchema, ChatMessage, ChatModel, ChatResponse, ChatUsage } from '../../chat/chat-model.ts'
import { DataError } from '../../util/errors.ts'
import { escapeUntrusted } from '../../util/untrusted.ts'
import { type Parsed, parseAnswer } from '../judge/parse.ts'

export interface AuthorOptions {
  model: ChatModel
  /** Default 0.7: a rubric is written, not decided. */
  temperature?: number
  /** Default 4096. */
  maxTokens?: number
  seed?: number
  signal?: AbortSignal
}

export interface Authored<T> {
  value: T
  /** Calls that it took: 1, or 2 where the first answer had to be sent back. */
  attempts: number
  /** Tokens of all calls; null where the server does not say. */
  usage: ChatUsage
}

/** Of an answer that is sent back. */
const SENT_BACK_CHARACTERS = 12_000

/**
 * Asks once, and once more with the reason where the answer cannot be used.
 * @param read checks the JSON of an answer, and says everything that is wrong with it
 * @throws DataError with the reasons when the second answer cannot be used either; JudgeError when the model gives none.
 */
export const askJson = async <T>(
  { model, temperature = 0.7, maxTokens = 4096, seed, signal }: AuthorOptions,
  messages: readonly ChatMessage[],
  answerSchema: AnswerSchema,
  read: (json: unknown) => Parsed<T>,
): Promise<Authored<T>> => {
  const request = { temperature, maxTokens, seed, signal, answerSchema }
  const first = await model.complete({ ...request, messages })
  const reading = readResponse(first, read)
  if (reading.problem === undefined) return { value: reading.value, attempts: 1, usage: first.usage }
  const repair: ChatMessage[] = [
    ...messages,
    { role: 'assistant', content: escapeUntrusted(first.text.slice(0, SENT_BACK_CHARACTERS)) || '(nothing)' },
    { role: 'user', content: repairRequest(reading.problem) },
  ]
  const second = await model.complete({ ...request, messages: repair })
  const repaired = readResponse(second, read)
  if (repaired.problem === undefined)
    return { value: repaired.value, attempts: 2, usage: addUsage(first.usage, second.usage) }
  throw new DataError(`rubric author ${model.name}: no usable rubric in two answers: ${repaired.problem}`, {
    hint: 'try a stronger model, more --max-tokens, or a shorter input',
  })
}

const readResponse = <T>(response: ChatResponse, read: (json: unknown) => Parsed<T>): Parsed<T> => {
  const reading = parseAnswer(response.text, read)
  if (response.finishReason !== 'length' || (reading.problem === undefined && reading.strict)) return reading
  // Half a list can be repaired into a valid one: it is still half a list.
  return { problem: 'the answer was cut off at its token limit' }
}

const repairRequest = (problem: string): string =>
  [
    'This answer cannot be used:',
    escapeUntrusted(problem),
    'Give the whole answer again with that put right, as the JSON object only.',
  ].join('\n')

const add = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b)

/** Tokens of two calls together. */
export const addUsage = (a: ChatUsage, b: ChatUsage): ChatUsage => ({
  promptTokens: add(a.promptTokens, b.promptTokens),
  completionTokens: add(a.completionTokens, b.completionTokens),
  cachedTokens: add(a.cachedTokens, b.cachedTokens),
})
