import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../model/checkpoint.ts'
import { initLora, saveAdapter } from '../model/lora-files.ts'
import { writeTinyChat } from '../model/tiny-chat.fixture.ts'
import { localChatModel } from '../policy/chat/chat-model.ts'
import { openCheckpointEmbedder } from '../policy/local/checkpoint-embedder.ts'
import { COMMIT, type FakeHub, NEXT_COMMIT, startFakeHub } from '../util/fake-hub.fixture.ts'
import { cli, Sandbox, SLOW_MS } from './cli.fixture.ts'

const sandbox = new Sandbox()
const NAME = 'lab/tiny'
const adapter = sandbox.path('adapter')
let hub: FakeHub
let folder: string

/** An adapter that changes what the model says. */
const writeAdapter = () => {
  const config = loadConfig(folder)
  const lora = { rank: 2, alpha: 4, targetModules: ['q_proj', 'down_proj'] as const }
  const tensors = initLora(config, lora, 1)
  for (const { data } of tensors.values()) for (const i of data.keys()) data[i] = Math.sin(i) / 2
  saveAdapter(adapter, { lora, tensors, baseModel: folder })
}

beforeAll(() => {
  folder = writeTinyChat(sandbox.path('model'), 512)
  writeAdapter()
})
beforeEach(async () => {
  hub = await startFakeHub()
  hub.revisions.set(`${NAME}@main`, COMMIT)
  hub.cards.set(NAME, { license: 'mit' })
  for (const file of readdirSync(folder))
    hub.files.set(`${NAME}@${COMMIT}/${file}`, readFileSync(join(folder, file)))
  vi.stubEnv('HF_ENDPOINT', hub.url)
  vi.stubEnv('HF_HOME', sandbox.path('home'))
  for (const name of ['HF_TOKEN', 'HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE', 'HF_HUB_OFFLINE'])
    vi.stubEnv(name, '')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  rmSync(sandbox.path('home'), { recursive: true, force: true })
  await hub.close()
})
afterAll(() => sandbox.remove())

const sample = (...more: string[]) =>
  cli(['sample', '--prompt', 'a b', '--max-tokens', '8', '--temperature', '0', '--threads', '1', ...more])

describe('gradus sample', () => {
  it('fetches a model by its name, tells size and licence before, and answers as the folder does', async () => {
    const named = await sample('--chat', '--model', NAME)
    expect(named.code, named.err).toBe(0)
    expect(named.err).toMatch(
      /^lab\/tiny: commit 0123456, licence mit: fetching 5 files, 1 MB, into .*home\/hub\n.*of 1 MB/,
    )
    const own = await sample('--chat', '--model', folder)
    expect(named.out).toBe(own.out)
    vi.stubEnv('HF_HUB_OFFLINE', '1')
    expect(await sample('--chat', '--model', `hf://${NAME}`)).toEqual({ ...own, err: '' })
  })

  it('puts an adapter on it', async () => {
    const plain = await sample('--chat', '--model', NAME)
    const own = await sample('--chat', '--model', adapter)
    expect(own.code, own.err).toBe(0)
    expect(own.out).not.toBe(plain.out)
    const both = await sample('--chat', '--model', NAME, '--adapter', adapter)
    expect(both).toMatchObject({ code: 0, out: own.out })
    // The folder that it was trained on is no name on the hub; the same folder needs no word.
    expect(both.err).toMatch(/note: the adapter was trained on .*model, and goes on lab\/tiny\n/)
    expect((await sample('--chat', '--model', folder, '--adapter', adapter)).err).toBe('')
    const text = await sample('--model', adapter)
    expect(text.code, text.err).toBe(0)
    const none = await sample('--model', NAME, '--adapter', folder)
    expect(none.code).toBe(2)
    expect(none.err).toContain('--adapter: expected a folder with adapter_config.json')
    const twice = await sample('--model', adapter, '--adapter', adapter)
    expect(twice.err).toContain('expected a whole model to put the adapter')
  })

  it('says what is neither here nor there', async () => {
    const missing = await sample('--model', 'lab/none')
    expect(missing.code).toBe(1)
    expect(missing.err).toContain('lab/none: cannot be read: the hub knows no such revision (HTTP 404)')
    const path = await sample('--model', 'src/none')
    expect(path.err).toContain(
      '--model: src/none holds no model; check the path; a checkpoint folder has config.json and model.safetensors, a GGUF file ends in .gguf, and hf://OWNER/NAME',
    )
  })
})

describe('gradus train', () => {
  const settings = () =>
    sandbox.write('train.yaml', {
      recipe: 'ruscarl',
      model: { folder: NAME, lora: { rank: 2 } },
      task: { kind: 'conversations', file: rows(), holdOut: 2 },
      steps: 1,
      policy: { threads: 1 },
      rollout: { prompts: 2, samples: 2, maxTokens: 8 },
      evaluation: { problems: 2 },
      scaffold: { decay: { kind: 'linear' } },
    })
  const rows = () => {
    const verifier = { kind: 'rule', fn: 'contains', params: { any: ['a'] } }
    const criteria = [{ id: 'a', text: 'has an a', points: 1, verifier }]
    const lines = Array.from({ length: 6 }, (_, i) => JSON.stringify({ prompt: `say ${i}`, criteria }))
    return sandbox.write('rows.jsonl', `${lines.join('\n')}\n`)
  }

  it('plans with the configuration alone', async () => {
    const plan = await cli(['train', settings(), '--dry-run'])
    expect(plan.code, plan.err).toBe(0)
    expect(plan.out).toContain('lab/tiny (fetched when it runs)')
    const got = hub.seen.flatMap(({ path }) => /^\/lab\/tiny\/resolve\/\w+\/(.+)$/.exec(path)?.[1] ?? [])
    expect(new Set(got)).toEqual(new Set(['config.json']))
  })

  it(
    'notes the commit, goes on with it, and saves an adapter with words and the name of its base, which whatever opens a model opens',
    async () => {
      const out = sandbox.path('run')
      const first = await cli(['train', settings(), '--out', out, '--set', 'steps=2'])
      expect(first.code, first.err).toBe(0)
      expect(first.err).toContain(`${NAME}: read at commit ${COMMIT}`)
      const { data, model } = JSON.parse(sandbox.read('run', 'config.json'))
      expect({ data, model }).toEqual({ data: [{ source: NAME, commit: COMMIT }], model: NAME })
      hub.revisions.set(`${NAME}@main`, NEXT_COMMIT)
      const more = await cli(['train', settings(), '--out', out, '--resume', '--set', 'steps=3'])
      expect(more.code, more.err).toBe(0)
      const saved = join(out, 'checkpoints', 'step-000003')
      const config = JSON.parse(readFileSync(join(saved, 'adapter_config.json'), 'utf8'))
      expect(config).toMatchObject({ base_model_name_or_path: NAME, revision: COMMIT })
      for (const file of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json'])
        expect(readFileSync(join(saved, file), 'utf8')).toBe(readFileSync(join(folder, file), 'utf8'))
      const named = await sample('--chat', '--model', saved)
      const both = await sample('--chat', '--model', folder, '--adapter', saved)
      expect(named.code, named.err).toBe(0)
      expect(both.out).toBe(named.out)
      const chat = await localChatModel(saved, { threads: 1 })
      const { text } = await chat.complete({
        messages: [{ role: 'user', content: 'a b' }],
        maxTokens: 8,
        temperature: 0,
      })
      await chat.close?.()
      expect(text).toBe(named.out.replace(/\n$/, ''))
      const embedder = await openCheckpointEmbedder({ folder: saved, threads: 1, maxTokens: 16 })
      expect(await embedder.embed(['a b'])).toHaveLength(1)
      await embedder.close?.()
      const push = await cli(['push', saved, 'ann/skill', '--dry-run'])
      expect(push.out).toContain(`base_model: ${NAME}`)
    },
    SLOW_MS,
  )
})

describe('Ctrl+C while a model is fetched', () => {
  it.each(['train', 'eval'] as const)(
    'ends gradus %s, and the same command goes on',
    async command => {
      const criteria = [{ id: 'a', text: 'a', points: 1 }]
      const verifier = { kind: 'rule', fn: 'contains', params: { any: ['a'] } }
      const row = JSON.stringify({ prompt: 'say', criteria: [{ ...criteria[0], verifier }] })
      const data = sandbox.write('two.jsonl', `${row}\n${row.replace('say', 'sing')}\n`)
      const more = [
        ...['--set', `task.file=${data}`, '--set', 'task.holdOut=1', '--set', 'steps=1'],
        ...['--set', `model.folder=${NAME}`, '--set', 'rollout.maxTokens=4', '--set', 'policy.threads=1'],
      ]
      const out = sandbox.path('stopped')
      const args =
        command === 'train'
          ? ['train', 'grpo', ...more, '--out', out]
          : ['eval', '--data', data, '--model', NAME, '--max-tokens', '4', '--threads', '1']
      hub.always = 503
      // It would wait for more than a minute until it gives up.
      let asked = false
      const onProgress = (err: string, interrupt: () => void) => {
        if (asked || !err.includes('fetching')) return
        asked = true
        interrupt()
      }
      const stopped = await cli(args, { onProgress })
      expect([stopped.code, stopped.err]).toEqual([130, expect.stringContaining('what was fetched is kept')])
      hub.always = null
      const again = await cli(args)
      expect(again.code, again.err).toBe(0)
    },
    SLOW_MS,
  )
})

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

it('a file that the disk does not hold is said, and gone on with when there is room', async () => {
  hub.files.set(`${NAME}@${COMMIT}/model.safetensors`, Buffer.alloc(20_000_000))
  const run = async (limit: string) => {
    const command = `trap '' XFSZ; ${limit} exec "$@"`
    const args = [process.execPath, MAIN, 'sample', '--model', NAME, '--prompt', 'a']
    const child = spawn('bash', ['-c', command, 'bash', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    let err = ''
    child.stderr.on('data', chunk => {
      err += chunk
    })
    await once(child, 'close')
    return err
  }
  // In KiB: the first part of two fits.
  expect(await run('ulimit -f 9000;')).toMatch(
    /model\.safetensors: cannot be written: the file is larger than this system allows \(EFBIG\)/,
  )
  hub.seen.length = 0
  expect(await run('')).toMatch(/of 20 MB/)
  const ranges = hub.seen.filter(({ path }) => path.startsWith('storage')).map(({ range }) => range)
  expect(ranges[1]).toMatch(/^bytes=9\d{6}-/)
})
