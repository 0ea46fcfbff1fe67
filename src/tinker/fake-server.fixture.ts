/** @file A server of the protocol for tests: what it computes is handed in, what goes wrong is a list. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  forwardBackwardOf,
  forwardBackwardOutputJson,
  modelInputSchema,
  modelInputTokens,
  sampleOutputJson,
} from './json.ts'
import {
  API_PATH,
  type ForwardBackwardOutput,
  type ForwardBackwardRequest,
  PROTOBUF,
  type SampleOutput,
} from './messages.ts'
import { encodeForwardBackwardOutput, encodeSampleOutput } from './protobuf-output.ts'
import { decodeForwardBackward } from './protobuf-request.ts'

export interface FakeSampler {
  sample(
    prompt: Int32Array,
    samples: number,
    params: Record<string, unknown>,
    promptLogprobs: boolean,
  ): Promise<SampleOutput>
  /** Its archive; absent: it hands none out. */
  archive?(): Promise<Uint8Array>
}

export interface FakeModel {
  compute(request: ForwardBackwardRequest): Promise<ForwardBackwardOutput>
  step(adam: Record<string, number>): Promise<Record<string, number>>
  save(): Promise<unknown>
  load(state: unknown, optimizer: boolean): Promise<void>
  snapshot(): Promise<FakeSampler>
}

export interface FakeService {
  /** Losses that requests are refused for. */
  refuses?(lossFn: string): boolean
  /** @param role as the request says, which a server need not know of */
  create(lora: { rank: number; seed?: number }, role: unknown): Promise<FakeModel>
  base(): Promise<FakeSampler>
}

/**
 * What happens to the call of a path that has this number, from 0. `cut before`, `cut after`: the connection ends before it is
 * carried out, or before the answer. `slow`: the answer takes 150 ms.
 */
export interface Fault {
  path: string
  at: number
  kind: 'cut before' | 'cut after' | 'slow' | 'try again' | 'web page' | number
}

export interface FakeOptions {
  /** Of the dialects: what JSON gets from a server of protobuf is 415. */
  dialect?: 'json' | 'protobuf'
  /** Whether a request that comes twice is carried out once. Default true. */
  idempotent?: boolean
  key?: string
  faults?: readonly Fault[]
  maxRank?: number
}

interface Reply {
  status?: number
  location?: string
  json?: unknown
  bytes?: Uint8Array
}

interface Future {
  run: Promise<Reply>
}

const textOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

class Refused extends Error {
  readonly status: number
  constructor(status: number, detail: string) {
    super(detail)
    this.status = status
  }
}

export class FakeServer {
  /** Paths of the calls, in the order in which they came. */
  readonly calls: string[] = []
  readonly bodies: { path: string; body: Record<string, unknown> }[] = []
  readonly states = new Map<string, unknown>()
  #server: Server | null = null
  readonly #service: FakeService
  readonly #options: FakeOptions
  readonly #faults: Fault[]
  readonly #counts = new Map<string, number>()
  readonly #sessions = new Set<string>()
  readonly #models = new Map<string, { model: FakeModel; turn: Promise<unknown> }>()
  readonly #samplers = new Map<string, FakeSampler>()
  readonly #paths = new Map<string, FakeSampler>()
  readonly #futures = new Map<string, Future>()
  readonly #known = new Map<string, { text: string; id: string }>()
  #ids = 0

  constructor(service: FakeService, options: FakeOptions = {}) {
    this.#service = service
    this.#options = { dialect: 'json', idempotent: true, ...options }
    this.#faults = [...(options.faults ?? [])]
  }

  /** @param port where it was before, to come back there */
  async listen(port = 0): Promise<string> {
    this.#server = createServer((request, response) => void this.#handle(request, response))
    await new Promise<void>(resolve => this.#server!.listen(port, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server!.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise(resolve => this.#server?.close(resolve))
  }

  /** From now on this happens, too. */
  addFault(fault: Fault): void {
    this.#faults.push({ ...fault, at: fault.at + (this.#counts.get(fault.path) ?? 0) })
  }

  /** Forgets sessions, models and futures, as a server that was started anew; checkpoints stay where told so. */
  restart({ states = true } = {}): void {
    for (const kept of [this.#sessions, this.#models, this.#samplers, this.#futures, this.#known])
      kept.clear()
    if (!states) this.states.clear()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').slice(API_PATH.length + 1)
    const count = this.#counts.get(path) ?? 0
    this.#counts.set(path, count + 1)
    this.calls.push(path)
    const kind = this.#faults.find(fault => fault.path === path && fault.at === count)?.kind
    const body = await textOf(request)
    if (kind === 'cut before') return void request.socket.destroy()
    if (kind === 'slow') await sleep(150)
    let reply: Reply
    try {
      if (typeof kind === 'number') throw new Refused(kind, 'not now')
      reply =
        kind === 'try again'
          ? { json: { type: 'try_again', queue_state: 'active' } }
          : await this.#answer(path, body, request)
    } catch (error) {
      const status = error instanceof Refused ? error.status : 400
      reply = { status, json: { detail: (error as Error).message } }
    }
    if (kind === 'cut after') return void request.socket.destroy()
    if (kind === 'web page')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>proxy</html>')
    const { status = 200, json, bytes, location } = reply
    response.writeHead(status, {
      'content-type': bytes ? PROTOBUF : 'application/json',
      ...(location !== undefined && { location }),
      ...(status === 429 && { 'retry-after-ms': '5' }),
    })
    response.end(bytes ? Buffer.from(bytes) : JSON.stringify(json))
  }

  async #answer(path: string, raw: Buffer, { headers, method }: IncomingMessage): Promise<Reply> {
    if (this.#options.key !== undefined && headers['x-api-key'] !== this.#options.key)
      throw new Refused(401, `wrong key ${headers['x-api-key']}`)
    const isProtobuf = headers['content-type'] === PROTOBUF
    const body = isProtobuf || raw.length === 0 ? {} : (JSON.parse(raw.toString()) as Record<string, unknown>)
    this.bodies.push({ path, body })
    if (path === 'retrieve_future') return this.#future(String(body.request_id))
    if (path === 'forward' || path === 'forward_backward')
      return this.#computation(path, raw, isProtobuf, body, headers)
    const deleted = method === 'DELETE' ? /^training_runs\/(.+)\/checkpoints\/(.+)$/.exec(path) : null
    if (deleted) {
      const place = `tinker://${decodeURIComponent(deleted[1])}/${deleted[2]}`
      if (!this.states.delete(place) && !this.#paths.delete(place)) throw new Refused(404, 'no checkpoint')
      return { status: 204 }
    }
    const archive = /^(?:(training_runs)\/)?(.+?)\/(?:checkpoints\/)?sampler_weights\/(.+)\/archive$/.exec(
      path,
    )
    if (archive)
      return this.#archive(
        path,
        archive[1] !== undefined,
        `tinker://${archive[2]}/sampler_weights/${archive[3]}`,
      )
    const route = this.#routes[path]
    if (!route) throw new Refused(404, 'Not Found')
    return route(body)
  }

  /** The address that the protocol has points to where the archive is. */
  async #archive(path: string, isOffer: boolean, place: string): Promise<Reply> {
    const sampler = this.#paths.get(place)
    if (!sampler?.archive) throw new Refused(404, 'no archive')
    if (!isOffer) return { bytes: await sampler.archive() }
    const elsewhere = path.replace('training_runs/', '').replace('checkpoints/', '')
    return { status: 302, location: `${API_PATH}/${elsewhere}` }
  }

  async #future(id: string): Promise<Reply> {
    const future = this.#futures.get(id)
    if (!future) throw new Refused(404, 'Future not found')
    return future.run
  }

  #submit(key: string | null, text: string, run: () => Promise<Reply>): Reply {
    const known = key === null ? undefined : this.#known.get(key)
    if (known && this.#options.idempotent) {
      if (known.text !== text) throw new Refused(409, 'another request has this number')
      return { json: { request_id: known.id } }
    }
    const id = String(++this.#ids)
    const running = run().catch(error => ({ status: 400, json: { detail: (error as Error).message } }))
    this.#futures.set(id, { run: running })
    if (key !== null) this.#known.set(key, { text, id })
    return { json: { request_id: id } }
  }

  #onModel(id: unknown, seq: unknown, text: string, work: (model: FakeModel) => Promise<Reply>): Reply {
    const place = this.#models.get(String(id))
    if (!place) throw new Refused(404, 'Model not found')
    return this.#submit(`${id}/${seq}`, text, () => {
      const run = place.turn.then(() => work(place.model))
      place.turn = run.catch(() => {})
      return run
    })
  }

  #computation(
    path: string,
    raw: Buffer,
    isProtobuf: boolean,
    body: Record<string, unknown>,
    headers: IncomingMessage['headers'],
  ): Reply {
    const wantsProtobuf = this.#options.dialect === 'protobuf'
    if (wantsProtobuf && path === 'forward') throw new Refused(404, 'Not Found')
    if (wantsProtobuf !== isProtobuf) throw new Refused(isProtobuf ? 500 : 415, 'another dialect')
    const request = isProtobuf ? decodeForwardBackward(raw) : forwardBackwardOf(body)
    if (this.#service.refuses?.(request.lossFn)) throw new Refused(422, `loss_fn: unknown ${request.lossFn}`)
    if (wantsProtobuf && headers.accept === undefined) throw new Refused(406, 'accept is missing')
    return this.#onModel(request.modelId, request.seqId, raw.toString('base64'), async model => {
      const output = await model.compute(request)
      return wantsProtobuf
        ? { bytes: encodeForwardBackwardOutput(output) }
        : { json: forwardBackwardOutputJson(output) }
    })
  }

  #sampler(sampler: FakeSampler): string {
    const id = `sampling_${++this.#ids}`
    this.#samplers.set(id, sampler)
    return id
  }

  #save(
    body: Record<string, unknown>,
    folder: string,
    keep: (path: string, model: FakeModel) => Promise<void>,
  ): Reply {
    const path = `tinker://${body.model_id}/${folder}${body.path}`
    return this.#onModel(body.model_id, body.seq_id, JSON.stringify(body), async model => {
      await keep(path, model)
      return { json: { path } }
    })
  }

  readonly #routes: Record<string, (body: Record<string, unknown>) => Promise<Reply> | Reply> = {
    create_session: () => {
      const id = `session_${++this.#ids}`
      this.#sessions.add(id)
      return { json: { session_id: id, type: 'create_session' } }
    },
    session_heartbeat: body => {
      if (!this.#sessions.has(String(body.session_id))) throw new Refused(404, 'Session not found')
      return { json: { type: 'session_heartbeat' } }
    },
    get_server_capabilities: () => ({ json: { supported_models: [{ model_name: 'tiny' }] } }),
    create_model: body => {
      if (!this.#sessions.has(String(body.session_id))) throw new Refused(404, 'Session not found')
      const lora = body.lora_config as { rank: number; seed?: number }
      return this.#submit(null, '', async () => {
        if (body.base_model !== 'tiny') throw new Error(`unknown model ${body.base_model}`)
        if (lora.rank > (this.#options.maxRank ?? 64))
          throw new Error(`LoRA rank ${lora.rank} must be between 1 and 64`)
        const id = `model_${++this.#ids}`
        this.#models.set(id, {
          model: await this.#service.create(lora, body.model_role),
          turn: Promise.resolve(),
        })
        return { json: { model_id: id } }
      })
    },
    unload_model: body =>
      this.#submit(null, '', async () => {
        this.#models.delete(String(body.model_id))
        return { json: { model_id: body.model_id } }
      }),
    optim_step: body =>
      this.#onModel(body.model_id, body.seq_id, JSON.stringify(body), async model => ({
        json: { metrics: await model.step(body.adam_params as Record<string, number>) },
      })),
    save_weights: body =>
      this.#save(body, 'weights/', async (path, model) => {
        this.states.set(path, await model.save())
      }),
    load_weights: body =>
      this.#onModel(body.model_id, body.seq_id, JSON.stringify(body), async model => {
        const state = this.states.get(String(body.path))
        if (state === undefined) throw new Error(`Checkpoint not found: ${body.path}`)
        await model.load(state, body.optimizer === true)
        return { json: { type: 'load_weights' } }
      }),
    save_weights_for_sampler: body => {
      if (body.path !== undefined)
        return this.#save(body, 'sampler_weights/', async (path, model) => {
          this.#paths.set(path, await model.snapshot())
        })
      return this.#onModel(body.model_id, body.seq_id, JSON.stringify(body), async model => ({
        json: { path: null, sampling_session_id: this.#sampler(await model.snapshot()) },
      }))
    },
    create_sampling_session: async body => {
      const path = body.model_path === undefined ? null : String(body.model_path)
      const sampler = path === null ? await this.#service.base() : this.#paths.get(path)
      if (!sampler) throw new Refused(404, `no weights at ${path}`)
      return { json: { sampling_session_id: this.#sampler(sampler) } }
    },
    asample: body => {
      const sampler = this.#samplers.get(String(body.sampling_session_id))
      if (!sampler) throw new Refused(404, 'Sampling session not found')
      const prompt = modelInputTokens(modelInputSchema.parse(body.prompt))
      return this.#submit(null, '', async () => {
        const params = body.sampling_params as Record<string, unknown>
        const output = await sampler.sample(
          prompt,
          Number(body.num_samples),
          params,
          body.prompt_logprobs === true,
        )
        return this.#options.dialect === 'protobuf'
          ? { bytes: encodeSampleOutput(output) }
          : { json: sampleOutputJson(output) }
      })
    },
  }
}
