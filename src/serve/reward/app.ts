/** @file The HTTP face of the service: routes, token, limits, errors as JSON, log and metrics. */

import { randomUUID } from 'node:crypto'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { GradusError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { FrontBindings } from '../http/exchange.ts'
import { parseBounded } from '../http/json-body.ts'
import { type AccessEntry, type AccessLog, samplesOf } from './access-log.ts'
import type { RewardConfig, RouteConfig } from './config.ts'
import { InvalidRequest, ServiceError } from './errors.ts'
import type { RewardItem, RewardResult } from './item.ts'
import type { RewardMetrics } from './metrics.ts'
import { openApi } from './openapi.ts'
import type { ReadinessCheck } from './readiness.ts'
import { gradeRoute } from './routes/grade.ts'
import { nemoGymRoute } from './routes/nemo-gym.ts'
import { openRlhfRoute } from './routes/openrlhf.ts'
import type { RewardRoute, SideRoute } from './routes/route.ts'
import { slimeRoute } from './routes/slime.ts'
import { ClientGone, type RewardService } from './service.ts'
import { tokenCheck } from './token.ts'

export interface AppParts {
  service: RewardService
  metrics: RewardMetrics
  readiness: ReadinessCheck
  /** Null: requests are not logged. */
  log: AccessLog | null
  /** Null: everyone may ask. */
  token: string | null
}

interface Variables {
  entry: AccessEntry
}
type Env = { Bindings: Partial<FrontBindings>; Variables: Variables }
type Ctx = Context<Env>

/** nginx's status for a client that did not wait; only in the log, nobody gets it. */
const CLIENT_GONE = 499

const requestId = (asked: string | undefined): string =>
  asked !== undefined && /^[\w.:-]{1,80}$/.test(asked) ? asked : randomUUID()

/** Longest message of an error, characters: it may quote what was sent. */
const LONGEST_MESSAGE = 4_000

const shortened = (text: string): string =>
  text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}...` : text

/** What a client is told of an error. Only errors that it can act on keep their words. */
const errorBody = (error: unknown) => {
  if (error instanceof ServiceError) return { type: error.kind, message: shortened(error.message) }
  const message =
    error instanceof GradusError ? error.message : 'the service failed on this request; its log says more'
  return { type: 'internal', message }
}

const statusOf = (error: unknown) => (error instanceof ServiceError ? error.status : 500)

/** The JSON of a body, read whole by the front where there is one. @throws ServiceError: 413 or 400 */
const readJson = async (c: Ctx, { bodyBytes, jsonValues, jsonDepth }: RewardConfig['limits']) => {
  const bytes = c.env?.body ?? new Uint8Array(await c.req.arrayBuffer())
  if (bytes.byteLength > bodyBytes)
    throw new ServiceError('too_large', `body: expected at most ${bodyBytes} bytes, got more`, {
      hint: 'send fewer items at a time, or raise limits.bodyBytes',
    })
  return parseBounded(bytes, { values: jsonValues, depth: jsonDepth }, InvalidRequest)
}

/** Aborted when the client is gone; never without a front. */
const goneSignal = (c: Ctx): AbortSignal => c.env?.signal ?? new AbortController().signal

/** Everything that grades goes through these: counted and logged. */
const observe = ({ metrics, log }: AppParts): MiddlewareHandler<Env> => {
  return async (c, next) => {
    const startedMs = performance.now()
    const id = requestId(c.req.header('x-request-id'))
    const entry: AccessEntry = { id, method: c.req.method, route: 'unknown', status: 0, ms: 0 }
    c.set('entry', entry)
    try {
      await next()
    } finally {
      c.header('x-request-id', id)
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
  if (entry !== undefined) entry.error = error instanceof ClientGone ? 'client_gone' : body.type
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

const gradingHandler = (parts: AppParts, route: RewardRoute) => {
  const { service, metrics } = parts
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
    const given = await readJson(c, limits)
    // Before its shape is looked at: a fault in each of a million items is a long list.
    checkBatch(route.count(given), limits.batch)
    const body = parseWith(route.request, given, 'body', InvalidRequest)
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
    const given = side.request === undefined ? undefined : await readJson(c, service.config.limits)
    const body =
      side.request === undefined ? undefined : parseWith(side.request, given, 'body', InvalidRequest)
    return c.json(side.answer(body) as object)
  }

/** Paths for people and machines that watch the service. */
const addProbes = (app: Hono<Env>, { metrics, readiness }: AppParts): void => {
  app.get('/healthz', c => c.json({ ok: true }))
  app.get('/readyz', async c => {
    const { ready, checks } = await readiness.read()
    return c.json({ ready, checks: { ...checks, accepting: 'ok' } }, ready ? 200 : 503)
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

/** The route that a configuration describes. */
const makeRoute = (config: RouteConfig): RewardRoute => {
  switch (config.kind) {
    case 'grade':
      return gradeRoute(config) as RewardRoute
    case 'openrlhf':
      return openRlhfRoute(config) as RewardRoute
    case 'slime':
      return slimeRoute(config) as RewardRoute
    case 'nemo-gym':
      return nemoGymRoute(config) as RewardRoute
  }
}
