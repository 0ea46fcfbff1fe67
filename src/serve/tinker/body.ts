/** @file Bodies of requests: read within limits, in the dialect that they are in, with what tells one from another. */

import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import type { z } from 'zod'
import {
  decodeForwardBackward,
  type ForwardBackwardRequest,
  forwardBackwardOf,
  PROTOBUF,
} from '../../tinker/index.ts'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { FrontBindings } from '../http/exchange.ts'
import { parseBounded } from '../http/json-body.ts'
import { RequestError } from './errors.ts'

export type Env = { Bindings: Partial<FrontBindings> }

/** Values and levels in the JSON of a request; a request of data has a value a token and more. */
const JSON_LIMITS = { values: 8_000_000, depth: 100 }

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64')

const bytesOf = (context: Context<Env>): Uint8Array => context.env?.body ?? new Uint8Array(0)

/** The body of a request, and what tells it from others. @throws DataError for what is none */
export const bodyOf = <S extends z.ZodType>(
  context: Context<Env>,
  schema: S,
): { request: z.output<S>; digest: string } => {
  const bytes = bytesOf(context)
  const isProtobuf = (context.req.header('content-type') ?? '').includes(PROTOBUF)
  if (isProtobuf) throw new RequestError(415, 'expected JSON, got protobuf; only forward_backward takes it')
  return {
    request: parseWith(schema, parseBounded(bytes, JSON_LIMITS), 'body', DataError),
    digest: digestOf(bytes),
  }
}

/** Either dialect. @throws DataError, RequestError */
export const computationOf = (context: Context<Env>): { request: ForwardBackwardRequest; digest: string } => {
  const encoding = context.req.header('content-encoding')
  if (encoding && encoding !== 'identity')
    throw new RequestError(415, `expected a body that is not compressed, got ${encoding}`)
  const bytes = bytesOf(context)
  const isProtobuf = (context.req.header('content-type') ?? '').includes(PROTOBUF)
  const request = isProtobuf
    ? decodeForwardBackward(bytes)
    : forwardBackwardOf(parseBounded(bytes, JSON_LIMITS))
  return { request, digest: digestOf(bytes) }
}
