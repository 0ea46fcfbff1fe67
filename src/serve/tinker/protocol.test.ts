import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { loadAdapter } from '../../model/lora-files.ts'
import { TINY } from '../../policy/local/tiny-model.fixture.ts'
import { API_PATH, forwardBackwardJson, SamplingClient, type TrainingClient } from '../../tinker/index.ts'
import { ADAM, endAll, type Started, startService, supervised, temporaryFolder } from './service.fixture.ts'

afterEach(endAll)

/** A call without a client of ours. */
const ask = async ({ url }: Pick<Started, 'url'>, path: string, body?: unknown, init: RequestInit = {}) => {
  const response = await fetch(`${url}${API_PATH}/${path}`, {
    ...(body !== undefined && {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
    redirect: 'manual',
    ...init,
  })
  const text = await response.text()
  const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
  return { status: response.status, json, response }
}

const DATUM = supervised([1, 2, 3, 4])
const forwardBody = (modelId: string, seqId: number, target = 4) =>
  forwardBackwardJson({
    ...{ modelId, seqId, lossFn: 'cross_entropy', forwardOnly: true },
    data: [supervised([1, 2, 3, target])],
  })
const stepBody = (model_id: string, seq_id: number) => ({
  ...{ model_id, seq_id, type: 'optim_step' },
  adam_params: { learning_rate: 0.01 },
})

const result = async (server: Started, id: unknown) => {
  for (;;) {
    const { json } = await ask(server, 'retrieve_future', { request_id: id })
    if (json.type !== 'try_again') return json
  }
}

const logprobs = async (client: TrainingClient): Promise<number[]> =>
  Array.from((await client.forward([DATUM], 'cross_entropy').result).outputs[0].logprobs.data)

const learn = async (client: TrainingClient): Promise<void> => {
  const computed = client.forwardBackward([DATUM], 'cross_entropy')
  await client.optimStep(ADAM).result
  await computed.result
}

describe('numbered requests', () => {
  it('are carried out in the order of their numbers, whatever that of their arrival', async () => {
    const started = await startService()
    const { modelId } = await started.client()
    const backward = forwardBackwardJson({
      ...{ modelId, seqId: 1, lossFn: 'cross_entropy', forwardOnly: false },
      data: [DATUM],
    })
    const last = await ask(started, 'forward', forwardBody(modelId, 3))
    const step = await ask(started, 'optim_step', stepBody(modelId, 2))
    const early = await ask(started, 'retrieve_future', { request_id: 'none' })
    expect(early).toMatchObject({ status: 404, json: { detail: expect.stringMatching(/Future not found/) } })
    const first = await ask(started, 'forward_backward', backward)
    const [before, after] = [
      await result(started, first.json.request_id),
      await result(started, last.json.request_id),
    ]
    expect(await result(started, step.json.request_id)).toHaveProperty('metrics.grad_norm')
    const sum = ({ metrics }: Record<string, unknown>) => (metrics as Record<string, number>)['loss:sum']
    expect(sum(after)).toBeLessThan(sum(before) - 0.01)
  })

  it('are carried out once, and another request of a number is refused', async () => {
    const started = await startService()
    const { modelId } = await started.client()
    const [one, again, other] = [
      await ask(started, 'forward', forwardBody(modelId, 1)),
      await ask(started, 'forward', forwardBody(modelId, 1)),
      await ask(started, 'forward', forwardBody(modelId, 1, 9)),
    ]
    expect(again.json).toEqual(one.json)
    expect(other).toMatchObject({ status: 409, json: { detail: expect.stringMatching(/seq_id 1/) } })
  })

  it('do not wait for ever for one that never came', async () => {
    const started = await startService({ limits: { gapMs: 50 } })
    const { modelId } = await started.client()
    const { json } = await ask(started, 'forward', forwardBody(modelId, 4))
    expect(await result(started, json.request_id)).toHaveProperty('loss_fn_outputs')
    expect((await ask(started, 'forward', forwardBody(modelId, 2))).status).toBe(409)
  })
})

describe('answers', () => {
  it('come later where they take longer than a client is held', async () => {
    const started = await startService({ limits: { holdMs: 1 } })
    const { modelId } = await started.client()
    const { json } = await ask(started, 'forward', forwardBody(modelId, 1))
    expect((await ask(started, 'retrieve_future', { request_id: json.request_id })).json).toMatchObject({
      ...{ type: 'try_again', request_id: json.request_id, queue_state: 'active' },
    })
    expect(await result(started, json.request_id)).toHaveProperty('loss_fn_outputs')
  })

  it('say whose fault it is', async () => {
    const started = await startService({ limits: { rank: 8, models: 1 } })
    const session = await started.connect()
    const create = async (number: number, changes: object) => {
      const body = { session_id: session.id, model_seq_id: number, base_model: 'tiny', ...changes }
      const { json } = await ask(started, 'create_model', body)
      return result(started, json.request_id)
    }
    const lora = (rank: number, more = {}) => ({ lora_config: { rank, ...more } })
    expect(await create(0, lora(9))).toEqual({
      error: expect.stringMatching(/between 1 and 8/),
      category: 'user',
    })
    expect(await create(1, { base_model: 'x' })).toMatchObject({
      error: expect.stringMatching(/one of tiny, got x/),
    })
    expect(await create(2, lora(4, { train_attn: false, train_mlp: false }))).toHaveProperty(
      'category',
      'user',
    )
    expect(await create(3, lora(4))).toHaveProperty('model_id', `${session.id}:train:3`)
    expect(await create(4, lora(4))).toMatchObject({
      error: expect.stringMatching(/Maximum number of models \(1\)/),
    })
    const dimuon = { ...lora(4), optimizer_config: { type: 'dimuon' } }
    const body = { session_id: session.id, model_seq_id: 5, base_model: 'tiny', ...dimuon }
    expect(await ask(started, 'create_model', body)).toMatchObject({ status: 422 })
    expect(await ask(started, 'get_info', { model_id: 'x' })).toMatchObject({ status: 404 })
    expect(await ask(started, 'session_heartbeat', { session_id: 'x' })).toMatchObject({ status: 404 })
    expect(await ask(started, 'optim_step', { seq_id: 1 })).toMatchObject({
      status: 422,
      json: { detail: expect.stringMatching(/model_id/) },
    })
    const outside = { model_id: `${session.id}:train:3`, seq_id: 1, path: '../x' }
    expect(await ask(started, 'save_weights', outside)).toMatchObject({
      status: 422,
      json: { detail: expect.stringMatching(/path: .*letters, digits/) },
    })
    expect(await ask(started, 'nothing', {})).toMatchObject({ status: 404, json: { detail: 'Not Found' } })
  })
})

describe('checkpoints', () => {
  it('bring weights and optimiser back, in another life of the server too', async () => {
    const started = await startService()
    const first = await started.client()
    await learn(first)
    const path = await first.saveState('one')
    await expect(first.saveState('one')).rejects.toThrow(/already exists/)
    const saved = await logprobs(first)
    await learn(first)
    const learnt = await logprobs(first)
    expect(Math.abs(learnt[0] - saved[0])).toBeGreaterThan(1e-3)
    await started.server.close()

    const { folder, state } = started
    const { baseModel } = await import('./index.ts')
    const later = await startService({ models: [baseModel(folder, 'tiny')], state })
    const second = await later.client()
    await second.load(path, true)
    expect(await logprobs(second)).toEqual(saved)
    await learn(second)
    expect(await logprobs(second)).toEqual(learnt)
    // Without the optimiser's state the same step leads elsewhere.
    await second.load(path, false)
    await learn(second)
    expect(await logprobs(second)).not.toEqual(learnt)
    await expect(second.load('tinker://x/weights/none', true)).rejects.toThrow(/Checkpoint not found/)
    await expect((await later.client({ rank: 8 })).load(path, true)).rejects.toThrow(/expected \d+ elements/)
  })

  it('to sample from are as the model was, and are read by path', async () => {
    const started = await startService()
    const model = await started.client()
    await learn(model)
    // A gradient that waits for its step is no hindrance.
    await model.forwardBackward([DATUM], 'cross_entropy').result
    const path = await model.saveSampler('s')
    const params = { maxTokens: 6, temperature: 1, topP: 1, topK: -1, seed: 1 }
    const made = await model.snapshot()
    const direct = new SamplingClient(model.session, 'sessionId' in made ? made.sessionId : '')
    const wanted = await direct.sample([1], 3, params)
    await model.optimStep(ADAM).result
    const named = await SamplingClient.open(model.session, { modelPath: path })
    const { sequences } = await named.sample([1], 3, params)
    expect(sequences.map(({ tokens }) => tokens)).toEqual(wanted.sequences.map(({ tokens }) => tokens))
    expect(
      loadAdapter(
        join(started.state, 'models', model.modelId.replaceAll(':', '-'), 'sampler_weights', 's'),
        TINY,
      ),
    ).toMatchObject({
      lora: { rank: 4, alpha: 32 },
      baseModel: started.folder,
    })
  })

  it('are listed, fetched, and taken away', async () => {
    const started = await startService()
    const model = await started.client()
    await model.saveState('a')
    await model.saveSampler('b')
    const run = `training_runs/${model.modelId}`
    const { json: listed } = await ask(started, `${run}/checkpoints`)
    expect((listed.checkpoints as { checkpoint_id: string }[]).map(one => one.checkpoint_id)).toEqual([
      'sampler_weights/b',
      'weights/a',
    ])
    expect((await ask(started, 'training_runs')).json).toMatchObject({
      training_runs: [{ training_run_id: model.modelId, lora_rank: 4, base_model: 'tiny' }],
      cursor: { total_count: 1 },
    })
    expect(
      (await ask(started, 'weights_info', { tinker_path: `tinker://${model.modelId}/weights/a` })).json,
    ).toEqual({
      ...{ base_model: 'tiny', is_lora: true, lora_rank: 4 },
      ...{ train_attn: true, train_mlp: true, train_unembed: false },
    })
    const one = `${run}/checkpoints/sampler_weights/b`
    const { status, response } = await ask(started, `${one}/archive`)
    expect(status).toBe(302)
    const address = response.headers.get('location')!
    const tar = join(temporaryFolder(), 'b.tar')
    writeFileSync(tar, new Uint8Array(await (await fetch(address)).arrayBuffer()))
    const members = spawnSync('tar', ['-tf', tar], { encoding: 'utf8' })
    expect(members.stdout.split('\n')).toEqual(
      expect.arrayContaining(['adapter_config.json', 'adapter_model.safetensors']),
    )
    const config = spawnSync('tar', ['-xOf', tar, 'adapter_config.json'], { encoding: 'utf8' })
    const folder = join(started.state, 'models', model.modelId.replaceAll(':', '-'), 'sampler_weights', 'b')
    expect(config.stdout).toBe(readFileSync(join(folder, 'adapter_config.json'), 'utf8'))
    expect((await fetch(address.replace(/\/b$/, '/c'))).status).toBe(401)
    expect((await ask(started, `${one}/publish`, {})).status).toBe(204)
    expect(
      (await ask(started, `${one}/ttl`, undefined, { method: 'PUT', body: '{"ttl_seconds":60}' })).status,
    ).toBe(204)
    expect((await ask(started, 'checkpoints')).json).toMatchObject({
      checkpoints: [
        { public: true, expires_at: expect.any(String) },
        { public: false, expires_at: null },
      ],
    })
    expect((await ask(started, one, undefined, { method: 'DELETE' })).status).toBe(204)
    expect((await ask(started, one, undefined, { method: 'DELETE' })).status).toBe(404)
    expect((await ask(started, 'checkpoints')).json).toHaveProperty('cursor.total_count', 1)
  })
})

describe('a state', () => {
  it('is one server’s: a second one touches nothing and says who has it', async () => {
    const started = await startService({ limits: { snapshotBytes: 1 } })
    const model = await started.client()
    const made = [await model.snapshot(), await model.snapshot()]
    const files = () => readdirSync(join(started.state, 'snapshots'))
    const before = files()
    expect(before).toHaveLength(1)
    const { folder, state } = started
    const { baseModel } = await import('./index.ts')
    const again = () => startService({ models: [baseModel(folder, 'tiny')], state })
    await expect(again()).rejects.toThrow(
      new RegExp(`this state is being written by process ${process.pid} .*choose another state folder`),
    )
    expect(files()).toEqual(before)
    const oldest = new SamplingClient(model.session, 'sessionId' in made[0] ? made[0].sessionId : '')
    const params = { maxTokens: 2, temperature: 1, topP: 1, topK: -1, seed: 1 }
    expect((await oldest.sample([1], 1, params)).sequences).toHaveLength(1)
    await started.server.close()
    await expect(again()).resolves.toHaveProperty('url')
  })

  it('takes nothing that could not be read again, or is no date', async () => {
    const started = await startService()
    const model = await started.client()
    await model.saveState('a')
    const raw = async (path: string, body: string, method = 'POST') =>
      (await ask(started, path, undefined, { method, body })).status
    const created = `{"session_id":"${model.session.id}","model_seq_id":7,"base_model":"tiny","user_metadata":{"a":"\\ud800"}}`
    expect(await raw('create_model', created)).toBe(422)
    const overwrite = `{"model_id":"${model.modelId}","seq_id":2,"path":"a","overwrite":true,"ttl_seconds":1e300}`
    expect(await raw('save_weights', overwrite)).toBe(422)
    const checkpoint = `training_runs/${model.modelId}/checkpoints/weights/a`
    expect(await raw(`${checkpoint}/ttl`, '{"ttl_seconds":1e300}', 'PUT')).toBe(422)
  })
})

describe('samples without a session', () => {
  it('leave nothing open', async () => {
    const started = await startService()
    const prompt = { chunks: [{ tokens: [1, 2], type: 'encoded_text' }] }
    const body = { prompt, base_model: 'tiny', sampling_params: { max_tokens: 2 } }
    const { json } = await ask(started, 'asample', body)
    expect(await result(started, json.request_id)).toHaveProperty('sequences')
    expect(started.server.service.sampling.ofSession('none')).toEqual([])
  })
})

describe('the service', () => {
  it('comes to the same in both dialects', async () => {
    const started = await startService()
    const [json, protobuf] = [
      await started.client(undefined, 'json'),
      await started.client(undefined, 'protobuf'),
    ]
    for (const client of [json, protobuf]) await learn(client)
    expect(await logprobs(protobuf)).toEqual(await logprobs(json))
    const sampler = await SamplingClient.open(json.session, { baseModel: 'tiny' })
    const params = { max_tokens: 3, seed: 1 }
    const body = {
      ...{ num_samples: 2, sampling_params: params, base_model: 'tiny', topk_prompt_logprobs: 2 },
      prompt: { chunks: [{ tokens: [1, 2, 3], type: 'encoded_text' }] },
    }
    const { json: taken } = await ask(started, 'asample', body)
    expect(taken.sample_sequence_ids).toHaveLength(2)
    const { sequences, topk_prompt_logprobs: top } = await result(started, taken.request_id)
    const wanted = await sampler.sample([1, 2, 3], 2, {
      maxTokens: 3,
      temperature: 1,
      topP: 1,
      topK: -1,
      seed: 1,
    })
    expect((sequences as { tokens: number[] }[]).map(({ tokens }) => tokens)).toEqual(
      wanted.sequences.map(({ tokens }) => Array.from(tokens)),
    )
    // The likeliest continuation is what greedy sampling draws.
    const greedy = await sampler.sample([1, 2], 1, { maxTokens: 1, temperature: 0, topP: 1, topK: -1 })
    const places = top as ([number, number][] | null)[]
    expect(places.map(place => place?.length ?? null)).toEqual([null, 2, 2])
    expect(places[2]![0][0]).toBe(greedy.sequences[0].tokens[0])
    expect(places[2]![0][1]).toBeCloseTo(greedy.sequences[0].logprobs![0], 5)
  })

  it('wants its key, and names it nowhere', async () => {
    const started = await startService({ key: 'tml-right' })
    await expect(started.connect('tml-wrong')).rejects.toMatchObject({ kind: 'auth' })
    const none = await ask(started, 'get_server_capabilities')
    expect(none.status).toBe(401)
    expect(JSON.stringify(none.json)).not.toContain('tml-right')
    expect((await ask(started, 'healthz')).json).toEqual({ status: 'ok' })
    const session = await started.connect('tml-right')
    expect(await session.models()).toEqual([{ name: 'tiny', maxContextLength: 64 }])
    expect((await fetch(`${started.url}/metrics`)).status).toBe(401)
    const metrics = await fetch(`${started.url}/metrics`, { headers: { 'x-api-key': 'tml-right' } })
    expect(await metrics.text()).toContain('gradus_tinker_sessions 1')
  })

  it('ends sessions of which nothing is heard, and their models with them', async () => {
    const started = await startService({ limits: { models: 1, quietMs: 30 } })
    const first = await started.client()
    await new Promise(resolve => setTimeout(resolve, 60))
    const second = await started.client()
    await expect(logprobs(first)).rejects.toMatchObject({ kind: 'missing' })
    expect(await logprobs(second)).toHaveLength(3)
    expect((await ask(started, `sessions/${second.session.id}/finish`, {})).status).toBe(200)
    expect(started.server.service.training.size).toBe(0)
  })

  it('does what it has taken before it stops, and takes nothing more', async () => {
    const started = await startService()
    const model = await started.client()
    const computed = model.forwardBackward([DATUM], 'cross_entropy')
    const step = model.optimStep(ADAM)
    await step.submitted
    const closing = started.server.close()
    const refused = await ask(started, 'create_session', { tags: [] }).catch(() => ({
      status: 'no connection',
    }))
    expect(refused.status).not.toBe(200)
    expect((await step.result).grad_norm).toBeGreaterThan(0)
    expect((await computed.result).outputs).toHaveLength(1)
    expect(await closing).toBe(0)
  })
})
