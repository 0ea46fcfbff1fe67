/** @file Bodies of requests in the dialect that they are in. */

import type { Context } from 'hono'
import { type ForwardBackwardRequest, PROTOBUF } from '../../tinker/index.ts'
import { workerUrl } from '../../util/worker-url.ts'
import { Bodies } from '../http/bodies.ts'
import type { FrontBindings } from '../http/exchange.ts'
import { RequestError } from './errors.ts'
import { type Read, TINKER_READERS, type TinkerReaders } from './readers.ts'

export type Env = { Bindings: Partial<FrontBindings> }

const isProtobuf = (context: Context<Env>): boolean =>
  (context.req.header('content-type') ?? '').includes(PROTOBUF)

export class TinkerBodies {
  readonly #bodies = new Bodies(workerUrl(import.meta.url, './body-thread.js'), TINKER_READERS)

  #read<K extends keyof TinkerReaders>(
    context: Context<Env>,
    name: K,
  ): Promise<ReturnType<TinkerReaders[K]>> {
    return this.#bodies.read(name, context.env?.body ?? new Uint8Array(0))
  }

  /** The JSON of a request. @throws DataError for what is none, RequestError for protobuf */
  async of<K extends keyof TinkerReaders>(
    context: Context<Env>,
    name: K,
  ): Promise<ReturnType<TinkerReaders[K]>> {
    if (isProtobuf(context))
      throw new RequestError(415, 'expected JSON, got protobuf; only forward_backward takes it')
    return this.#read(context, name)
  }

  /** Either dialect. @throws DataError, RequestError */
  async ofComputation(context: Context<Env>): Promise<Read<ForwardBackwardRequest>> {
    const encoding = context.req.header('content-encoding')
    if (encoding && encoding !== 'identity')
      throw new RequestError(415, `expected a body that is not compressed, got ${encoding}`)
    return this.#read(context, isProtobuf(context) ? 'protobufComputation' : 'computation')
  }

  close(): Promise<void> {
    return this.#bodies.close()
  }
}
