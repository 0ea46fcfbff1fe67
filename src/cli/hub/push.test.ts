import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { evalRow } from '../../runs/eval-row.fixture.ts'
import { pushModel } from '../../runs/hub/index.ts'
import { RunFolder } from '../../runs/run-folder.ts'
import { cli, Sandbox } from '../cli.fixture.ts'
import { FakeHub } from './hub-server.fixture.ts'
import { pushCommand } from './push.ts'

const sandbox = new Sandbox()
const WEIGHTS = Buffer.from('not read by anybody here')
let run: string
beforeAll(async () => {
  run = sandbox.path('run')
  const folder = RunFolder.create(run, {
    recipe: 'rit',
    preset: 'quick',
    seed: 7,
    steps: 4,
    version: '0.1.0',
    model: '/home/ann/secret-project/start',
    config: {
      recipe: 'rit',
      seed: 7,
      steps: 4,
      model: { folder: '/home/ann/secret-project/start' },
      note: 'a|b <i>',
      prompt: 'Answer so:\n```json\n{}\n```\n# no heading',
      tools: [{ kind: 'mcp', url: 'https://tools.example/mcp', headers: { 'x-key': 'hush-hush' } }],
      judge: { urls: ['http://127.0.0.1:8702/v1', 'http://judge-7:8000/v1', 'https://api.judge.example/v1'] },
      task: {
        sources: [{ file: '/home/ann/secret-project/rows.jsonl' }],
        headers: { authorization: 'hush-hush' },
      },
    },
    environment: { node: 'v20.19.0' },
  })
  folder.appendEvals([
    evalRow(0.25, { n: 20 }),
    evalRow(0.5, { step: 2, n: 20, scores: { accuracy: { value: 0.5, interval: [0.4, 0.6] } } }),
  ])
  for (const step of [2, 4])
    await folder.writeCheckpoint({ step, configHash: 'x', rng: {} }, dir => {
      mkdirSync(dir, { recursive: true })
      for (const name of ['config.json', 'tokenizer.json', 'run-notes.txt'])
        writeFileSync(join(dir, name), `{"step":${step}}`)
      for (const name of ['model.safetensors', 'optimizer.safetensors', 'value_head.safetensors'])
        writeFileSync(join(dir, name), WEIGHTS)
    })
  folder.appendEvals([evalRow(0.75, { step: 4, n: 20 })])
  folder.close()
})
afterAll(() => sandbox.remove())

let hub: FakeHub
beforeEach(async () => {
  hub = await new FakeHub().start()
})
afterEach(() => hub.stop())

const push = async (
  args: { target?: string; name?: string; env?: Record<string, string> } = {},
  options = {},
) => {
  const { target = run, name = 'ann/proofs', env = { HF_TOKEN: hub.token, HF_ENDPOINT: hub.url } } = args
  let out = ''
  const io = {
    out: { write: (text: string) => (out += text) },
    err: { write: () => {} },
    onInterrupt: () => () => {},
  }
  const code = await pushCommand(target, name, options, io as never, env)
  return { code, out }
}

describe('gradus push', () => {
  it('commits the model of the latest checkpoint with its card, and nothing of the training', async () => {
    const { code, out } = await push({}, { private: true })
    expect(code).toBe(0)
    expect(out).toContain(`${hub.url}/ann/proofs: step 4`)
    const { private: hidden, commits } = hub.repositories.get('ann/proofs')!
    expect(hidden).toBe(true)
    expect(commits).toHaveLength(1)
    expect(commits[0].title).toBe('Step 4 of rit, with Gradus')
    expect(Object.keys(commits[0].files).sort()).toEqual([
      'README.md',
      'config.json',
      'model.safetensors',
      'tokenizer.json',
    ])
    expect(commits[0].files['config.json']).toBe('{"step":4}')
    expect(commits[0].files['model.safetensors']).toBe(
      `sha256:${createHash('sha256').update(WEIGHTS).digest('hex')}`,
    )
  })

  it('writes a card of what the run says, with the metadata of the Hub', async () => {
    await push({ target: `${run}/2` }, { license: 'apache-2.0', baseModel: 'Qwen/Qwen3-0.6B' })
    const card = hub.repositories.get('ann/proofs')!.commits[0].files['README.md']
    const [, yaml, text] = card.split(/^---\n/m)
    expect(parse(yaml)).toEqual({
      license: 'apache-2.0',
      base_model: 'Qwen/Qwen3-0.6B',
      library_name: 'transformers',
      pipeline_tag: 'text-generation',
      tags: ['gradus', 'reinforcement-learning', 'rubric', 'rit'],
      'model-index': [
        {
          name: 'proofs',
          results: [
            {
              task: { type: 'text-generation' },
              dataset: { type: 'gradus', name: 'real' },
              metrics: [{ type: 'accuracy', value: 0.5, name: 'answers right' }],
            },
          ],
        },
      ],
    })
    expect(text).toContain('| real | answers right | 25.0% | 50.0% (40.0 to 60.0%) | 2 | 20 |')
    expect(text).toContain('| seed | 7 |')
    expect(text).toContain('| step | 2 of 4 |')
    expect(text).toContain('gradus train rit --preset quick --set seed=7 --set steps=4')
    expect(text).toContain('a\\|b \\<i\\>')
  })

  it('tells nobody where files lie on this machine, nor makes up a license or a base model', async () => {
    const { out } = await push({ env: {} }, { dryRun: true })
    expect(out).not.toContain('secret-project')
    expect(out).not.toContain('license:')
    expect(out).not.toContain('base_model:')
    expect(out).toContain('Trained from start.')
    expect(out).toContain('"file":"rows.jsonl"')
    expect(out).toContain('https://tools.example/mcp')
    expect(out).not.toContain('hush-hush')
    expect(out).not.toMatch(/127\.0\.0\.1|judge-7/)
    expect(out).toContain('http://HOST/v1')
    expect(out).toContain('https://api.judge.example/v1')
    expect(hub.paths).toEqual([])
  })

  it('keeps a setting that has a block of code in it inside the block of the command', async () => {
    const { out } = await push({ env: {} }, { dryRun: true })
    const [, fence, inside] = /^(`{4,})sh\n([\s\S]*?)\n\1$/m.exec(out) ?? []
    expect(fence).toBe('````')
    expect(inside).toMatch(/^gradus train rit [\s\S]*```json\n\{\}\n```\n# no heading/)
  })

  it('shows card and files with --dry-run, as text and as JSON', async () => {
    const { out, code } = await cli(['push', run, 'ann/proofs', '--dry-run'])
    expect(code).toBe(0)
    expect(out).toContain('# proofs')
    expect(out).toMatch(/model\.safetensors\n/)
    expect(out).toContain('nothing was sent')
    const json = JSON.parse((await cli(['push', run, 'ann/proofs', '--dry-run', '--json'])).out)
    expect(json.files).toContainEqual({ name: 'model.safetensors', bytes: WEIGHTS.length })
    expect(json.card).toContain('# proofs')
  })

  it('uploads what is large once, and goes on in a repository that is there', async () => {
    await push()
    await push()
    expect(hub.repositories.get('ann/proofs')!.commits).toHaveLength(2)
    expect(hub.paths.filter(path => path.startsWith('PUT /upload/'))).toHaveLength(1)
  })

  it.each([
    [401, '/api/repos/create', 'status 401', 'make one with write access'],
    [403, '/api/models/ann/proofs/commit', 'status 403', 'needs write access to that owner'],
    [500, '/upload/', 'the upload to ann/proofs failed', ''],
  ])('says what a status of %i means, without the token', async (status, path, what, hint) => {
    hub.failing = { path, status }
    const error = await push().catch((thrown: Error) => thrown)
    expect(String(error)).toContain(what)
    expect(String(error)).toContain(hint)
    expect(String(error)).not.toContain(hub.token)
    expect(hub.repositories.get('ann/proofs')?.commits ?? []).toEqual([])
  })

  it.each([
    ['/api/repos/create', 'making repository ann/proofs'],
    ['/api/models/ann/proofs/preupload', 'the upload to ann/proofs'],
    ['/upload/', 'the upload to ann/proofs'],
    ['/api/models/ann/proofs/commit', 'the upload to ann/proofs'],
  ])(
    'gives up on a hub that is silent at %s',
    async (path, what) => {
      hub.silent = path
      const files = [
        { name: 'model.safetensors', path: join(run, 'checkpoints/step-000004/model.safetensors') },
      ]
      const began = performance.now()
      const pushed = pushModel({
        ...{ repository: 'ann/proofs', card: '', files: files.map(file => ({ ...file, bytes: 1 })) },
        ...{ message: 'm', private: false, token: hub.token, endpoint: hub.url, silenceMs: 1_000 },
      })
      await expect(pushed).rejects.toThrow(`${hub.url}: ${what} failed: no answer in time`)
      expect(performance.now() - began).toBeLessThan(20_000)
    },
    40_000,
  )

  it.each([
    ['/api/models/ann/proofs/commit', {}, 'it was answered without a commit'],
    ['/api/models/ann/proofs/commit', { commitOid: 5 }, 'it was answered without a commit'],
    ['/api/models/ann/proofs/preupload', {}, 'its answer is none of the Hub'],
  ])('does not take %s answered with %j for a success', async (path, body, words) => {
    hub.failing = { path, status: 200, body }
    await expect(push()).rejects.toThrow(`the upload to ann/proofs failed: ${words}`)
  })

  it('refuses what it cannot use before anything is sent', async () => {
    await expect(push({ env: {} })).rejects.toThrow(
      'HF_TOKEN: expected a token of the Hub in the environment',
    )
    const secret = { HF_TOKEN: hub.token, HF_ENDPOINT: 'https://ann:word@hub.example' }
    await expect(push({ env: secret })).rejects.toThrow(
      /HF_ENDPOINT: .*no user or password, got another one$/,
    )
    await expect(push({ env: { ...secret, HF_TOKEN: 'hf_a\nb' } })).rejects.toThrow(/HF_TOKEN: .*one word/)
    await expect(push({ name: 'proofs' })).rejects.toThrow('repository: expected OWNER/NAME, got proofs')
    await expect(push({}, { baseModel: './start' })).rejects.toThrow('--base-model: expected OWNER/NAME')
    await expect(push({ target: `${run}/3` })).rejects.toThrow('expected a checkpoint of step 3')
    await expect(push({ target: sandbox.path('none') })).rejects.toThrow('found no run there')
    expect(hub.paths).toEqual([])
    const path = join(run, 'checkpoints', 'step-000004', 'model.safetensors')
    const whole = readFileSync(path)
    writeFileSync(path, 'damaged')
    await expect(push()).rejects.toThrow(/is damaged/)
    writeFileSync(path, whole)
    expect(hub.paths).toEqual([])
  })
})
