import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveShipped } from '../util/package.ts'
import { createChatApp, type LocalChat, openLocalChat } from './chat/index.ts'
import { parseRewardConfig } from './reward/config-file.ts'
import { rewardApp, rewardService } from './reward/index.ts'

const CORPUS = fileURLToPath(new URL('../../test/corpus/requests', import.meta.url))
const TIMEOUT_MS = 240_000

interface App {
  request(path: string, init: RequestInit): Response | Promise<Response>
}
let reward: App
let chat: App
let model: LocalChat
const closers: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const config = parseRewardConfig({
    rubrics: { main: { criteria: [{ id: 'brief', text: 'Is brief', points: 1 }] } },
    judges: {
      script: { kind: 'scripted', script: [{ criterion: 'brief', metWhen: ['yes'] }], otherwise: null },
    },
    judge: 'script',
    limits: { responseCharacters: 20_000 },
  })
  const parts = await rewardService(config)
  reward = rewardApp(parts)
  model = await openLocalChat(resolveShipped('package:models/logic-start'), { threads: 1 })
  const { app, drain } = createChatApp(model)
  chat = app
  closers.push(
    () => parts.service.close(),
    drain,
    () => model.policy.close(),
  )
}, TIMEOUT_MS)
afterAll(async () => {
  for (const close of closers) await close()
})

const isChat = (route: string) => /^\/v1\/(chat|completions)/.test(route)

/** 200 or the client's fault; and the answer is JSON. */
const expectNoFault = async (route: string, body: string) => {
  const response = await (isChat(route) ? chat : reward).request(route, { method: 'POST', body })
  const text = await response.text()
  const { status } = response
  const fine = status === 200 || (status >= 400 && status < 500)
  expect(fine, `${route}: ${status} ${text.slice(0, 300)} for ${body.slice(0, 500)}`).toBe(true)
  if (!text.startsWith('data:')) JSON.parse(text)
  return { status, text }
}

describe('a corpus of hostile bodies', () => {
  it.each(readdirSync(CORPUS))('%s: 200 or 4xx', async name => {
    const { route, body, text } = JSON.parse(readFileSync(join(CORPUS, name), 'utf8'))
    await expectNoFault(route, text ?? JSON.stringify(body))
  })

  const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)
  const tree = `${'{"id":"x","weight":1,"children":['.repeat(20_000)}{"id":"a","weight":1}${']}'.repeat(20_000)}`
  const rubric = (rest: string) =>
    `{"items":[{"response":"x","rubric":{"criteria":[{"id":"a","text":"t","points":1}]${rest}}}]}`

  it.each([
    ['a tree of 20,000 levels', '/v1/grade', rubric(`,"tree":${tree}`), 400],
    ['lists in lists', '/v1/grade', nested(100_000, '[', ']'), 400],
    [
      'metadata in metadata',
      '/v1/grade',
      `{"items":[{"response":"x","metadata":${nested(50_000, '{"a":', '}').replace('}', '1}')}}]}`,
      400,
    ],
    [
      'a label in a label',
      '/slime',
      `{"prompt":"p","response":"r","label":${nested(50_000, '[', ']')}}`,
      400,
    ],
    ['an output in an output', '/verify', `{"response":${nested(50_000, '[', ']')}}`, 400],
    ['messages in messages', '/v1/chat/completions', `{"messages":${nested(50_000, '[', ']')}}`, 400],
    ['a million items', '/v1/grade', `{"items":[${'{},'.repeat(250_000)}{}]}`, 400],
    [
      'unknown keys by the thousand',
      '/v1/grade',
      `{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":0`)}}`,
      400,
    ],
    ['bad messages by the thousand', '/slime', `{"response":"r","prompt":[${'{},'.repeat(50_000)}{}]}`, 400],
    [
      'criteria by the thousand',
      '/v1/grade',
      rubric('').replace(/"criteria":\[(.*?)\]/, (_, one) => `"criteria":[${Array(5_000).fill(one)}]`),
      400,
    ],
    [
      'a name of a million letters',
      '/v1/grade',
      `{"items":[{"response":"x","rubric":"${'a'.repeat(1_000_000)}"}]}`,
      400,
    ],
    ['a long response', '/v1/grade', `{"items":[{"response":"${'x'.repeat(20_001)}"}]}`, 422],
    [
      'rows by the thousand',
      '/aggregate_metrics',
      `{"verify_responses":[${Array.from({ length: 50_000 }, (_, n) => `{"_ng_task_index":${n},"r${n}":1}`)}]}`,
      200,
    ],
    ['a long prompt', '/v1/completions', `{"prompt":"${'happy '.repeat(500_000)}"}`, 400],
  ])('%s', { timeout: TIMEOUT_MS }, async (_, route, body, status) => {
    const answer = await expectNoFault(route, body)
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.text.length).toBeLessThan(10_000)
  })

  it('bytes that are no UTF-8 are refused, not guessed at', async () => {
    const body = Buffer.concat([
      Buffer.from('{"prompt":"p","response":"caf'),
      Buffer.of(0xe9),
      Buffer.from('"}'),
    ])
    const response = await reward.request('/slime', { method: 'POST', body })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('UTF-8')
  })
})

const NUMBERS = [0, -0, -1, 1e308, -1e308, 5e-324, 1e-300, 2 ** 53, -(2 ** 31), 0.1]
const TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '__proto__',
  'constructor',
  'main',
  '{"a":{}}',
  '\u2028',
  'yes '.repeat(300),
]
const hostile = fc.oneof(
  fc.constantFrom<unknown>(...NUMBERS, ...TEXTS, null, true, false, [], {}, [[]], [null], [{}]),
  fc.jsonValue({ maxDepth: 4 }),
  fc.integer({ min: 1, max: 150 }).map(depth => JSON.parse('['.repeat(depth) + ']'.repeat(depth))),
)

/** Every place in a value. */
const placesOf = (value: unknown, path: (string | number)[] = []): (string | number)[][] => {
  if (value === null || typeof value !== 'object') return [path]
  const entries = Array.isArray(value) ? value.map((inner, n) => [n, inner] as const) : Object.entries(value)
  return [path, ...entries.flatMap(([key, inner]) => placesOf(inner, [...path, key]))]
}

const put = (value: unknown, [key, ...rest]: (string | number)[], what: unknown): unknown => {
  if (key === undefined) return what
  if (Array.isArray(value)) return value.map((inner, n) => (n === key ? put(inner, rest, what) : inner))
  const entries = Object.entries(value as object)
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, name === key ? put(inner, rest, what) : inner]),
  )
}

/** A good body with one to three places changed to something hostile, or with a key that does not belong there. */
const spoilt = (good: unknown) =>
  fc
    .array(fc.tuple(fc.nat(), hostile, fc.constantFrom('', '__proto__', 'tree', 'rubric', 'extra')), {
      minLength: 1,
      maxLength: 3,
    })
    .map(changes =>
      changes.reduce<unknown>((body, [at, what, key]) => {
        const places = placesOf(body)
        const place = places[at % places.length]
        const old = place.reduce<unknown>((inner, step) => (inner as Record<string, unknown>)[step], body)
        const isObject = old !== null && typeof old === 'object' && !Array.isArray(old)
        return put(body, place, key !== '' && isObject ? { ...old, [key]: what } : what)
      }, good),
    )

const rule = (fn: string, params: object) => ({ kind: 'rule', fn, params })
const CRITERIA = [
  { id: 'a', text: 'Is brief', points: 3, verifier: rule('length', { max: 5 }) },
  { id: 'b', text: 'Says yes', points: -2, critical: true, verifier: rule('contains', { any: ['yes'] }) },
  {
    id: 'c',
    text: 'Is brief',
    points: 1,
    stage: 1,
    levels: [
      { low: 0, high: 0, text: 'no' },
      { low: 1, high: 1, text: 'yes' },
    ],
  },
]
const GOOD: [string, unknown, number][] = [
  [
    '/v1/grade',
    {
      items: [
        {
          id: 'i',
          prompt: [{ role: 'user', content: 'q' }],
          response: 'yes',
          reference: 'r',
          metadata: { a: 1 },
          sampleIndex: 0,
        },
        {
          response: 'no',
          rubric: {
            id: 'r',
            criteria: CRITERIA,
            tree: { id: 'root', weight: 1, children: CRITERIA.map(({ id }) => ({ id, weight: 1 })) },
          },
        },
      ],
      rubric: { criteria: CRITERIA },
      raw: true,
    },
    150,
  ],
  ['/openrlhf', { query: ['ab</s>', 'yes'], prompts: ['a', ''], labels: ['1', { a: 2 }] }, 80],
  ['/slime', { prompt: [{ role: 'user', content: 'q' }], response: 'yes', label: '{"a": {"b": 1}}' }, 80],
  [
    '/verify',
    {
      responses_create_params: {
        input: [{ type: 'message', role: 'user', content: [{ text: 'q' }] }],
        instructions: 'i',
      },
      response: { output: [{ type: 'message', role: 'assistant', content: 'yes' }] },
      expected_answer: 'yes',
    },
    80,
  ],
  ['/seed_session', {}, 30],
  [
    '/aggregate_metrics',
    {
      verify_responses: [
        { _ng_task_index: 0, reward: 1, ok: true },
        { _ng_task_index: 1, reward: 0 },
      ],
    },
    80,
  ],
  [
    '/v1/chat/completions',
    {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'happy' }] }],
      max_tokens: 2,
      temperature: 0.5,
      top_p: 0.9,
      n: 1,
      seed: 1,
      stop: ['x'],
      logprobs: true,
      top_logprobs: 1,
    },
    30,
  ],
  [
    '/v1/completions',
    { prompt: ['happy', 'sad'], max_tokens: 2, temperature: 0, logprobs: 1, stream: false },
    30,
  ],
]

describe('any body at all: 200 or 4xx, never 500', () => {
  it.each(GOOD)('%s', { timeout: TIMEOUT_MS }, async (route, good, runs) => {
    expect((await expectNoFault(route, JSON.stringify(good))).status).toBe(200)
    const bodies = fc.oneof(
      { weight: 6, arbitrary: spoilt(good).map(body => JSON.stringify(body) ?? 'null') },
      { weight: 1, arbitrary: fc.json() },
      { weight: 1, arbitrary: fc.string() },
    )
    await fc.assert(
      fc.asyncProperty(bodies, async body => {
        await expectNoFault(route, body)
      }),
      { numRuns: runs },
    )
  })
})
