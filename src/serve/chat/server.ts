/** @file A chat server on a port: starts, says where it listens, and drains when it is told to stop. */

import type { LocalChat } from '../../policy/chat/local-chat.ts'
import { fetchHandler, jsonAnswer, type Refusal } from '../http/exchange.ts'
import { Front, type FrontLog, tellUnhandled } from '../http/front.ts'
import type { Unhandled } from '../http/guards.ts'
import { type FrontLimits, frontLimitsOf } from '../http/limits.ts'
import { newCounter, readGauge } from '../http/metrics.ts'
import { type ChatAppOptions, createChatApp } from './app.ts'
import { WireError } from './wire.ts'

export interface ChatServer {
  url: string
  /** What nobody caught, to be counted and said. */
  onUnhandled: Unhandled
  /**
   * Takes no new connections, answers what was accepted, and stops.
   * @returns how many requests were left unanswered when `limits.drainMs` had passed; 0 as a rule
   */
  close(): Promise<number>
}

export interface ChatServerOptions extends ChatAppOptions {
  host?: string
  port?: number
  limits?: Partial<FrontLimits>
  /** Called with errors and refusals; nobody when absent. */
  log?: FrontLog
}

const errorBody = ({ status, message, kind }: Refusal) => new WireError(status, message, kind).body()

/** Largest body where nothing else is said: text for any context there is. */
const BODY_BYTES = 4 * 1024 ** 2

/** Limits of a chat server, defaults filled in. @throws ConfigError for a limit that is none */
export const chatLimits = (changes: Partial<FrontLimits> = {}): FrontLimits =>
  frontLimitsOf({ bodyBytes: BODY_BYTES, ...changes })

/**
 * Serves a model until `close`. Port 0 takes a free one. Beside the model's paths: /healthz, /metrics.
 * @throws ConfigError for an address that cannot be listened on
 */
export const startChatServer = async (
  model: LocalChat,
  { host = '127.0.0.1', port = 0, limits, log, ...options }: ChatServerOptions = {},
): Promise<ChatServer> => {
  const all = chatLimits(limits)
  const { app, drain, isAllowed, waiting, onAnswer } = createChatApp(model, {
    ...options,
    log,
    maxBodyBytes: all.bodyBytes,
  })
  const front = new Front({
    handler: fetchHandler(app),
    limits: all,
    log: log ?? null,
    hasKey: (options.token ?? null) !== null,
    errorBody,
    isAllowed: ({ authorization }) => isAllowed(authorization),
    watch: {
      '/healthz': () => async () => jsonAnswer({ ok: true, model: model.name, waiting: waiting() }),
      '/metrics': front => async request => {
        if (!isAllowed(request.headers.authorization)) return jsonAnswer(unauthorised.body(), 401)
        const body = await front.metrics.text()
        return { status: 200, headers: { 'content-type': front.metrics.registry.contentType }, body }
      },
    },
  })
  const { registry } = front.metrics
  const answers = newCounter(registry, 'chat_requests_total', 'Requests answered.', ['status'])
  onAnswer(status => answers.inc({ status: String(status) }))
  readGauge(registry, 'chat_waiting', 'Prompts that wait for a batch.', gauge => gauge.set(waiting()))
  const { url } = await front.listen(host, port).catch(async error => {
    await model.policy.close()
    throw error
  })
  return {
    url,
    onUnhandled: tellUnhandled(front, log),
    async close() {
      const unanswered = await front.drain()
      if (unanswered === 0) await drain()
      await model.policy.close()
      front.close()
      return unanswered
    },
  }
}

const unauthorised = new WireError(401, 'a valid bearer token is needed', 'invalid_api_key')
