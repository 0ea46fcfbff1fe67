/** @file A training service around a tiny model, and clients of it; everything ends with the test. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TINY, tinyEngine } from '../../policy/local/tiny-model.fixture.ts'
import {
  Connection,
  floatTensor,
  type LoraSettings,
  type TinkerDialect,
  TinkerSession,
  TrainingClient,
  tokenTensor,
  type WireDatum,
} from '../../tinker/index.ts'
import { baseModel, startTinkerServer, type TinkerServer, type TinkerServerOptions } from './index.ts'

const open: (() => unknown)[] = []

/** Ends what the tests have opened, the newest first. */
export const endAll = async (): Promise<void> => {
  for (const end of open.splice(0).reverse()) await end()
}

export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-tinker-'))
  open.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Folder of the tiny model, whose token 16 ends a text. */
export const tinyFolder = async (): Promise<string> => {
  const folder = join(temporaryFolder(), 'tiny')
  const engine = tinyEngine({ init: { config: { ...TINY, eosTokenIds: [16] }, seed: 1 } })
  await engine.save(folder, { optimizer: false })
  return folder
}

export interface Started {
  server: TinkerServer
  url: string
  folder: string
  state: string
  connect(apiKey?: string): Promise<TinkerSession>
  client(lora?: LoraSettings, dialect?: TinkerDialect): Promise<TrainingClient>
}

/** A server of a model named `tiny`. */
export const startService = async (options: Partial<TinkerServerOptions> = {}): Promise<Started> => {
  const state = options.state ?? temporaryFolder()
  const folder = options.models?.[0].folder ?? (await tinyFolder())
  const server = await startTinkerServer({
    models: [baseModel(folder, 'tiny')],
    engine: { threads: 1, spinning: false },
    ...options,
    state,
    limits: { drainNoticeMs: 1, drainMs: 5_000, ...options.limits },
  })
  open.push(() => server.close())
  const connect = async (apiKey?: string) => {
    const connection = new Connection({ url: server.url, apiKey, backoffMs: 5, patienceMs: 5_000 })
    open.push(() => connection.close())
    const session = await TinkerSession.open(connection)
    open.push(() => session.close())
    return session
  }
  const client = async (lora: LoraSettings = { rank: 4, seed: 3 }, dialect?: TinkerDialect) =>
    TrainingClient.create(await connect(), 'tiny', lora, dialect)
  return { server, url: server.url, folder, state, connect, client }
}

/** A sequence to be learnt whole: each token predicts the next. */
export const supervised = (sequence: readonly number[], weights?: readonly number[]): WireDatum => ({
  tokens: Int32Array.from(sequence.slice(0, -1)),
  inputs: {
    target_tokens: tokenTensor(sequence.slice(1)),
    weights: floatTensor(weights ?? sequence.slice(1).map(() => 1)),
  },
})

export const ADAM = {
  learningRate: 0.01,
  beta1: 0.9,
  beta2: 0.95,
  epsilon: 1e-8,
  weightDecay: 0,
  gradClipNorm: 0,
}
