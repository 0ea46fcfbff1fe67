/** @file The service on a port: the HTTP front before it, who may ask, what watches it. */

import type { FrontAnswer, Handler, Refusal } from '../http/exchange.ts'
import { jsonAnswer } from '../http/exchange.ts'
import { Front, tellUnhandled } from '../http/front.ts'
import type { Unhandled } from '../http/guards.ts'
import { readGauge } from '../http/metrics.ts'
import { promptly } from '../http/watch.ts'
import type { AppParts } from './app.ts'
import { frontLog, inThisThread, type RewardBack } from './back.ts'
import { tokenCheck } from './token.ts'

export interface RewardServer {
  url: string
  port: number
  /** What nobody caught, to be counted. */
  onUnhandled: Unhandled
  /**
   * Says that it is not ready, then takes no new connections, answers what was accepted, and stops.
   * @returns how many requests were left unanswered when `limits.drainMs` had passed; 0 as a rule
   */
  drain(): Promise<number>
}

const errorBody = ({ kind, message }: Refusal) => ({
  error: { type: kind === 'malformed' ? 'invalid_request' : kind, message },
})

const notReady = (accepting: string, grading = 'ok'): FrontAnswer =>
  jsonAnswer({ ready: false, checks: { grading, accepting } }, 503)

const readyz =
  (handler: Handler) =>
  (front: Front): Handler => {
    const ask = promptly(handler, () => notReady('ok', 'no answer yet'), { maxAgeMs: 10_000 })
    return async request => (front.draining ? notReady('the service is being stopped') : ask(request))
  }

/** The front's metrics and those of the service, which come a scrape late when it is busy. */
const metrics =
  (handler: Handler, isAllowed: (header: string | undefined) => boolean) =>
  (front: Front): Handler => {
    const nothing = () => ({
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4' },
      body: '',
    })
    const ask = promptly(handler, nothing)
    return async request => {
      if (!isAllowed(request.headers.authorization)) return handler(request)
      const [own, { status, headers, body }] = await Promise.all([front.metrics.text(), ask(request)])
      if (status !== 200) return { status, headers, body }
      const theirs = typeof body === 'string' ? body : Buffer.from(body as Uint8Array).toString('utf8')
      const { 'content-length': _length, ...rest } = headers
      return { status, headers: rest, body: own + theirs }
    }
  }

/**
 * Serves until `drain`, from a service in this thread or one behind `inOwnThread`.
 * @throws ConfigError for an address that cannot be listened on
 * @example
 * const criteria = [{ id: 'right', text: 'Gives the right answer', points: 1, verifier: { kind: 'rule', fn: 'exact_answer' } }]
 * const service = await rewardService(parseRewardConfig({ rubrics: { answers: { criteria } } }))
 * const server = await startRewardServer(service, { host: '127.0.0.1', port: 0 })
 * const { status } = await fetch(`${server.url}/healthz`)
 * status // 200
 * await server.drain()
 */
export const startRewardServer = async (
  service: AppParts | RewardBack,
  { host, port }: { host: string; port: number },
): Promise<RewardServer> => {
  const back = 'handler' in service ? service : inThisThread(service)
  const { handler, limits, token, log } = back
  const isAllowed = token === null ? () => true : tokenCheck(token)
  const front = new Front({
    handler,
    limits,
    log: frontLog(log),
    hasKey: token !== null,
    errorBody,
    isAllowed: headers => isAllowed(headers.authorization),
    watch: {
      '/healthz': () => async () => jsonAnswer({ ok: true }),
      '/readyz': readyz(handler),
      '/metrics': metrics(handler, isAllowed),
    },
  })
  readGauge(
    front.metrics.registry,
    'grading_thread_restarts',
    'How often grading was stopped and begun anew.',
    gauge => gauge.set(back.restarts()),
  )
  const address = await front.listen(host, port).catch(async error => {
    await back.close()
    throw error
  })
  return {
    ...address,
    onUnhandled: tellUnhandled(front, log),
    async drain() {
      const unanswered = await front.drain()
      await back.close()
      front.close()
      return unanswered
    },
  }
}
