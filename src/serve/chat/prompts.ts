/**
 * @file Prompts of requests as tokens. A tokenizer may take seconds for a word without end, and a template for thousands of turns:
 * what is not short is worked through in a thread that has a budget, and that nothing else depends on.
 */

import type { LocalChat } from '../../policy/chat/local-chat.ts'
import type { ChatWords } from '../../policy/chat/words.ts'
import { WorkCrashed, WorkTimeout } from '../../util/work-errors.ts'
import { WorkPool } from '../../util/work-pool.ts'
import { workerUrl } from '../../util/worker-url.ts'
import { WireError } from './wire.ts'

type Message = { role: string; content: string }

/** What becomes tokens: texts that are prompts, or a conversation that is one. */
export type PromptRequest = { texts: readonly string[] } | { messages: readonly Message[] }
export type PromptReply = { prompts: number[][] } | { refused: string }

/** Characters of JSON up to which a request's prompts are worked through at once. */
const SHORT_CHARACTERS = 8 * 1024
/** Milliseconds of computing, and megabytes of heap, that a longer one may take. */
const BUDGET_MS = 10_000
const HEAP_MB = 1024
/** The first of two comes even where the second hangs. */
const THREADS = 2
const IDLE_MS = 600_000

/** @throws DataError for roles that the template refuses, text that has no tokens; others of the library */
export const promptTokens = (
  { tokenizer, template, ownTemplate }: ChatWords,
  request: PromptRequest,
): { prompts: number[][] } => {
  if ('texts' in request)
    return { prompts: request.texts.map(text => tokenizer.encode(text, { addSpecialTokens: true })) }
  const text = template.render(request.messages, { addGenerationPrompt: true })
  // A model's own template writes its special tokens itself.
  return { prompts: [tokenizer.encode(text, { addSpecialTokens: !ownTemplate })] }
}

const isShort = (request: PromptRequest): boolean => JSON.stringify(request).length <= SHORT_CHARACTERS

/** Characters of a prompt for each token that the context has, beyond which no tokenizer is asked: nothing so long fits. */
const CHARACTERS_PER_POSITION = 64

export class Prompts {
  readonly #model: LocalChat
  readonly #pool: WorkPool<PromptRequest, PromptReply>

  constructor(model: LocalChat) {
    this.#model = model
    this.#pool = new WorkPool(workerUrl(import.meta.url, './prompt-thread.js'), {
      threads: THREADS,
      heapMb: HEAP_MB,
      maxBatch: 1,
      idleMs: IDLE_MS,
      data: model.wordsPlace,
    })
  }

  /** @throws WireError 400 for what cannot be a prompt, or takes more than there is for it */
  async of(request: PromptRequest): Promise<number[][]> {
    if ('texts' in request) for (const text of request.texts) this.#checkCharacters(text.length)
    else this.#checkCharacters(request.messages.reduce((sum, { content }) => sum + content.length, 0))
    const reply = isShort(request) ? this.#atOnce(request) : await this.#inThread(request)
    if ('refused' in reply) throw new WireError(400, reply.refused)
    return reply.prompts
  }

  #atOnce(request: PromptRequest): PromptReply {
    try {
      return promptTokens(this.#model, request)
    } catch (error) {
      return { refused: (error as Error).message }
    }
  }

  async #inThread(request: PromptRequest): Promise<PromptReply> {
    try {
      return await this.#pool.run(request, { budgetMs: BUDGET_MS })
    } catch (error) {
      const tooMuch = (what: string) =>
        new WireError(400, `the prompt takes more than ${what} to become tokens; send a shorter one`)
      if (error instanceof WorkTimeout) throw tooMuch(`${BUDGET_MS / 1000} s`)
      if (error instanceof WorkCrashed) throw tooMuch(`${HEAP_MB} MB of memory`)
      throw error
    }
  }

  /** @throws WireError 400 for a prompt that cannot fit, before anything works through it */
  #checkCharacters(characters: number): void {
    const { maxPositions } = this.#model.config
    const most = maxPositions * CHARACTERS_PER_POSITION
    if (characters > most)
      throw new WireError(
        400,
        `the prompt has ${characters} characters; the context has ${maxPositions} tokens, and more than ${most} characters are not read`,
        'context_length_exceeded',
      )
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
