/** @file The HTTP face of the service: routes, token, limits, errors as JSON, log and figures. */

import { randomUUID } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { GradusError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { type AccessEntry, type AccessLog, samplesOf } from './access-log.ts'
import { readJson } from './body.ts'
import { InvalidRequest, ServiceError } from './errors.ts'
import type { RewardItem, RewardResult } from './item.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { RewardMetrics } from './metrics.ts'
import { openApi } from './openapi.ts'
import type { ReadinessCheck } from './readiness.ts'
import { makeRoute } from './routes/index.ts'
import type { Route, SideRoute } from './routes/route.ts'
import { ClientGone, type RewardService } from './service.ts'
import { tokenCheck } from './token.ts'

export interface AppParts {
  service: RewardService
  metrics: RewardMetrics
  lifecycle: Lifecycle
  readiness: ReadinessCheck
  /** Null: requests are not logged. */
  log: AccessLog | null
  /** Null: everyone may ask. */
  token: string | null
}

interface Variables {
  entry: AccessEntry
}
type Env = { Bindings: Partial<HttpBindings>; Variables: Variables }
type Ctx = Context<Env>

/** nginx's status for a client that did not wait; only in the log, nobody gets it. */
const CLIENT_GONE = 499

const requestId = (asked: string | undefined): string =>
  asked !== undefined && /^[\w.:-]{1,80}$/.test(asked) ? asked : randomUUID()

/** What a client is told of an error. Only errors that it can act on keep their words. */
const errorBody = (error: unknown) => {
  if (error instanceof ServiceError) return { type: error.kind, message: error.message }
  const message =
    error instanceof GradusError ? error.message : 'the service failed on this request; its log says more'
  return { type: 'internal', message }
}

const statusOf = (error: unknown) => (error instanceof ServiceError ? error.status : 500)

/** Aborts when the connection is gone before the answer is out. */
const goneSignal = (c: Ctx): AbortSignal => {
  const controller = new AbortController()
  const outgoing = c.env?.outgoing
  outgoing?.once('close', () => {
    if (!outgoing.writableFinished) controller.abort()
  })
  return controller.signal
}

/** Everything that grades goes through these: counted, logged, refused when the service is shut. */
const observe = ({ lifecycle, metrics, log }: AppParts): MiddlewareHandler<Env> => {
  return async (c, next) => {
    const startedMs = performance.now()
    const id = requestId(c.req.header('x-request-id'))
    const entry: AccessEntry = { id, method: c.req.method, route: 'unknown', status: 0, ms: 0 }
    c.set('entry', entry)
    lifecycle.enter()
    // Answered is what has left the process, not what was handed over to be sent.
    c.env?.outgoing?.once('close', () => lifecycle.leave())
    try {
      await next()
    } finally {
      if (c.env?.outgoing === undefined) lifecycle.leave()
      c.header('x-request-id', id)
      if (lifecycle.draining) c.header('connection', 'close')
      entry.status = c.error instanceof ClientGone ? CLIENT_GONE : c.res.status
      entry.ms = performance.now() - startedMs
      metrics.request(entry.route, entry.status, entry.ms)
      log?.request(entry)
    }
  }
}

const authorise = ({ token }: AppParts): MiddlewareHandler<Env> => {
  const isRight = token === null ? () => true : tokenCheck(token)
  return async (c, next) => {
    if (!isRight(c.req.header('authorization'))) {
      c.header('www-authenticate', 'Bearer, Basic')
      throw new ServiceError(
        'unauthorized',
        'authorization: expected the token of this service, got none or another',
        {
          hint: 'send "authorization: Bearer TOKEN", or put it into the URL as http://any:TOKEN@host',
        },
      )
    }
    await next()
  }
}

const handleError = (log: AccessLog | null) => (error: Error, c: Ctx) => {
  const entry = c.get('entry')
  const body = errorBody(error)
  if (entry !== undefined) entry.error = body.type
  if (!(error instanceof ServiceError) && !(error instanceof ClientGone))
    log?.event('error', { id: entry?.id, message: error.message, stack: error.stack })
  if (error instanceof ServiceError && error.retryAfterS !== undefined)
    c.header('retry-after', String(error.retryAfterS))
  return c.json({ error: body }, statusOf(error))
}

const checkBatch = (count: number, most: number): void => {
  if (count <= most) return
  throw new ServiceError('invalid_request', `body: expected at most ${most} items, got ${count}`, {
    hint: 'send fewer at a time, or raise limits.batch',
  })
}

const gradingHandler = (parts: AppParts, route: Route) => {
  const { service, metrics, lifecycle } = parts
  const { limits, log } = service.config
  const note = (entry: AccessEntry, items: RewardItem[], results: RewardResult[]) => {
    entry.items = items.length
    entry.nulls = results.reduce((sum, { nulls }) => sum + nulls.positive + nulls.negative, 0)
    if (log.text) entry.samples = samplesOf(items, results)
    metrics.graded(route.config.path, items.length)
  }
  return async (c: Ctx) => {
    const entry = c.get('entry')
    entry.route = route.config.path
    if (lifecycle.shut) throw new ServiceError('draining', 'the service is being stopped', { retryAfterS: 1 })
    const body = parseWith(route.request, await readJson(c, limits.bodyBytes), 'body', InvalidRequest)
    checkBatch(route.count(body), limits.batch)
    const items = route.items(body)
    const results = await service.grade(items, route.config, route.place, goneSignal(c))
    note(entry, items, results)
    return c.json(route.answer(body, results) as object)
  }
}

const sideHandler =
  ({ service }: AppParts, side: SideRoute) =>
  async (c: Ctx) => {
    c.get('entry').route = side.path
    const given = side.request === undefined ? undefined : await readJson(c, service.config.limits.bodyBytes)
    const body =
      side.request === undefined ? undefined : parseWith(side.request, given, 'body', InvalidRequest)
    return c.json(side.answer(body) as object)
  }

/** Paths for people and machines that watch the service. */
const addProbes = (app: Hono<Env>, { metrics, lifecycle, readiness }: AppParts): void => {
  app.get('/healthz', c => c.json({ ok: true }))
  app.get('/readyz', async c => {
    const { ready, checks } = await readiness.read()
    const accepting = lifecycle.draining ? 'the service is being stopped' : 'ok'
    const all = ready && !lifecycle.draining
    return c.json({ ready: all, checks: { ...checks, accepting } }, all ? 200 : 503)
  })
  app.get('/metrics', async c => {
    c.header('content-type', metrics.registry.contentType)
    return c.body(await metrics.text())
  })
}

/** The application of a service. */
export const rewardApp = (parts: AppParts): Hono<Env> => {
  const { service, token, log } = parts
  const routes = service.config.routes.map(makeRoute)
  const app = new Hono<Env>()
  app.onError(handleError(log))
  const guard = authorise(parts)
  for (const path of ['/metrics', '/openapi.json']) app.use(path, guard)
  addProbes(app, parts)
  const document = openApi(routes, token !== null)
  app.get('/openapi.json', c => c.json(document))
  app.use('*', observe(parts), guard)
  for (const route of routes) {
    app.post(route.config.path, gradingHandler(parts, route))
    for (const side of route.side ?? [])
      app.on(side.method.toUpperCase(), side.path, sideHandler(parts, side))
  }
  app.notFound(c => {
    const paths = routes.map(({ config }) => `POST ${config.path}`).join(', ')
    const error = new ServiceError(
      'not_found',
      `${c.req.method} ${c.req.path}: no such path; there are ${paths}`,
    )
    return c.json({ error: errorBody(error) }, 404)
  })
  return app
}
