import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADAM, endAll, supervised, temporaryFolder, tinyFolder } from '../../serve/tinker/service.fixture.ts'
import {
  API_PATH,
  Connection,
  encodeForwardBackward,
  floatTensor,
  forwardBackwardJson,
  type LoraSettings,
  PROTOBUF,
  TinkerSession,
  TrainingClient,
} from '../../tinker/index.ts'
import { cli } from '../cli.fixture.ts'
import { type Launch, ServerProcess } from './server-process.fixture.ts'

const TIMEOUT_MS = 120_000
const KEY = 'tml-of-the-test'
const ENV = { GRADUS_TEST_KEY: KEY }
const DATUM = supervised([1, 2, 3, 4, 5, 6])

let tiny: string
const running: ServerProcess[] = []
const sessions: TinkerSession[] = []
beforeAll(async () => {
  tiny = await tinyFolder()
})
afterAll(async () => {
  for (const session of sessions) await session.close()
  for (const server of running) await server.stop('SIGKILL')
  await endAll()
})

const start = async (state: string, args: readonly string[] = [], more: Partial<Launch> = {}) => {
  const own = ['--model', `tiny=${tiny}`, '--state', state, '--port', '0', '--threads', '1']
  const all = ['tinker', ...own, '--key-env', 'GRADUS_TEST_KEY', '--limit', 'drainNoticeMs=10', ...args]
  const server = await ServerProcess.launch({ args: all, says: / at (http:\S+) /, env: ENV, ...more })
  running.push(server)
  return server
}

const client = async ({ url }: ServerProcess, lora: LoraSettings = { rank: 4, seed: 3 }) => {
  const connection = new Connection({ url, apiKey: KEY, backoffMs: 5, patienceMs: 20_000 })
  const session = await TinkerSession.open(connection)
  sessions.push(session)
  return TrainingClient.create(session, 'tiny', lora)
}

const logprobs = async (model: TrainingClient): Promise<number[]> =>
  Array.from((await model.forward([DATUM], 'cross_entropy').result).outputs[0].logprobs.data)

const learn = async (model: TrainingClient): Promise<void> => {
  const computed = model.forwardBackward([DATUM], 'cross_entropy')
  await model.optimStep(ADAM).result
  await computed.result
}

interface Raw {
  body?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

const post = async ({ url }: ServerProcess, path: string, { body, headers }: Raw) => {
  const all = { 'x-api-key': KEY, 'content-type': 'application/json', ...headers }
  const response = await fetch(`${url}${API_PATH}/${path}`, { method: 'POST', body, headers: all })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

const postJson = (server: ServerProcess, path: string, body: unknown) =>
  post(server, path, { body: JSON.stringify(body) })

/** What a request came to that is answered by a future. */
const outcome = async (server: ServerProcess, { text }: { text: string }) => {
  const { request_id } = JSON.parse(text)
  for (;;) {
    const answer = JSON.parse((await postJson(server, 'retrieve_future', { request_id })).text)
    if (answer.type !== 'try_again') return answer
  }
}

describe('gradus serve tinker', { timeout: TIMEOUT_MS }, () => {
  it('trains adapters and whole models of one base, and what they save outlives it', async () => {
    const state = temporaryFolder()
    const first = await start(state)
    expect(first.err).toMatch(/^tiny at http:.* \(Ctrl\+C stops\)$/m)
    const [adapter, whole] = [await client(first), await client(first, { rank: 0 })]
    const fresh = await logprobs(whole)
    expect(await logprobs(adapter)).toEqual(fresh)
    await Promise.all([learn(adapter), learn(whole)])
    const paths = [await adapter.saveState('kept'), await whole.saveState('kept')]
    const saved = [await logprobs(adapter), await logprobs(whole)]
    expect(saved[0]).not.toEqual(saved[1])
    await Promise.all([learn(adapter), learn(whole)])
    const learnt = [await logprobs(adapter), await logprobs(whole)]
    // What is saved is there after the rudest end.
    expect(await first.stop('SIGKILL')).toBe('SIGKILL')

    const second = await start(state)
    await expect(logprobs(await client(second))).resolves.toEqual(fresh)
    for (const [i, lora] of [{ rank: 4, seed: 9 }, { rank: 0 }].entries()) {
      const model = await client(second, lora)
      await model.load(paths[i], true)
      expect(await logprobs(model)).toEqual(saved[i])
      await learn(model)
      expect(await logprobs(model)).toEqual(learnt[i])
      // Its step never comes.
      if (i === 0) await model.forwardBackward([DATUM], 'cross_entropy').result
    }
    const listed = await fetch(`${second.url}${API_PATH}/checkpoints`, { headers: { 'x-api-key': KEY } })
    const { checkpoints } = (await listed.json()) as { checkpoints: { tinker_path: string }[] }
    expect(checkpoints.map(one => one.tinker_path).sort()).toEqual([...paths].sort())

    // What nobody has saved is saved when it is stopped politely: the two that have learnt, not the first one.
    expect(await second.stop()).toBe(0)
    const kept = second.log.filter(({ event }) => event === 'saved').map(({ path }) => String(path))
    expect(kept).toEqual([
      expect.stringMatching(/weights\/stopped$/),
      expect.stringMatching(/weights\/stopped$/),
    ])
    const third = await start(state)
    const model = await client(third)
    await model.load(kept[0], true)
    expect(await logprobs(model)).toEqual(learnt[0])
  })

  it('does what it has taken when it is told to stop, and twice quits at once', async () => {
    const state = temporaryFolder()
    const server = await start(state)
    const model = await client(server)
    const work = Array.from({ length: 20 }, () => model.forwardBackward([DATUM], 'cross_entropy'))
    const step = model.optimStep(ADAM)
    const saved = model.saveState('last')
    await step.submitted
    // Numbered after it: submitted when the request before it is.
    await new Promise(resolve => setTimeout(resolve, 50))
    const ended = server.stop()
    expect((await step.result).grad_norm).toBeGreaterThan(0)
    expect(await saved).toMatch(/^tinker:.*\/weights\/last$/)
    for (const { result } of work) expect((await result).outputs).toHaveLength(1)
    expect(await ended).toBe(0)
    expect(server.err).toContain('doing what was taken')
    expect(server.log.filter(({ event }) => event === 'saved')).toEqual([])

    const again = await start(state, ['--limit', 'gapMs=100000'])
    const busy = await client(again)
    // Waits for a number that never comes, and so would the end.
    const held = forwardBackwardJson({
      ...{ modelId: busy.modelId, seqId: 7, lossFn: 'cross_entropy', forwardOnly: true, data: [DATUM] },
    })
    expect((await postJson(again, 'forward', held)).status).toBe(200)
    again.child.kill('SIGTERM')
    while (!again.err.includes('doing what was taken')) await new Promise(resolve => setTimeout(resolve, 10))
    expect(await again.stop('SIGINT')).toBe(130)
  })

  it('says by its exit code that what was learnt could not be saved', async () => {
    const state = temporaryFolder()
    const server = await start(state)
    await learn(await client(server))
    // As on a full disk, nothing can be written there.
    rmSync(state, { recursive: true })
    writeFileSync(state, '')
    expect(await server.stop()).toBe(1)
    expect(server.log.filter(({ event }) => event === 'not-saved')).toHaveLength(1)
    expect(server.err).toContain('1 models could not be saved')
  })

  it('refuses what cannot be, and goes on as before', async () => {
    const server = await start(temporaryFolder(), ['--limit', 'bodyBytes=100000', '--limit', 'rank=8'])
    const model = await client(server)
    await learn(model)
    const before = await logprobs(model)
    const { modelId, session } = model
    const request = { modelId, seqId: 100, lossFn: 'cross_entropy', forwardOnly: true, data: [DATUM] }
    const bytes = new Uint8Array(encodeForwardBackward(request))
    const protobuf = { 'content-type': PROTOBUF }
    const bodies: [string, Raw, number, RegExp][] = [
      ['forward_backward', { body: '{"a":' }, 422, /JSON/],
      ['forward_backward', { body: '[]' }, 422, /expected/],
      ['forward_backward', { body: '['.repeat(40_000) }, 422, /nested|deep|levels/],
      ['forward_backward', { body: bytes.slice(0, -7), headers: protobuf }, 422, /expected|protobuf|end/],
      ['forward_backward', { body: new Uint8Array(64).fill(255), headers: protobuf }, 422, /./],
      [
        'forward_backward',
        { body: bytes, headers: { ...protobuf, 'content-encoding': 'zstd' } },
        415,
        /zstd/,
      ],
      ['optim_step', { body: bytes, headers: protobuf }, 415, /protobuf/],
      ['forward_backward', { body: 'x'.repeat(100_001) }, 413, /100000/],
      ['get_info', { body: '{"model_id":"none"}' }, 404, /Model not found: none/],
      ['asample', { body: '{"prompt":{"chunks":[]},"base_model":"none"}' }, 404, /one of tiny, got none/],
      ['get_info', { body: `{"model_id":"${modelId}"}`, headers: { 'x-api-key': 'tml-no' } }, 401, /key/],
    ]
    for (const [path, raw, status, words] of bodies) {
      const answer = await post(server, path, raw)
      expect([path, answer.status, answer.text]).toEqual([path, status, expect.stringMatching(words)])
    }
    const failures: [string, object | Uint8Array<ArrayBuffer>, RegExp][] = [
      [
        'create_model',
        { session_id: session.id, model_seq_id: 9, base_model: 'tiny', lora_config: { rank: 9 } },
        /LoRA rank 9 must be between 1 and 8/,
      ],
      [
        'create_model',
        { session_id: session.id, model_seq_id: 10, base_model: 'none' },
        /expected one of tiny, got none/,
      ],
      [
        'load_weights',
        { model_id: modelId, seq_id: 4, path: 'tinker://none/weights/none' },
        /Checkpoint not found/,
      ],
    ]
    const data = [{ ...DATUM, inputs: { ...DATUM.inputs, weights: floatTensor([1, Number.NaN, 1, 1, 1]) } }]
    const nan = new Uint8Array(encodeForwardBackward({ ...request, seqId: 5, data }))
    for (const [path, body, words] of failures)
      expect(await outcome(server, await postJson(server, path, body))).toMatchObject({
        ...{ category: 'user', error: expect.stringMatching(words) },
      })
    const poisoned = await post(server, 'forward_backward', { body: nan, headers: protobuf })
    expect(await outcome(server, poisoned)).toMatchObject({ error: expect.stringMatching(/weights.*finite/) })
    const next = forwardBackwardJson({ ...request, seqId: 6 })
    const after = await outcome(server, await postJson(server, 'forward', next))
    expect(after.loss_fn_outputs[0].logprobs.data).toEqual(before)
    expect(await server.stop()).toBe(0)
  })

  it.skipIf(process.platform === 'win32')('says that the disk is full, and goes on', async () => {
    const state = temporaryFolder()
    const server = await start(state, [], { mostFileKb: 4 })
    const model = await client(server)
    await learn(model)
    const before = await logprobs(model)
    for (const save of [() => model.saveState('big'), () => model.saveSampler('big')])
      await expect(save()).rejects.toThrow(/larger than this system allows \(EFBIG\)/)
    expect(await logprobs(model)).toEqual(before)
    const again = { model_id: model.modelId, seq_id: 7, path: 'big' }
    expect(await outcome(server, await postJson(server, 'save_weights', again))).toMatchObject({
      ...{ category: 'server', error: expect.stringMatching(/what was there is unchanged/) },
    })
    const listed = await fetch(`${server.url}${API_PATH}/checkpoints`, { headers: { 'x-api-key': KEY } })
    expect(await listed.json()).toMatchObject({ checkpoints: [] })
    const folder = join(state, 'models', model.modelId.replaceAll(':', '-'))
    for (const kind of ['weights', 'sampler_weights'])
      expect(readdirSync(folder).includes(kind) ? readdirSync(join(folder, kind)) : []).toEqual([])
    // What was learnt could not be kept.
    expect(await server.stop()).toBe(1)
    // The same folder, with room.
    const roomy = await start(state)
    expect(await (await client(roomy)).saveState('big')).toMatch(/weights\/big$/)
  })

  it.each([
    [['--model', 'none'], /none.*config\.json|none: /, 1],
    [[], /required option '--model/, 2],
    [['--model', 'MODEL', '--host', '0.0.0.0'], /can be reached from other machines; give --key-env/, 2],
    [['--model', 'MODEL', '--key-env', 'GRADUS_NO_SUCH_KEY'], /empty or not set/, 2],
    [['--model', 'a=MODEL', '--model', 'a=MODEL'], /the name a is given twice/, 2],
    [
      ['--model', 'MODEL', '--limit', 'nothing=1'],
      /^gradus: --limit: nothing: expected one of bodyBytes,/,
      2,
    ],
    [['--model', 'MODEL', '--limit', 'models=0'], /^gradus: --limit: models: expected/, 2],
    [['--model', 'MODEL', '--port', 'x'], /0 to 65535/, 2],
    [['--model', 'MODEL', '--port', '70000'], /0 to 65535/, 2],
    [['--model', 'MODEL', '--limit', 'models=1=2'], /NAME=NUMBER/, 2],
  ])('does not start with %j', async (args, words, expected) => {
    const given = args.map(arg => arg.replace('MODEL', tiny))
    const { code, err } = await cli(['serve', 'tinker', '--state', temporaryFolder(), ...given])
    expect(err).toMatch(words)
    expect(code).toBe(expected)
  })

  it('has models under names such as those of a hub', async () => {
    const server = await start(temporaryFolder(), ['--model', `org/model-1=${tiny}`])
    expect(server.err).toMatch(/^tiny, org\/model-1 at /m)
    const connection = new Connection({ url: server.url, apiKey: KEY })
    const session = await TinkerSession.open(connection)
    sessions.push(session)
    const model = await TrainingClient.create(session, 'org/model-1', { rank: 2 })
    const { text } = await postJson(server, 'get_info', { model_id: model.modelId })
    // The tokenizer is asked for by a name that is good on other machines too.
    expect(JSON.parse(text).model_data).toMatchObject({ tokenizer_id: 'org/model-1' })
    expect(await server.stop()).toBe(0)
  })
})
