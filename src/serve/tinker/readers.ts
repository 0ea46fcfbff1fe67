/** @file What each request's body is read into: checked by its schema, with what tells it from another. Pure; see `Bodies`. */

import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { decodeForwardBackward, type ForwardBackwardRequest, forwardBackwardOf } from '../../tinker/index.ts'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { type JsonLimits, parseBounded } from '../http/json-body.ts'
import * as wire from './wire.ts'

/** Values and levels in the JSON of a request; a prompt has a value a token. */
const USUAL: JsonLimits = { values: 1_000_000, parts: 20_000, depth: 100, wholeText: true }
/** A request of data has three values a token and more. */
const OF_DATA: JsonLimits = { values: 8_000_000, parts: 500_000, depth: 100, wholeText: true }

/** A request, and what is the same only for a repetition of it. */
export interface Read<T> {
  request: T
  digest: string
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64')

const by =
  <S extends z.ZodType>(schema: S) =>
  (bytes: Uint8Array): Read<z.output<S>> => ({
    request: parseWith(schema, parseBounded(bytes, USUAL), 'body', DataError),
    digest: digestOf(bytes),
  })

const computation =
  (read: (bytes: Uint8Array) => ForwardBackwardRequest) =>
  (bytes: Uint8Array): Read<ForwardBackwardRequest> => ({ request: read(bytes), digest: digestOf(bytes) })

export const TINKER_READERS = {
  createSession: by(wire.createSessionSchema),
  session: by(wire.sessionSchema),
  createModel: by(wire.createModelSchema),
  model: by(wire.modelIdSchema),
  optimStep: by(wire.optimStepSchema),
  saveWeights: by(wire.saveWeightsSchema),
  saveForSampler: by(wire.saveForSamplerSchema),
  loadWeights: by(wire.loadWeightsSchema),
  createSampler: by(wire.createSamplerSchema),
  sample: by(wire.sampleSchema),
  retrieve: by(wire.retrieveSchema),
  weightsInfo: by(wire.weightsInfoSchema),
  ttl: by(wire.ttlSchema),
  computation: computation(bytes => forwardBackwardOf(parseBounded(bytes, OF_DATA))),
  protobufComputation: computation(decodeForwardBackward),
}
export type TinkerReaders = typeof TINKER_READERS
