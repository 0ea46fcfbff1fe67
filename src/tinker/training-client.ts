/** @file A model on a server: its requests in order, submitted without waiting for the results of those before. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { chunksOf } from './chunks.ts'
import { TinkerError } from './errors.ts'
import { type Decoder, type RequestType, resultOf } from './futures.ts'
import { forwardBackwardJson, forwardBackwardOutputOf } from './json.ts'
import type { ForwardBackwardOutput, ForwardBackwardRequest, WireDatum } from './messages.ts'
import { decodeForwardBackwardOutput } from './protobuf-output.ts'
import { encodeForwardBackward } from './protobuf-request.ts'
import type { TinkerSession } from './session.ts'

export interface LoraSettings {
  rank: number
  seed?: number
  trainAttn?: boolean
  trainMlp?: boolean
  trainUnembed?: boolean
}

export interface AdamParams {
  learningRate: number
  beta1: number
  beta2: number
  epsilon: number
  weightDecay: number
  /** 0: none. */
  gradClipNorm: number
}

export type TinkerDialect = 'auto' | 'json' | 'protobuf'

/** Settled where `submitted` is: requests made later come after it at the server. */
export interface Submitted<T> {
  submitted: Promise<unknown>
  result: Promise<T>
}

const futureSchema = z.looseObject({ request_id: z.union([z.string(), z.number()]).transform(String) })
const modelSchema = z.looseObject({ model_id: z.string() })
const pathSchema = z.looseObject({ path: z.string() })
const samplerSchema = z.looseObject({
  path: z.string().nullish(),
  sampling_session_id: z.string().nullish(),
})
const metricsSchema = z.looseObject({ metrics: z.record(z.string(), z.number().nullable()).nullish() })

const read = <S extends z.ZodType>(schema: S, name: string): Decoder<z.output<S>> => ({
  json: body => parseWith(schema, body, name, DataError),
})

const OUTPUT: Decoder<ForwardBackwardOutput> = {
  json: forwardBackwardOutputOf,
  protobuf: decodeForwardBackwardOutput,
}

export class TrainingClient {
  readonly session: TinkerSession
  readonly modelId: string
  /** Whether the server knows a request that is repeated; found out by `learnRepetition`. */
  isIdempotent = false
  #dialect: TinkerDialect
  #seq = 1
  #posting: Promise<unknown> = Promise.resolve()

  private constructor(session: TinkerSession, modelId: string, dialect: TinkerDialect) {
    this.session = session
    this.modelId = modelId
    this.#dialect = dialect
  }

  /**
   * @param role `critic`: a model with a value head in place of a vocabulary's; SkyRL's (a9564572e, `model_role`), not of the protocol
   * @throws TinkerError for a model that the server does not have, or a rank that it does not allow
   */
  static async create(
    session: TinkerSession,
    baseModel: string,
    lora: LoraSettings,
    dialect: TinkerDialect = 'auto',
    role?: 'critic',
  ): Promise<TrainingClient> {
    const body = {
      session_id: session.id,
      model_seq_id: session.nextModel(),
      base_model: baseModel,
      lora_config: {
        rank: lora.rank,
        ...(lora.seed !== undefined && { seed: lora.seed }),
        train_unembed: lora.trainUnembed ?? true,
        train_mlp: lora.trainMlp ?? true,
        train_attn: lora.trainAttn ?? true,
      },
      ...(role && { model_role: role }),
      type: 'create_model',
    }
    const { connection } = session
    const future = parseWith(
      futureSchema,
      await connection.json('create_model', body),
      'create_model',
      DataError,
    )
    const model = await resultOf(
      connection,
      future.request_id,
      'CreateModel',
      read(modelSchema, 'create_model'),
    )
    return new TrainingClient(session, model.model_id, dialect)
  }

  /** Requests that are chunks of a batch, in order. */
  forward(
    data: readonly WireDatum[],
    lossFn: string,
    config?: Record<string, number>,
  ): Submitted<ForwardBackwardOutput> {
    return this.#chunks(data, { lossFn, config, forwardOnly: true })
  }

  /** The same, and the gradient is added to the model's. */
  forwardBackward(
    data: readonly WireDatum[],
    lossFn: string,
    config?: Record<string, number>,
  ): Submitted<ForwardBackwardOutput> {
    return this.#chunks(data, { lossFn, config, forwardOnly: false })
  }

  #chunks(
    data: readonly WireDatum[],
    request: Pick<ForwardBackwardRequest, 'lossFn' | 'config' | 'forwardOnly'>,
  ): Submitted<ForwardBackwardOutput> {
    const chunks = chunksOf(data).map(chunk => this.#computation({ ...request, data: chunk }))
    return quiet({
      submitted: Promise.all(chunks.map(({ submitted }) => submitted)),
      result: Promise.all(chunks.map(({ result }) => result)).then(joinedOutputs),
    })
  }

  #computation(request: Omit<ForwardBackwardRequest, 'modelId' | 'seqId'>): Submitted<ForwardBackwardOutput> {
    const repeatable = request.forwardOnly || this.isIdempotent
    const post = (seqId: number) => this.#postData({ ...request, modelId: this.modelId, seqId }, repeatable)
    return this.#inOrder(post, request.forwardOnly ? 'Forward' : 'ForwardBackward', OUTPUT)
  }

  /** In JSON, unless the server takes protobuf only. */
  async #postData(request: ForwardBackwardRequest, repeatable: boolean): Promise<string> {
    const { connection } = this.session
    if (this.#dialect !== 'protobuf') {
      const path = request.forwardOnly ? 'forward' : 'forward_backward'
      const expected = this.#dialect === 'auto' ? [404, 405, 415] : []
      const answer = await connection.call(path, forwardBackwardJson(request), { repeatable, expected })
      if (answer.status < 300) {
        this.#dialect = 'json'
        return requestIdOf(answer.bytes)
      }
      // A server that knows the path would say what it misses: such a 404 is the model's.
      const text = new TextDecoder().decode(answer.bytes)
      if (answer.status === 404 && !/"Not Found"/i.test(text))
        throw new TinkerError('missing', `${connection.origin} ${path}: ${connection.said(answer)}`, {
          hint: 'the server was restarted, or has ended the session: go on with --resume',
        })
    }
    const answer = await connection.call('forward_backward', encodeForwardBackward(request), { repeatable })
    this.#dialect = 'protobuf'
    return requestIdOf(answer.bytes)
  }

  /** @returns the server's values of the step */
  optimStep(adam: AdamParams): Submitted<Readonly<Record<string, number>>> {
    const params = {
      learning_rate: adam.learningRate,
      beta1: adam.beta1,
      beta2: adam.beta2,
      eps: adam.epsilon,
      weight_decay: adam.weightDecay,
      grad_clip_norm: adam.gradClipNorm,
    }
    const { submitted, result } = this.#ordered(
      'optim_step',
      { adam_params: params, type: 'optim_step' },
      'OptimStep',
      read(metricsSchema, 'optim_step'),
      this.isIdempotent,
    )
    return quiet({
      submitted,
      result: result.then(({ metrics }) =>
        Object.fromEntries(Object.entries(metrics ?? {}).map(([name, value]) => [name, value ?? Number.NaN])),
      ),
    })
  }

  /** Keeps weights and optimiser under a name; the path that the server knows them by. */
  async saveState(name: string): Promise<string> {
    const body = { path: name, overwrite: false, type: 'save_weights' }
    return (await this.#ordered('save_weights', body, 'SaveWeights', read(pathSchema, 'save_weights')).result)
      .path
  }

  /** Keeps weights to sample from under a name. */
  async saveSampler(name: string): Promise<string> {
    const body = { path: name, type: 'save_weights_for_sampler' }
    const reading = read(pathSchema, 'save_weights_for_sampler')
    return (await this.#ordered('save_weights_for_sampler', body, 'SaveWeightsForSampler', reading).result)
      .path
  }

  /** Weights of now to sample from: the id of a sampling session, or a path where the server makes none. */
  async snapshot(): Promise<{ sessionId: string } | { path: string }> {
    const body = { sampling_session_seq_id: this.session.nextSampler(), type: 'save_weights_for_sampler' }
    const reading = read(samplerSchema, 'save_weights_for_sampler')
    const made = await this.#ordered('save_weights_for_sampler', body, 'SaveWeightsForSampler', reading)
      .result
    if (made.sampling_session_id) return { sessionId: made.sampling_session_id }
    if (made.path) return { path: made.path }
    throw new TinkerError(
      'malformed',
      'save_weights_for_sampler: expected a sampling session or a path, got neither',
    )
  }

  /** @throws TinkerError of kind `missing` where the server no longer has it */
  async load(path: string, optimizer: boolean): Promise<void> {
    const body = { path, optimizer, type: 'load_weights' }
    await this.#ordered('load_weights', body, 'LoadWeights', read(z.looseObject({}), 'load_weights')).result
  }

  async unload(): Promise<void> {
    const { connection } = this.session
    const body = { model_id: this.modelId, type: 'unload_model' }
    const future = parseWith(
      futureSchema,
      await connection.json('unload_model', body),
      'unload_model',
      DataError,
    )
    await resultOf(connection, future.request_id, 'UnloadModel', read(z.looseObject({}), 'unload_model'))
  }

  /**
   * Finds out whether the server knows a request that it is sent twice, by one that changes nothing.
   * Where it does not, requests that change something are never repeated.
   */
  async learnRepetition(data: readonly WireDatum[]): Promise<void> {
    const seqId = this.#seq
    const request = { modelId: this.modelId, seqId, data, lossFn: 'cross_entropy', forwardOnly: true }
    const { submitted, result } = this.#computation(request)
    await submitted
    const again = await this.#postData(request, true).catch(error => {
      if (error instanceof TinkerError && (error.kind === 'conflict' || error.kind === 'refused')) return null
      throw error
    })
    await result
    this.isIdempotent = again !== null && again === this.#lastRequest
    if (again !== null && !this.isIdempotent)
      await resultOf(this.session.connection, again, 'Forward', OUTPUT)
  }

  #lastRequest = ''

  #ordered<T>(
    path: string,
    body: object,
    type: RequestType,
    reading: Decoder<T>,
    repeatable = true,
  ): Submitted<T> {
    const post = async (seqId: number) => {
      const whole = { model_id: this.modelId, seq_id: seqId, ...body }
      return requestIdOf((await this.session.connection.call(path, whole, { repeatable })).bytes)
    }
    return this.#inOrder(post, type, reading)
  }

  /** Posts after the requests before it were taken: a server without numbers goes by arrival. */
  #inOrder<T>(
    post: (seqId: number) => Promise<string>,
    type: RequestType,
    reading: Decoder<T>,
  ): Submitted<T> {
    const submitted = this.#posting.then(async () => {
      this.session.assertAlive()
      const seqId = this.#seq
      const id = await post(seqId)
      this.#seq = seqId + 1
      this.#lastRequest = id
      return { id, seqId }
    })
    this.#posting = submitted.catch(() => {})
    const result = submitted.then(({ id, seqId }) =>
      resultOf(this.session.connection, id, type, reading, () => post(seqId)),
    )
    return quiet({ submitted, result })
  }
}

/** Whoever awaits a request is told of its failure; until then it must not count as unhandled. */
const quiet = <T>(request: Submitted<T>): Submitted<T> => {
  request.submitted.catch(() => {})
  request.result.catch(() => {})
  return request
}

const requestIdOf = (bytes: Uint8Array): string => {
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder().decode(bytes))
  } catch (cause) {
    throw new TinkerError('malformed', 'expected the id of a request, got no JSON', { cause })
  }
  return parseWith(futureSchema, body, 'answer', DataError).request_id
}

/** Chunks of a batch as one: outputs one after the other, sums added up, other values of the first. */
const joinedOutputs = (chunks: readonly ForwardBackwardOutput[]): ForwardBackwardOutput => {
  const metrics: Record<string, number> = { ...chunks[0].metrics }
  for (const chunk of chunks.slice(1))
    for (const [name, value] of Object.entries(chunk.metrics))
      if (name.endsWith(':sum')) metrics[name] = (metrics[name] ?? 0) + value
  return { outputType: chunks[0].outputType, outputs: chunks.flatMap(({ outputs }) => outputs), metrics }
}
