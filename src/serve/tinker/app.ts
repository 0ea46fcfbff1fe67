/** @file The service's HTTP application: paths of the protocol, both dialects, statuses. */

import { Hono } from 'hono'
import {
  API_PATH,
  encodeForwardBackwardOutput,
  encodeSampleOutput,
  forwardBackwardOutputText,
  PROTOBUF,
  sampleOutputJson,
} from '../../tinker/index.ts'
import { DataError, GradusError } from '../../util/errors.ts'
import { packageVersion } from '../../util/package.ts'
import type { FrontLog } from '../http/front.ts'
import { errorFields } from '../http/guards.ts'
import { sameSecret } from '../reward/token.ts'
import type { Env, TinkerBodies } from './body.ts'
import { DOWNLOADS } from './downloads.ts'
import type { BaseModel } from './engines.ts'
import { RequestError, shortMessage } from './errors.ts'
import type { Result } from './futures.ts'
import { addRestRoutes } from './rest.ts'
import { infoOf, type TinkerService } from './service.ts'

export interface TinkerAppOptions {
  /** Clients must send it as `x-api-key`; null: none. */
  key: string | null
  /** Is told what nobody foresaw; the client is told only that the server failed. */
  log?: Pick<FrontLog, 'event'>
}

export interface TinkerApp {
  app: Hono<Env>
  /** Whether a request's headers have the key. */
  isAllowed(headers: { 'x-api-key'?: string | string[]; authorization?: string }): boolean
}

const future = ({ id, modelId }: { id: string; modelId?: string }) => ({
  request_id: id,
  ...(modelId && { model_id: modelId }),
})

/** A result as JSON. */
const resultText = async (result: Result): Promise<string> => {
  if (result.kind === 'output') return forwardBackwardOutputText(result.output)
  return JSON.stringify(result.kind === 'json' ? result.body : sampleOutputJson(result.output))
}

/** The same in protobuf, which there is for data alone. */
const resultBytes = (result: Result): Uint8Array<ArrayBuffer> | null => {
  if (result.kind === 'json') return null
  const bytes =
    result.kind === 'output' ? encodeForwardBackwardOutput(result.output) : encodeSampleOutput(result.output)
  return new Uint8Array(bytes)
}

/** What a client loads the tokenizer from: a name such as a hub's is good anywhere, a folder on this machine. */
const tokenizerOf = ({ name, folder }: BaseModel): string => (name.includes('/') ? name : folder)

/** An error as a client reads it. */
export const errorBody = (message: string) => ({ detail: shortMessage(message) })

const statusOf = (error: Error): RequestError['status'] | 500 => {
  if (error instanceof RequestError) return error.status
  return error instanceof DataError ? 422 : 500
}

export const createTinkerApp = (
  service: TinkerService,
  bodies: TinkerBodies,
  { key, log }: TinkerAppOptions,
): TinkerApp => {
  const app = new Hono<Env>()
  const isAllowed: TinkerApp['isAllowed'] = ({ 'x-api-key': given, authorization = '' }) =>
    key === null || sameSecret(String(given ?? authorization.replace(/^Bearer +/i, '')), key)
  app.onError((error, context) => {
    const status = statusOf(error)
    if (status === 429 || status === 503) context.header('retry-after', '1')
    if (status === 500) log?.event('error', errorFields(error))
    const isForeseen = status !== 500 || error instanceof GradusError
    const message = isForeseen ? error.message : 'the server failed on this request'
    return context.json(errorBody(message), status)
  })
  app.notFound(context => context.json({ detail: 'Not Found' }, 404))
  app.use(`${API_PATH}/*`, async (context, next) => {
    const { authorization } = context.req.header()
    const given = { 'x-api-key': context.req.header('x-api-key'), authorization }
    const { path } = context.req
    const isOpen = path === `${API_PATH}/healthz` || path.startsWith(DOWNLOADS)
    if (!isOpen && !isAllowed(given))
      throw new RequestError(401, 'a valid key is needed: set TINKER_API_KEY to it')
    await next()
  })
  const api = app.basePath(API_PATH)
  addSessionRoutes(api, service, bodies)
  addTrainingRoutes(api, service, bodies)
  addSamplingRoutes(api, service, bodies)
  addRetrieval(api, service, bodies)
  addRestRoutes(api, service, bodies)
  return { app, isAllowed }
}

type Api = Hono<Env>

const addSessionRoutes = (api: Api, service: TinkerService, bodies: TinkerBodies): void => {
  api.get('/healthz', context => context.json({ status: 'ok' }))
  api.get('/get_server_capabilities', context =>
    context.json({
      supported_models: service.bases.map(({ name, config }) => ({
        model_name: name,
        max_context_length: config.maxPositions,
      })),
    }),
  )
  api.post('/client/config', context =>
    context.json({
      pjwt_auth_enabled: false,
      credential_default_source: 'api_key',
      parallel_fwdbwd_chunks: true,
      proto_compress_fwdbwd: false,
    }),
  )
  api.post('/client/dynamic_config', context => context.json({ refresh_interval_sec: 3600 }))
  api.post('/telemetry', context => context.json({ status: 'accepted' }))
  api.post('/create_session', async context => {
    await bodies.of(context, 'createSession')
    const info = `gradus ${packageVersion()}: losses are sums over tokens; adapters have alpha 32 and leave the unembedding alone`
    return context.json({
      session_id: service.openSession(),
      info_message: info,
      warning_message: null,
      error_message: null,
      type: 'create_session',
    })
  })
  api.post('/session_heartbeat', async context => {
    service.sessions.of((await bodies.of(context, 'session')).request.session_id)
    return context.json({ type: 'session_heartbeat' })
  })
}

const addTrainingRoutes = (api: Api, service: TinkerService, bodies: TinkerBodies): void => {
  api.post('/create_model', async context => {
    const { request, digest } = await bodies.of(context, 'createModel')
    return context.json(future({ id: service.createModel(request, digest) }))
  })
  api.post('/get_info', async context => {
    const model = service.training.of((await bodies.of(context, 'model')).request.model_id)
    const { base } = model.shape
    const model_data = { arch: base.config.family, model_name: base.name, tokenizer_id: tokenizerOf(base) }
    return context.json({ ...infoOf(model), type: 'get_info', model_data, model_name: base.name })
  })
  api.post('/unload_model', async context => {
    const { request } = await bodies.of(context, 'model')
    return context.json(future(service.unloadModel(request.model_id)))
  })
  for (const path of ['/forward', '/forward_backward'])
    api.post(path, async context => {
      const { request, digest } = await bodies.ofComputation(context)
      return context.json(future(service.compute(request, digest)))
    })
  api.post('/optim_step', async context => {
    const { request, digest } = await bodies.of(context, 'optimStep')
    return context.json(future(service.step(request, digest)))
  })
  api.post('/save_weights', async context => {
    const { request, digest } = await bodies.of(context, 'saveWeights')
    return context.json(future(service.saveWeights(request, digest)))
  })
  api.post('/save_weights_for_sampler', async context => {
    const { request, digest } = await bodies.of(context, 'saveForSampler')
    return context.json(future(service.saveForSampler(request, digest)))
  })
  api.post('/load_weights', async context => {
    const { request, digest } = await bodies.of(context, 'loadWeights')
    return context.json(future(service.loadWeights(request, digest)))
  })
}

const addSamplingRoutes = (api: Api, service: TinkerService, bodies: TinkerBodies): void => {
  api.post('/create_sampling_session', async context => {
    const { request, digest } = await bodies.of(context, 'createSampler')
    const id = service.samplers.open(request, digest)
    return context.json({ sampling_session_id: id, type: 'create_sampling_session' })
  })
  api.post('/asample', async context => {
    const { request } = await bodies.of(context, 'sample')
    const id = service.samplers.sample(request)
    const sequences = Array.from({ length: request.num_samples }, (_, i) => `${id}/${i}`)
    return context.json({ ...future({ id }), sample_sequence_ids: sequences })
  })
}

const addRetrieval = (api: Api, service: TinkerService, bodies: TinkerBodies): void => {
  api.post('/retrieve_future', async context => {
    const { request } = await bodies.of(context, 'retrieve')
    const outcome = await service.outcome(request.request_id, context.env?.signal)
    if (!outcome)
      return context.json({
        type: 'try_again',
        request_id: request.request_id,
        queue_state: 'active',
        queue_state_reason: null,
      })
    if ('failure' in outcome) return context.json(outcome.failure)
    const bytes = (context.req.header('accept') ?? '').includes(PROTOBUF) ? resultBytes(outcome.result) : null
    return bytes
      ? context.body(bytes, 200, { 'content-type': PROTOBUF })
      : context.body(await resultText(outcome.result), 200, { 'content-type': 'application/json' })
  })
}
