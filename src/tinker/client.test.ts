import { afterEach, describe, expect, it, vi } from 'vitest'
import { chunksOf } from './chunks.ts'
import { Connection } from './connection.ts'
import { TinkerError } from './errors.ts'
import { type FakeModel, type FakeOptions, FakeServer, type FakeService } from './fake-server.fixture.ts'
import { floatTensor, tokenTensor, type WireDatum } from './messages.ts'
import { SamplingClient } from './sampling-client.ts'
import { TinkerSession } from './session.ts'
import { type TinkerDialect, TrainingClient } from './training-client.ts'

/** Counts what it is told: a step adds the sum of all targets since the one before. */
const countingService = () => {
  const log: string[] = []
  const model = (): FakeModel => {
    let [pending, total] = [0, 0]
    return {
      compute: async ({ data, forwardOnly, lossFn }) => {
        const sums = data.map(({ inputs }) =>
          Array.from(inputs.target_tokens.data).reduce((sum, x) => sum + x, 0),
        )
        if (!forwardOnly) pending += sums.reduce((sum, x) => sum + x, 0)
        log.push(`${forwardOnly ? 'forward' : 'backward'} ${lossFn} ${sums}`)
        return { outputType: 'x', outputs: sums.map(sum => ({ logprobs: floatTensor([-sum]) })), metrics: {} }
      },
      step: async () => {
        total += pending
        pending = 0
        log.push(`step ${total}`)
        return { total }
      },
      save: async () => total,
      load: async state => {
        total = state as number
      },
      snapshot: async () => sampler(total),
    }
  }
  const sampler = (total: number) => ({
    sample: async (prompt: Int32Array, samples: number) => ({
      sequences: Array.from({ length: samples }, (_, i) => ({
        stopReason: 'stop' as const,
        tokens: Int32Array.of(total, i, ...prompt),
        logprobs: Float32Array.of(-1, -1, ...prompt),
      })),
      promptLogprobs: null,
    }),
  })
  const service: FakeService = { create: async () => model(), base: async () => sampler(0) }
  return { service, log }
}

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close()
})

const start = async (
  options: FakeOptions & { patienceMs?: number; sent?: string } = {},
  dialect?: TinkerDialect,
) => {
  const { service, log } = countingService()
  const server = new FakeServer(service, options)
  const url = await server.listen()
  const connection = new Connection({
    ...{ url, apiKey: options.sent ?? options.key, backoffMs: 2 },
    patienceMs: options.patienceMs ?? 2000,
  })
  open.push(server, connection)
  const session = await TinkerSession.open(connection, { heartbeatMs: 20 })
  open.push(session)
  const client = async (rank = 8) => TrainingClient.create(session, 'tiny', { rank, seed: 1 }, dialect)
  return { server, log, session, connection, client }
}

const datum = (...targets: number[]): WireDatum => ({
  tokens: Int32Array.from(targets),
  inputs: { target_tokens: tokenTensor(targets), weights: floatTensor(targets.map(() => 1)) },
})

/** Two steps of training with a forward and a sample; all that they came to. */
const train = async (client: TrainingClient) => {
  await client.learnRepetition([datum(1)])
  const before = client.forward([datum(5)], 'cross_entropy')
  const first = client.forwardBackward([datum(1, 2), datum(3)], 'ppo', { clip_low_threshold: 0.9 })
  const step = client.optimStep({
    learningRate: 1,
    beta1: 0,
    beta2: 0,
    epsilon: 1,
    weightDecay: 0,
    gradClipNorm: 0,
  })
  const second = client.forwardBackward([datum(10)], 'ppo')
  const last = client.optimStep({
    learningRate: 1,
    beta1: 0,
    beta2: 0,
    epsilon: 1,
    weightDecay: 0,
    gradClipNorm: 0,
  })
  const snapshot = await client.snapshot()
  const id = 'sessionId' in snapshot ? snapshot.sessionId : ''
  const { sequences } = await new SamplingClient(client.session, id).sample([7], 2, {
    ...{ maxTokens: 3, temperature: 1, topP: 1, topK: -1 },
  })
  return [
    Array.from((await before.result).outputs[0].logprobs.data),
    (await first.result).outputs.map(({ logprobs }) => logprobs.data[0]),
    (await step.result).total,
    (await second.result).outputs.length,
    (await last.result).total,
    sequences.map(({ tokens }) => Array.from(tokens)),
  ]
}

const EXPECTED = [
  [-5],
  [-3, -3],
  6,
  1,
  16,
  [
    [16, 0, 7],
    [16, 1, 7],
  ],
]

describe('a client of the Tinker protocol', () => {
  it('has requests carried out in the order in which they were made, and does not wait in between', async () => {
    const { client, log, server } = await start()
    expect(await train(await client())).toEqual(EXPECTED)
    expect(log).toEqual([
      ...['forward cross_entropy 1', 'forward cross_entropy 5', 'backward ppo 3,3', 'step 6'],
      ...['backward ppo 10', 'step 16'],
    ])
    const submits = server.calls.filter(path => path === 'optim_step' || path === 'forward_backward')
    expect(submits).toEqual(['forward_backward', 'optim_step', 'forward_backward', 'optim_step'])
  })

  it('speaks protobuf where the server wants it', async () => {
    const { client } = await start({ dialect: 'protobuf' })
    expect(await train(await client())).toEqual(EXPECTED)
  })

  it.each([
    ['the connection cut before a submission', { path: 'forward_backward', at: 0, kind: 'cut before' }],
    ['the connection cut after it', { path: 'forward_backward', at: 1, kind: 'cut after' }],
    ['a step whose answer is lost', { path: 'optim_step', at: 0, kind: 'cut after' }],
    ['a server in trouble', { path: 'optim_step', at: 0, kind: 503 }],
    ['back-pressure', { path: 'asample', at: 0, kind: 429 }],
    ['a server that fails for a moment', { path: 'retrieve_future', at: 2, kind: 500 }],
    ['a wait that ran out', { path: 'retrieve_future', at: 3, kind: 408 }],
    ['a future that is not there yet', { path: 'retrieve_future', at: 3, kind: 'try again' }],
    ['a future that failed once', { path: 'retrieve_future', at: 4, kind: 400 }],
    ['a result that is lost on its way', { path: 'retrieve_future', at: 2, kind: 'cut after' }],
    ['a future that was dropped', { path: 'retrieve_future', at: 3, kind: 410 }],
    ['a slow server', { path: 'forward_backward', at: 0, kind: 'slow' }],
  ] as const)('comes to the same with %s', async (_, fault) => {
    const { client, log } = await start({ faults: [fault] })
    expect(await train(await client())).toEqual(EXPECTED)
    expect(log.filter(line => line.startsWith('step'))).toEqual(['step 6', 'step 16'])
  })

  it('does not repeat what a server would carry out twice, and says so', async () => {
    const { client } = await start({
      idempotent: false,
      faults: [{ path: 'optim_step', at: 0, kind: 'cut after' }],
    })
    const error = await train(await client()).catch(thrown => thrown)
    expect(error).toBeInstanceOf(TinkerError)
    expect(error).toMatchObject({ kind: 'unsure' })
    expect(error.message).toMatch(/--resume/)
  })

  it('repeats it there too where it certainly was not taken', async () => {
    const faults = [{ path: 'optim_step', at: 0, kind: 429 } as const]
    const { client } = await start({ idempotent: false, faults })
    expect(await train(await client())).toEqual(EXPECTED)
  })

  it('says what is wrong: key, model, rank, account, a page in place of an answer', async () => {
    const key = 'tml-secret-of-the-test'
    const wrong = await start({ key: 'another', sent: key }).catch(thrown => thrown)
    expect(wrong).toMatchObject({ kind: 'auth' })
    expect(wrong.message).toMatch(/401.*apiKeyEnv/)
    expect(wrong.message).not.toContain(key)
    const { session, client } = await start({ maxRank: 16 })
    await expect(client(32)).rejects.toThrow(/rank 32 must be between/)
    await expect(TrainingClient.create(session, 'large', { rank: 1 })).rejects.toThrow(/unknown model large/)
    const shown = await start({ key: 'large' })
    const repeated = await TrainingClient.create(shown.session, 'large', { rank: 1 }).catch(thrown => thrown)
    expect(repeated.message).toMatch(/unknown model \*\*\*/)
    const poor = await start({ faults: [{ path: 'create_model', at: 0, kind: 402 }] })
    await expect(poor.client()).rejects.toThrow(/402.*credit/)
    const proxied = await start({ faults: [{ path: 'create_model', at: 0, kind: 'web page' }] })
    await expect(proxied.client()).rejects.toThrow(/expected JSON.*proxy/)
    const nobody = new Connection({ url: 'http://127.0.0.1:9', backoffMs: 1, patienceMs: 20 })
    open.push(nobody)
    await expect(TinkerSession.open(nobody)).rejects.toThrow(
      /connection failed \(ECONNREFUSED\).*server runs/,
    )
    expect(() => new Connection({ url: 'http://me:pw@host' })).toThrow(/without user and password/)
  })

  it('tells a server that has lost its state', async () => {
    const { client, server } = await start()
    const model = await client()
    server.restart()
    const error = await model.forward([datum(1)], 'cross_entropy').result.catch(thrown => thrown)
    expect(error).toMatchObject({ kind: 'missing' })
    expect(error.message).toMatch(/--resume/)
  })

  it('keeps the session alive, and gives up a request after its patience', async () => {
    const { client, server } = await start({ patienceMs: 50 })
    const model = await client()
    const beats = () => server.calls.filter(path => path === 'session_heartbeat').length
    await vi.waitFor(() => expect(beats()).toBeGreaterThanOrEqual(2), { timeout: 20_000 })
    await server.close()
    await expect(model.saveState('x')).rejects.toMatchObject({ kind: 'unreachable' })
  })

  it('sends no heartbeat while one is under way', async () => {
    const answers: (() => void)[] = []
    const connection = {
      json: async () => ({ session_id: 'x' }),
      call: () => new Promise<void>(resolve => answers.push(resolve)),
    }
    const session = await TinkerSession.open(connection as unknown as Connection, { heartbeatMs: 1 })
    open.push(session)
    await vi.waitFor(() => expect(answers).toHaveLength(1))
    await new Promise(resolve => setTimeout(resolve, 30))
    expect(answers).toHaveLength(1)
    answers[0]()
    await vi.waitFor(() => expect(answers).toHaveLength(2))
  })

  it('saves, loads, and says what is not there', async () => {
    const { client, server } = await start()
    const model = await client()
    await train(model)
    const path = await model.saveState('step-2')
    const another = await client()
    await another.load(path, true)
    const snapshot = await another.snapshot()
    expect(snapshot).toHaveProperty('sessionId')
    expect(server.states.get(path)).toBe(16)
    await expect(another.load('tinker://none', true)).rejects.toThrow(/not found/)
    await another.unload()
    await expect(another.saveState('y')).rejects.toMatchObject({ kind: 'missing' })
  })

  it('cuts batches that are too large for a request', () => {
    const long = { tokens: new Int32Array(30_000), inputs: {} }
    expect(chunksOf([long, long, long, long]).map(chunk => chunk.length)).toEqual([2, 2])
    expect(chunksOf(Array.from({ length: 1030 }, () => datum(1))).map(chunk => chunk.length)).toEqual([
      1024, 6,
    ])
  })
})
