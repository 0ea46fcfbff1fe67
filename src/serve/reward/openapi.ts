/** @file The OpenAPI 3.1 document, made of the schemas that check requests. */

import { z } from 'zod'
import { packageVersion } from '../../util/package.ts'
import type { RewardRoute, SideRoute } from './routes/route.ts'

type Json = Record<string, unknown>

const errorSchema = z.object({
  error: z.object({ type: z.string(), message: z.string() }),
})

const readinessSchema = z.object({ ready: z.boolean(), checks: z.record(z.string(), z.string()) })

const ERRORS: Record<string, string> = {
  400: 'The request does not have this shape',
  401: 'No token, or a wrong one',
  408: 'The body did not arrive in time',
  413: 'The body is too large',
  422: 'A response is longer than limits.responseCharacters',
  429: 'Too much is under way or waits; retry-after says when to come back',
  500: 'An error of the service',
  502: 'The judges can answer nothing',
  503: 'Grading was stopped and starts anew, or there is no reward and the route is set to refuse',
  504: 'The deadline has passed',
}

/** A schema whose references into itself point to where it lies in the document. */
const placed = (schema: unknown, place: string): unknown =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' && typeof value === 'string'
      ? value.replace(/^#(\/\$defs\/)?/, (_, inner) => (inner ? `${place}.` : place))
      : value,
  )

/** Schemas by name. */
class Components {
  readonly schemas: Record<string, unknown> = {}

  add(name: string, schema: z.ZodType, io: 'input' | 'output'): Json {
    const place = `#/components/schemas/${name}`
    const { $schema: _version, $defs = {}, ...own } = placed(z.toJSONSchema(schema, { io }), place) as Json
    this.schemas[name] = own
    for (const [key, value] of Object.entries($defs as Json)) this.schemas[`${name}.${key}`] = value
    return { $ref: place }
  }
}

const json = (schema: Json): Json => ({ content: { 'application/json': { schema } } })

type Operation = Omit<SideRoute, 'answer'>

/** `PostV1Grade` of POST /v1/grade. */
const operationName = ({ method, path }: Operation): string =>
  `${method}${path}`
    .split(/[^A-Za-z0-9]+/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const operationOf = (operation: Operation, components: Components, errors: Json, open: boolean): Json => {
  const name = operationName(operation)
  const { request, response, summary } = operation
  return {
    operationId: name.charAt(0).toLowerCase() + name.slice(1),
    summary,
    ...(open && { security: [] }),
    ...(request && {
      requestBody: { required: true, ...json(components.add(`${name}Request`, request, 'input')) },
    }),
    responses: {
      200: { description: 'Done', ...json(components.add(`${name}Response`, response, 'output')) },
      ...errors,
    },
  }
}

const PROBES: Operation[] = [
  {
    method: 'get',
    path: '/healthz',
    summary: 'The process runs',
    response: z.object({ ok: z.literal(true) }),
  },
]

const readyz = (components: Components): Json => {
  const schema = json(components.add('Readiness', readinessSchema, 'output'))
  return {
    operationId: 'readyz',
    summary: 'It can grade: judges reachable, cache open, not being stopped',
    security: [],
    responses: { 200: { description: 'Ready', ...schema }, 503: { description: 'Not ready', ...schema } },
  }
}

const metrics = {
  operationId: 'metrics',
  summary: 'Metrics for Prometheus',
  responses: { 200: { description: 'Metrics', content: { 'text/plain': { schema: { type: 'string' } } } } },
}

/** OpenAPI document of a service with these routes. */
export const openApi = (routes: readonly RewardRoute[], hasToken: boolean): Json => {
  const components = new Components()
  const error = json(components.add('Error', errorSchema, 'output'))
  const errors = Object.fromEntries(
    Object.entries(ERRORS).map(([status, description]) => [status, { description, ...error }]),
  )
  const paths: Record<string, Json> = {}
  const put = (operation: Operation, itsErrors: Json, open = false) => {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: operationOf(operation, components, itsErrors, open),
    }
  }
  for (const { config, summary, request, response, side = [] } of routes) {
    put({ method: 'post', path: config.path, summary, request, response }, errors)
    for (const each of side)
      put(each, each.request ? { 400: errors[400], 401: errors[401] } : { 401: errors[401] })
  }
  for (const probe of PROBES) put(probe, {}, true)
  paths['/readyz'] = { get: readyz(components) }
  paths['/metrics'] = { get: metrics }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gradus reward service',
      version: packageVersion(),
      description: 'Rewards for responses, by rubrics.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    ...(hasToken && { security: [{ token: [] }, { password: [] }] }),
    paths,
    components: {
      schemas: components.schemas,
      ...(hasToken && {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer' },
          password: { type: 'http', scheme: 'basic', description: 'The token as password; any user name' },
        },
      }),
    },
  }
}
