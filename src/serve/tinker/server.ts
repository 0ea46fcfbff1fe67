/** @file A training service on a port: starts, says where it listens, and drains when it is told to stop. */

import { join } from 'node:path'
import { loadConfig } from '../../model/checkpoint.ts'
import { isAdapterFolder } from '../../model/lora-files.ts'
import type { EngineOptions } from '../../policy/index.ts'
import { type Locked, type RunLock, takeLock } from '../../runs/lock.ts'
import { ConfigError } from '../../util/errors.ts'
import { fetchHandler, jsonAnswer, type Refusal } from '../http/exchange.ts'
import { Front, type FrontLog, tellUnhandled } from '../http/front.ts'
import type { Unhandled } from '../http/guards.ts'
import { readGauge } from '../http/metrics.ts'
import { createTinkerApp, errorBody } from './app.ts'
import { TinkerBodies } from './body.ts'
import type { BaseModel } from './engines.ts'
import { type TinkerLimits, tinkerLimitsOf } from './limits.ts'
import { type ServiceOptions, TinkerService } from './service.ts'

export interface TinkerServer {
  url: string
  service: TinkerService
  /** What nobody caught, to be counted and said. */
  onUnhandled: Unhandled
  /**
   * Takes nothing new, finishes what was taken and hands its results out, and stops.
   * @returns how many requests were left unanswered when `limits.drainMs` had passed; 0 as a rule
   */
  close(): Promise<number>
}

export interface TinkerServerOptions {
  models: readonly BaseModel[]
  /** Folder of checkpoints. */
  state: string
  host?: string
  port?: number
  engine?: EngineOptions
  limits?: Partial<TinkerLimits>
  /** Clients must send it as `x-api-key`; none when null. */
  key?: string | null
  log?: FrontLog
}

/**
 * A model to be served.
 * @param name for clients; by default the folder's path, which the SDK loads the tokenizer from
 * @throws ConfigError for an adapter; CheckpointError for a folder without a model
 */
export const baseModel = (folder: string, name = folder): BaseModel => {
  if (isAdapterFolder(folder))
    throw new ConfigError(`${folder}: expected a whole model to train on, got an adapter; give its base`)
  return { name, folder, config: loadConfig(folder) }
}

const refusalBody = ({ message }: Refusal) => errorBody(message)

/** Of the folder that checkpoints are kept in: a second server would empty and delete what the first one has there. */
const STATE: Locked = {
  noun: 'state',
  whenTaken: 'stop this server, and leave the folder to that process',
  whenGone: 'stop this server, and start it anew',
}

/** @throws CheckpointError and others for a state that cannot be read */
const openService = (lock: RunLock, options: ServiceOptions): TinkerService => {
  try {
    return new TinkerService({ ...options, assertOurs: lock.assertHeld })
  } catch (error) {
    lock.release()
    throw error
  }
}

const frontLimits = (limits: TinkerLimits) => {
  const { models, rank, pending, snapshotBytes, sessionMs, quietMs, gapMs, holdMs, resultMs, ...front } =
    limits
  return front
}

/**
 * Serves models for training until `close`. Port 0 takes a free one. Beside the protocol's paths: /healthz, /metrics.
 * @throws ConfigError for an address that cannot be listened on; RunError for a state folder that another process has
 */
export const startTinkerServer = async (options: TinkerServerOptions): Promise<TinkerServer> => {
  const { models, state, host = '127.0.0.1', port = 0, key = null, log } = options
  const limits = tinkerLimitsOf(options.limits)
  const engine = { spinning: false, maxRows: 64, ...options.engine }
  const onEvent = (event: string, fields: Readonly<Record<string, unknown>>) => log?.event(event, fields)
  const lock = takeLock(state, STATE)
  const service = openService(lock, { bases: models, state, engine, limits, onEvent })
  const bodies = new TinkerBodies()
  const { app, isAllowed } = createTinkerApp(service, bodies, { key, log })
  const front = new Front({
    handler: fetchHandler(app),
    limits: frontLimits(limits),
    log: log ?? null,
    hasKey: key !== null,
    errorBody: refusalBody,
    isAllowed,
    watch: {
      '/healthz': () => async () => jsonAnswer({ ok: true, pending: service.futures.pending }),
      '/metrics': front => async request => {
        if (!isAllowed(request.headers)) return jsonAnswer(errorBody('a valid key is needed'), 401)
        const body = await front.metrics.text()
        return { status: 200, headers: { 'content-type': front.metrics.registry.contentType }, body }
      },
    },
  })
  addMetrics(front, service)
  const close = async () => {
    await Promise.all([service.close(), bodies.close()])
    lock.release()
  }
  const { url } = await front.listen(host, port).catch(async error => {
    await close()
    throw error
  })
  return {
    url,
    service,
    onUnhandled: tellUnhandled(front, log),
    async close() {
      const drained = service.drain()
      const unanswered = await front.drain()
      if (unanswered === 0) await drained
      else service.abandon()
      await close()
      front.close()
      return unanswered
    },
  }
}

const addMetrics = ({ metrics: { registry } }: Front, service: TinkerService): void => {
  const gauge = (name: string, help: string, read: () => number) =>
    readGauge(registry, `tinker_${name}`, help, one => one.set(read()))
  gauge('sessions', 'Sessions that are open.', () => service.sessions.size)
  gauge('models', 'Models in training.', () => service.training.size)
  gauge('pending', 'Requests that are not done.', () => service.futures.pending)
  gauge('waiting', 'Pieces of work that wait for the engine.', () => service.queue.waiting)
}

/** Where checkpoints are kept when nothing is said. */
export const DEFAULT_STATE = join('runs', 'tinker')
