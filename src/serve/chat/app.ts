/** @file The chat server: a local checkpoint behind the OpenAI-compatible endpoints. */

import { type Context, Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { Batcher, type BatcherOptions, QueueFullError } from '../../policy/chat/batcher.ts'
import type { LocalChat } from '../../policy/chat/local-chat.ts'
import { DataError, GradusError } from '../../util/errors.ts'
import { workerUrl } from '../../util/worker-url.ts'
import { Bodies } from '../http/bodies.ts'
import type { FrontBindings } from '../http/exchange.ts'
import type { FrontLog } from '../http/front.ts'
import { errorFields } from '../http/guards.ts'
import { sameSecret } from '../reward/token.ts'
import { CHAT, COMPLETION, streamAnswer, wholeAnswer } from './answers.ts'
import { chatGeneration, checkPrompts, completionGeneration, type Generation } from './generation.ts'
import { Prompts } from './prompts.ts'
import { CHAT_READERS, type ChatReaders } from './readers.ts'
import { type ChatRequestBody, type CompletionRequestBody, WireError } from './wire.ts'

export interface ChatAppOptions extends BatcherOptions {
  /** Requests must bring it as a bearer token; none when null. */
  token?: string | null
  /** Largest body of a request; 4 MiB by default. */
  maxBodyBytes?: number
  /** Is told what nobody foresaw; the client is told only that the server failed. */
  log?: Pick<FrontLog, 'event'>
}

type Env = { Bindings: Partial<FrontBindings> }

export interface ChatApp {
  app: Hono<Env>
  /** Whether an `authorization` header has the token. */
  isAllowed(header: string | undefined): boolean
  /** Prompts that wait for a batch. */
  waiting(): number
  /** Has every answer's status told. */
  onAnswer(listener: (status: number) => void): void
  /** Resolves when everything that was accepted is answered. */
  drain(): Promise<void>
}

/** The endpoints /v1/chat/completions, /v1/completions, /v1/models and /healthz around a model. */
export const createChatApp = (model: LocalChat, options: ChatAppOptions = {}): ChatApp => {
  const { token = null, maxBodyBytes = 4 * 2 ** 20 } = options
  const batcher = new Batcher(model.policy, options)
  const bodies = new Bodies(workerUrl(import.meta.url, './body-thread.js'), CHAT_READERS)
  const prompts = new Prompts(model)
  const app = new Hono<Env>()
  const pace = new Pace()
  const maxRows = options.maxRows ?? 64
  let onStatus = (_status: number) => {}
  const isAllowed = (header: string | undefined) => token === null || sameSecret(header, `Bearer ${token}`)
  app.onError((error, context) => {
    const wireError = toWireError(error)
    if (wireError.status === 500) options.log?.event('error', errorFields(error))
    if (wireError.status === 429)
      context.header('retry-after', String(pace.retryAfterS(batcher.waiting / maxRows)))
    return context.json(wireError.body(), wireError.status)
  })
  app.use('*', async (context, next) => {
    await next()
    onStatus(context.res.status)
  })
  app.notFound(context => context.json(new WireError(404, `no such path: ${context.req.path}`).body(), 404))
  app.get('/healthz', context => context.json({ ok: true, model: model.name, waiting: batcher.waiting }))
  app.use('/v1/*', async (context, next) => {
    if (!isAllowed(context.req.header('authorization')))
      throw new WireError(401, 'a valid bearer token is needed', 'invalid_api_key')
    await next()
  })
  const { maxPositions } = model.config
  const listed = {
    ...{ id: model.name, object: 'model', created: 0, owned_by: 'gradus' },
    max_model_len: maxPositions,
  }
  app.get('/v1/models', context => context.json({ object: 'list', data: [listed] }))
  app.get('/v1/models/:id', context => {
    checkModel(model, context.req.param('id'))
    return context.json(listed)
  })
  app.post('/v1/chat/completions', async context => {
    const body = await parsedBody(context, 'chat')
    checkModel(model, body.model)
    const generation = await chatGeneration(model, prompts, body)
    return answer(context, CHAT, generation, Boolean(body.logprobs), body)
  })
  app.post('/v1/completions', async context => {
    const body = await parsedBody(context, 'completion')
    checkModel(model, body.model)
    const withLogprobs = body.logprobs !== null && body.logprobs !== undefined
    const generation = await completionGeneration(model, prompts, body)
    return answer(context, COMPLETION, generation, withLogprobs, body)
  })

  const parsedBody = async <K extends keyof ChatReaders>(context: Context<Env>, name: K) => {
    const bytes = context.env?.body ?? new Uint8Array(await context.req.arrayBuffer())
    if (bytes.byteLength > maxBodyBytes)
      throw new WireError(413, `the body has more than ${maxBodyBytes} bytes`)
    return bodies.read(name, bytes)
  }
  const answer = answering(model, batcher, pace)
  return {
    app,
    isAllowed,
    waiting: () => batcher.waiting,
    onAnswer: listener => {
      onStatus = listener
    },
    drain: async () => {
      await batcher.drain()
      await Promise.all([bodies.close(), prompts.close()])
    },
  }
}

/** Answers a request whole, or piece by piece as it is written. */
const answering =
  (model: LocalChat, batcher: Batcher, pace: Pace) =>
  async (
    context: Context<Env>,
    shape: typeof CHAT,
    request: Generation,
    withLogprobs: boolean,
    { stream, stream_options }: ChatRequestBody | CompletionRequestBody,
  ) => {
    if (!stream)
      return context.json(await pace.timed(() => wholeAnswer(shape, model, batcher, request, withLogprobs)))
    // What can be refused is refused by a status, before a stream says that all is well.
    checkPrompts(model, request)
    batcher.assertRoom()
    const settings = { withLogprobs, includeUsage: Boolean(stream_options?.include_usage) }
    return streamSSE(context, async pieces => {
      let written: Promise<unknown> = Promise.resolve()
      const send = (data: string) => {
        written = written.then(() => pieces.writeSSE({ data }))
      }
      try {
        await streamAnswer(shape, model, batcher, request, settings, send)
      } catch (error) {
        send(JSON.stringify(toWireError(error).body()))
      }
      await written
    })
  }

const checkModel = (model: LocalChat, asked: string | null | undefined): void => {
  if (asked && asked !== model.name)
    throw new WireError(
      404,
      `the model ${JSON.stringify(asked)} is not served here; ${JSON.stringify(model.name)} is`,
      'model_not_found',
    )
}

/** Weight of the newest answer in the running mean of times. */
const MEAN_WEIGHT = 0.1

/** How long answers take at present. */
class Pace {
  #meanMs = 0

  async timed<T>(work: () => Promise<T>): Promise<T> {
    const startedMs = performance.now()
    const result = await work()
    this.#meanMs += MEAN_WEIGHT * (performance.now() - startedMs - this.#meanMs)
    return result
  }

  /** When a newcomer should come back that has so many batches before it: 1 to 60 s. */
  retryAfterS(batches: number): number {
    return Math.min(60, Math.max(1, Math.ceil((this.#meanMs * batches) / 1000)))
  }
}

/** Errors that the client made keep their message; others only say that something failed here. */
const toWireError = (error: unknown): WireError => {
  if (error instanceof WireError) return error
  if (error instanceof QueueFullError) return new WireError(429, error.message, 'queue_full')
  if (error instanceof DataError) return new WireError(400, error.message)
  return new WireError(
    500,
    error instanceof GradusError ? error.message : 'the server failed on this request',
  )
}
