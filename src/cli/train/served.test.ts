import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FakeInferenceServer } from '../../policy/served/fake-server.fixture.ts'
import { type ChatServer, openLocalChat, startChatServer } from '../../serve/chat/index.ts'
import { resolveShipped } from '../../util/package.ts'
import { cli, Sandbox, SLOW_MS } from '../cli.fixture.ts'

const FOLDER = 'package:models/logic-start'
const TOKEN = 'a-token-of-some-length'
const KEY = 'GRADUS_TEST_SERVED_TOKEN'
const PROMPT = 'every wumpus is a zumpus .'

const sandbox = new Sandbox()
let server: ChatServer
let address: string
let fake: FakeInferenceServer
let fakeUrl: string

beforeAll(async () => {
  process.env[KEY] = TOKEN
  const model = await openLocalChat(resolveShipped(FOLDER), { threads: 1 })
  server = await startChatServer(model, { token: TOKEN })
  address = `${server.url}/v1#logic-start`
  fake = new FakeInferenceServer({ dialect: 'sglang' })
  fakeUrl = await fake.listen()
}, SLOW_MS)
afterAll(async () => {
  delete process.env[KEY]
  await server.close()
  await fake.close()
  sandbox.remove()
})

const run = async (...args: string[]) => {
  const { code, out, err } = await cli(args)
  return { code, err, out, json: out.startsWith('{') ? JSON.parse(out) : null }
}

describe('gradus sample with a model on a server', { timeout: SLOW_MS }, () => {
  const sample = (model: string, ...more: string[]) =>
    run('sample', '--model', model, '--temperature', '0', '--max-tokens', '12', '--json', ...more)
  const keyed = ['--api-key-env', KEY]

  it('says what the checkpoint says in this process, whoever makes the tokens', async () => {
    const { json: local } = await sample(FOLDER, '--prompt', PROMPT, '--threads', '1')
    const { json: theirs, err } = await sample(address, '--prompt', PROMPT, ...keyed)
    const { json: ours } = await sample(address, '--prompt', PROMPT, '--tokenizer', FOLDER, ...keyed)
    expect(err).toBe('')
    for (const far of [theirs, ours]) {
      expect(far).toMatchObject({ tokens: local.tokens, text: local.text, finishReason: local.finishReason })
      far.logprobs.forEach((logprob: number, t: number) => {
        expect(Math.abs(logprob - local.logprobs[t])).toBeLessThan(1e-3)
      })
    }
    const identity = { server: server.url, name: 'logic-start', dialect: 'openai' }
    expect([theirs.model, ours.model]).toEqual([
      { ...identity, asked: 'text' },
      { ...identity, asked: 'tokens' },
    ])
  })

  it('takes the only model of an address, and SGLang as it is', async () => {
    const { json, code } = await run(
      ...['sample', '--model', fakeUrl, '--prompt-tokens', '4,5', '--max-tokens', '3', '--json'],
    )
    expect(code).toBe(0)
    expect(json.model).toEqual({
      server: new URL(fakeUrl).origin,
      name: 'tiny',
      dialect: 'sglang',
      asked: 'tokens',
    })
    expect(json.tokens).toHaveLength(3)
    expect(fake.seen.at(-1)!.body.input_ids).toEqual([4, 5])
  })

  it.each([
    ['a key that is not there', ['--api-key-env', 'GRADUS_NO_SUCH_KEY'], 'GRADUS_NO_SUCH_KEY is not set'],
    ['no key', [], 'name the environment variable that holds its key'],
  ])('refuses %s', async (_, more, words) => {
    const { code, err } = await sample(address, '--prompt', 'x', ...more)
    expect(code).toBe(1)
    expect(err).toContain(words)
    expect(err).not.toContain(TOKEN)
  })

  it('refuses a model that is not served, with those that are', async () => {
    const { err } = await sample(`${server.url}/v1#gpt-9`, '--prompt', 'x', ...keyed)
    expect(err).toContain('expected a model that it serves, got gpt-9; it has logic-start')
  })

  it('refuses options of servers beside a folder', async () => {
    const { code, err } = await sample(FOLDER, '--prompt', 'x', '--tokenizer', FOLDER)
    expect(code).toBe(2)
    expect(err).toContain('--tokenizer: has no effect on a checkpoint folder')
  })
})

describe('gradus eval with a model on a server', { timeout: SLOW_MS }, () => {
  const evaluated = (model: string, ...more: string[]) =>
    run(
      ...['eval', '--task', 'logic', '--model', model, '--generated', 'shortcut-free', '--hops', '2'],
      ...['--limit', '12', '--max-tokens', '60', '--json', ...more],
    )
  const keyed = ['--model-api-key-env', KEY]

  it('gives the metrics of the checkpoint itself, in its own tokens', async () => {
    const local = await evaluated(FOLDER, '--threads', '1')
    const far = await evaluated(address, '--tokenizer', FOLDER, ...keyed)
    expect([far.code, far.err]).toEqual([0, ''])
    const { model, ...metrics } = far.json
    expect({ ...metrics, model: FOLDER }).toEqual(local.json)
    expect(metrics.n).toBe(12)
    expect(model).toEqual({ server: server.url, name: 'logic-start', dialect: 'openai', asked: 'tokens' })
  })

  it('reads problems of a file, several samples, and says whose answers they are', async () => {
    const rows = [1, 2].map(n =>
      JSON.stringify({
        id: `p${n}`,
        context: 'Every wumpus is a zumpus. Alex is a wumpus.',
        question: 'Is the following statement true or false? Alex is a zumpus.',
        options: ['A) True', 'B) False'],
        answer: 'A',
      }),
    )
    const data = sandbox.write('rows.jsonl', rows.join('\n'))
    const { code, out, err } = await run(
      ...['eval', '--task', 'logic', '--model', address, '--tokenizer', FOLDER, '--data', data, ...keyed],
      ...['--samples', '3', '--temperature', '0.8', '--max-tokens', '40'],
    )
    expect(code, err).toBe(0)
    expect(out).toContain('2 problems answered, 3 samples at temperature 0.8')
    expect(out).toContain(
      `model logic-start at ${server.url} (openai); prompts in tokens of the local tokenizer`,
    )
  })

  it('asks in words where there is no tokenizer', async () => {
    const talker = new FakeInferenceServer({ key: TOKEN, chat: () => '<answer>True</answer>' })
    const url = await talker.listen()
    const { code, json, err } = await evaluated(`${url}#tiny`, ...keyed, '--formulas', 'shown')
    await talker.close()
    expect([code, err]).toEqual([0, ''])
    expect(json).toMatchObject({ n: 12, model: { asked: 'chat', name: 'tiny' }, byLabel: { True: {} } })
    expect(json.byLabel.True.scores.accuracy).toBe(1)
    expect(json.byLabel.False.scores.accuracy).toBe(0)
    const asked = talker.seen.filter(({ path }) => path === '/v1/chat/completions')
    expect(asked).toHaveLength(12)
    expect(asked[0].body).toMatchObject({ model: 'tiny', temperature: 0, max_tokens: 60 })
    expect(asked[0].body.messages.map(({ role }: { role: string }) => role)).toEqual(['system', 'user'])
  })

  it('counts no answer of a server that failed: it stops', async () => {
    const { code, out, err } = await evaluated(`${server.url}/v1#logic-start`)
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('HTTP 401')
  })

  it('refuses what goes with other models', async () => {
    expect((await evaluated(address, '--tokenizer', 'nowhere')).err).toContain(
      '--tokenizer: nowhere holds no',
    )
    const shown = await evaluated(address, '--tokenizer', FOLDER, '--formulas', 'shown')
    expect(shown.err).toContain('--formulas: the small model reads sentences alone')
  })
})
