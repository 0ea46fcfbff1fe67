import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError, JudgeError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import type { ChatRequest } from './chat-model.ts'
import type { OpenAiRuntime } from './connection.ts'
import { OpenAiModel } from './openai.ts'
import { type OpenAiOptions, openAiSchema } from './openai-config.ts'
import { retryAfterMs } from './retry-after.ts'

interface Seen {
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
  socket: unknown
}
type Reply = (seen: Seen, response: ServerResponse, number: number) => void

const KEY = 'sk-very-secret-0123456789'
const REQUEST: ChatRequest = { messages: [{ role: 'user', content: 'Is it? ünï' }] }
const SCHEMA = { name: 'verdict', schema: { type: 'object' } }

let stop: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(stop.map(each => each()))
  stop = []
})

const completion = (message: object, rest: object = {}) => ({
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message }, ...rest }],
})
const json = (response: ServerResponse, status: number, value: unknown, headers: object = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
const ok: Reply = (_, response) => json(response, 200, completion({ content: 'yes' }))

/** A server with a model that talks to it. */
const setup = async (reply: Reply, options: Partial<OpenAiOptions> = {}, runtime: OpenAiRuntime = {}) => {
  const seen: Seen[] = []
  const server: Server = createServer((request, response) => {
    let text = ''
    request.on('data', chunk => {
      text += chunk
    })
    request.on('end', () => {
      const { url: path = '', headers, socket } = request
      const each = { path, headers, body: JSON.parse(text), socket }
      seen.push(each)
      reply(each, response, seen.length)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const model = new OpenAiModel({ url, model: 'judge', ...options }, { env: { THE_KEY: KEY }, ...runtime })
  stop.push(async () => {
    await model.close()
    server.closeAllConnections()
    server.close()
  })
  return { seen, url, model, server }
}

const errorOf = (promise: Promise<unknown>): Promise<JudgeError> =>
  promise.then(
    () => {
      throw new Error('expected an error')
    },
    (error: JudgeError) => error,
  )

describe('request', () => {
  it('sends what was asked for and nothing else', async () => {
    const { seen, model } = await setup(ok, {
      extraBody: { chat_template_kwargs: { enable_thinking: false } },
    })
    await model.complete({
      ...REQUEST,
      maxTokens: 100,
      temperature: 0.7,
      topP: 0.8,
      topK: 20,
      presencePenalty: 1.5,
      seed: 3,
      stop: ['END'],
      topLogprobs: 5,
    })
    expect(seen[0].path).toBe('/v1/chat/completions')
    expect(seen[0].headers['content-type']).toBe('application/json')
    expect(seen[0].headers.authorization).toBeUndefined()
    expect(seen[0].body).toEqual({
      model: 'judge',
      messages: REQUEST.messages,
      max_tokens: 100,
      temperature: 0.7,
      top_p: 0.8,
      top_k: 20,
      presence_penalty: 1.5,
      seed: 3,
      stop: ['END'],
      logprobs: true,
      top_logprobs: 5,
      chat_template_kwargs: { enable_thinking: false },
    })
  })

  it('sends top_k and max_completion_tokens only where it is told to', async () => {
    const { seen, model } = await setup(ok, { sendTopK: true, maxTokensField: 'max_completion_tokens' })
    await model.complete({ ...REQUEST, topK: 20, maxTokens: 9 })
    expect(seen[0].body).toMatchObject({ top_k: 20, max_completion_tokens: 9 })
    expect(seen[0].body).not.toHaveProperty('max_tokens')
  })

  it.each([
    ['', '/v1/chat/completions'],
    ['/', '/v1/chat/completions'],
    ['/v1', '/v1/chat/completions'],
    ['/api/v3/', '/api/v3/chat/completions'],
    ['/deploy/chat/completions?version=2', '/deploy/chat/completions?version=2'],
  ])('url with path "%s" is asked at %s', async (path, asked) => {
    const { seen, url } = await setup(ok)
    const model = new OpenAiModel({ url: url + path, model: 'm' })
    await model.complete(REQUEST)
    await model.close()
    expect(seen[0].path).toBe(asked)
  })

  it.each([
    ['structured_outputs', { structured_outputs: { json: SCHEMA.schema } }],
    ['json_schema', { response_format: { type: 'json_schema', json_schema: { ...SCHEMA, strict: true } } }],
    ['json_object', { response_format: { type: 'json_object' } }],
    ['none', {}],
  ] as const)('asks for JSON by %s', async (structuredOutput, expected) => {
    const { seen, model } = await setup(ok, { structuredOutput })
    await model.complete({ ...REQUEST, answerSchema: SCHEMA })
    expect(seen[0].body).toEqual({ model: 'judge', messages: REQUEST.messages, ...expected })
  })

  it('keeps connections open for the next request', async () => {
    const { seen, model } = await setup(ok)
    for (let i = 0; i < 5; i++) await model.complete(REQUEST)
    // The next request may begin in the turn in which the last one's connection is still being given back.
    expect(new Set(seen.map(({ socket }) => socket)).size).toBeLessThanOrEqual(2)
    for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 20 }, () => model.complete(REQUEST)))
    expect(new Set(seen.map(({ socket }) => socket)).size).toBeLessThanOrEqual(40)
  })
})

describe('downgrade', () => {
  const refusing =
    (fields: readonly string[], words: string): Reply =>
    (seen, response) => {
      const format = (seen.body.response_format as { type?: string } | undefined)?.type
      const used = [...Object.keys(seen.body), format].find(field => field && fields.includes(field))
      if (used) json(response, 400, { error: { message: words } })
      else json(response, 200, completion({ content: 'yes' }))
    }

  it('asks in the next simpler way, and remembers what the server took', async () => {
    const { seen, model } = await setup(
      refusing(['structured_outputs', 'json_schema'], 'response_format is not supported here'),
      { structuredOutput: 'structured_outputs' },
    )
    await model.complete({ ...REQUEST, answerSchema: SCHEMA })
    expect(seen).toHaveLength(3)
    expect(model.structuredOutput).toBe('json_object')
    await model.complete({ ...REQUEST, answerSchema: SCHEMA })
    expect(seen).toHaveLength(4)
  })

  it('forgets a downgrade that did not help: the request itself was wrong', async () => {
    const { seen, model } = await setup((_, response) =>
      json(response, 400, { error: { message: 'bad schema' } }),
    )
    const error = await errorOf(model.complete({ ...REQUEST, answerSchema: SCHEMA }))
    expect(error.kind).toBe('bad-request')
    expect(seen).toHaveLength(3)
    expect(model.structuredOutput).toBe('json_schema')
  })

  it('leaves the format alone when the refusal is about something else', async () => {
    const { seen, model } = await setup((_, response) =>
      json(response, 400, { error: { message: "This model's maximum context length is 4096 tokens" } }),
    )
    await errorOf(model.complete({ ...REQUEST, answerSchema: SCHEMA, maxTokens: 10 }))
    expect(seen).toHaveLength(1)
  })

  it('learns the other name of the token limit', async () => {
    const { seen, model } = await setup(
      refusing(
        ['max_tokens'],
        "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      ),
    )
    await Promise.all([1, 2, 3].map(() => model.complete({ ...REQUEST, maxTokens: 5 })))
    const before = seen.length
    await model.complete({ ...REQUEST, maxTokens: 5 })
    expect(seen).toHaveLength(before + 1)
    expect(seen.at(-1)?.body).toMatchObject({ max_completion_tokens: 5 })
  })
})

describe('settings of sampling that a server does not have', () => {
  const ASKED = { ...REQUEST, temperature: 0.7, topP: 0.8, topK: 20, presencePenalty: 1.5 }
  const FIELDS = ['temperature', 'top_p', 'top_k', 'presence_penalty', 'seed']
  const sent = ({ body }: Seen) => Object.keys(body).filter(key => FIELDS.includes(key))
  /** Refuses the first of these fields that it is sent. */
  const lacking =
    (fields: readonly string[], status: number, words: (field: string) => unknown): Reply =>
    (seen, response) => {
      const used = sent(seen).find(field => fields.includes(field))
      if (used) json(response, status, words(used))
      else json(response, 200, completion({ content: 'yes' }))
    }

  it.each<[string, number, (field: string) => unknown]>([
    ['OpenAI', 400, field => ({ error: { message: `Unrecognized request argument supplied: ${field}` } })],
    [
      'OpenAI, reasoning models',
      400,
      field => ({
        error: {
          message: `Unsupported parameter: '${field}' is not supported with this model.`,
          param: field,
        },
      }),
    ],
    [
      'pydantic',
      422,
      field => ({
        detail: [
          { type: 'extra_forbidden', loc: ['body', field], msg: 'Extra inputs are not permitted', input: 20 },
        ],
      }),
    ],
    ['words of its own', 400, field => ({ message: `this model does not support ${field}` })],
  ])('are left out at once, remembered and told once: %s', async (_, status, words) => {
    const warnings: string[] = []
    const { seen, model } = await setup(
      lacking(['top_k', 'presence_penalty'], status, words),
      {},
      { onWarning: text => warnings.push(text) },
    )
    await model.complete(ASKED)
    expect(seen.map(sent)).toEqual([
      ['temperature', 'top_p', 'top_k', 'presence_penalty'],
      ['temperature', 'top_p', 'presence_penalty'],
      ['temperature', 'top_p'],
    ])
    await model.complete(ASKED)
    expect(seen).toHaveLength(4)
    expect(warnings).toEqual([
      expect.stringMatching(/^http:.*the server refused top_k, presence_penalty; judge is asked without/),
    ])
  })

  it('stay where the server minds their value, where another one is meant, and where the user wrote them in', async () => {
    const outOfRange = await setup(
      lacking(['top_k'], 400, () => ({ error: { message: 'top_k must be at least 1, got 0' } })),
    )
    expect((await errorOf(outOfRange.model.complete(ASKED))).kind).toBe('bad-request')
    expect(outOfRange.seen).toHaveLength(1)
    const other = await setup(
      lacking(['top_k'], 400, () => ({ error: { message: 'top_k_extra is not supported' } })),
    )
    await errorOf(other.model.complete(ASKED))
    expect(other.seen).toHaveLength(1)
    const written = await setup(
      lacking(['top_k'], 400, field => ({ error: { message: `unknown field ${field}` } })),
      { extraBody: { top_k: 5 } },
    )
    await errorOf(written.model.complete(ASKED))
    expect(written.seen).toHaveLength(1)
  })

  it('never sends top_k where that is said', async () => {
    const { seen, model } = await setup(ok, { sendTopK: false })
    await model.complete(ASKED)
    expect(sent(seen[0])).toEqual(['temperature', 'top_p', 'presence_penalty'])
  })
})

describe('response', () => {
  it('carries text, finish reason, tokens, log-probs and the model that answered', async () => {
    const { model } = await setup((_, response) =>
      json(response, 200, {
        model: 'judge-2',
        ...completion(
          { content: 'yes' },
          {
            finish_reason: 'length',
            logprobs: {
              content: [
                {
                  token: 'yes',
                  logprob: -0.1,
                  bytes: [1],
                  top_logprobs: [
                    { token: 'yes', logprob: -0.1 },
                    { token: 'no', logprob: -2.4 },
                  ],
                },
              ],
            },
          },
        ),
        usage: { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 8 } },
      }),
    )
    expect(await model.complete(REQUEST)).toEqual({
      text: 'yes',
      finishReason: 'length',
      usage: { promptTokens: 10, completionTokens: 1, cachedTokens: 8 },
      logprobs: [
        {
          token: 'yes',
          logprob: -0.1,
          top: [
            { token: 'yes', logprob: -0.1 },
            { token: 'no', logprob: -2.4 },
          ],
        },
      ],
      model: 'judge-2',
    })
  })

  it('says null for tokens that the server does not count', async () => {
    const { model } = await setup(ok)
    expect((await model.complete(REQUEST)).usage).toEqual({
      promptTokens: null,
      completionTokens: null,
      cachedTokens: null,
    })
  })

  it.each([
    [
      'parts',
      completion({
        content: [
          { type: 'text', text: 'ye' },
          { type: 'text', text: 's' },
        ],
      }),
      'yes',
    ],
    ['no content at all', completion({ content: null }, { finish_reason: 'length' }), ''],
  ])('reads %s', async (_, body, text) => {
    const { model } = await setup((_, response) => json(response, 200, body))
    expect((await model.complete(REQUEST)).text).toBe(text)
  })

  it('reads an answer whose log-probs are of no shape at all', async () => {
    const odd = { toString: 1, valueOf: 2 }
    const content = [{ token: odd, logprob: odd, top_logprobs: [{ token: odd, logprob: odd }] }]
    const { model } = await setup((_, response) =>
      json(response, 200, completion({ content: 'yes' }, { logprobs: { content } })),
    )
    expect((await model.complete(REQUEST)).text).toBe('yes')
  })

  it('survives a character that is split between two packets', async () => {
    const { model } = await setup((_, response) => {
      const bytes = Buffer.from(JSON.stringify(completion({ content: 'ünï' })))
      const cut = bytes.indexOf('ü') + 1
      response.writeHead(200)
      response.write(bytes.subarray(0, cut))
      setTimeout(() => response.end(bytes.subarray(cut)), 20)
    })
    expect((await model.complete(REQUEST)).text).toBe('ünï')
  })
})

describe('errors', () => {
  it.each([
    [401, 'auth', false],
    [403, 'auth', false],
    [404, 'config', false],
    [308, 'config', false],
    [400, 'bad-request', false],
    [413, 'bad-request', false],
    [408, 'timeout', true],
    [429, 'rate-limit', true],
    [500, 'server', true],
    [503, 'server', true],
    [529, 'server', true],
  ])('HTTP %i is %s', async (status, kind, retryable) => {
    const { model, url } = await setup((_, response) =>
      json(response, status, { error: { message: 'because' } }),
    )
    const error = await errorOf(model.complete(REQUEST))
    expect(error).toBeInstanceOf(JudgeError)
    expect(error).toMatchObject({ kind, status, retryable })
    expect(error.message).toContain(`${url}: HTTP ${status}: because`)
  })

  it.each([
    [
      'an HTML page',
      502,
      '<html><body>\n<h1>Bad Gateway</h1></body></html>',
      'server',
      /HTTP 502: <html><body> <h1>Bad/,
    ],
    ['nothing', 500, '', 'server', /HTTP 500$/],
    ['FastAPI detail', 400, '{"detail":"too long"}', 'bad-request', /HTTP 400: too long/],
    ['an exhausted account', 429, '{"error":{"code":"insufficient_quota","message":"pay"}}', 'auth', /pay/],
    ['text in a 200', 200, 'hello', 'malformed', /expected a chat completion, got hello/],
    ['an empty 200', 200, '', 'malformed', /an empty body/],
    ['cut JSON', 200, '{"choices":[{"mess', 'malformed', /expected a chat completion/],
    ['no choices', 200, '{"choices":[]}', 'malformed', /without choices\[0\]/],
    ['null', 200, 'null', 'malformed', /expected a chat completion/],
    [
      'an error in a 200 that is no text',
      200,
      '{"error":{"message":{"toString":1,"valueOf":1}}}',
      'malformed',
      /without words/,
    ],
    [
      'an error in a 200 that is nested without end',
      200,
      `{"error":{"message":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
      'malformed',
      /without words/,
    ],
    ['a gateway error in a 200', 200, '{"error":{"code":429,"message":"slow"}}', 'rate-limit', /slow/],
    ['a refusal', 200, JSON.stringify(completion({ content: null, refusal: 'no' })), 'refused', /withheld/],
    [
      'a content filter',
      200,
      JSON.stringify(completion({ content: '' }, { finish_reason: 'content_filter' })),
      'refused',
      /content_filter/,
    ],
  ])('%s', async (_, status, body, kind, message) => {
    const { model } = await setup((_, response) => response.writeHead(status).end(body))
    const error = await errorOf(model.complete(REQUEST))
    expect(error.kind).toBe(kind)
    expect(error.message).toMatch(message)
  })

  it('a server that is not there, that cuts, that never answers, that never stops', async () => {
    const gone = new OpenAiModel({ url: 'http://127.0.0.1:9', model: 'm' })
    expect(await errorOf(gone.complete(REQUEST))).toMatchObject({ kind: 'unreachable', retryable: true })
    await gone.close()
    const cut = await setup((_, response) => response.socket?.destroy())
    expect(await errorOf(cut.model.complete(REQUEST))).toMatchObject({ kind: 'unreachable' })
    const half = await setup((_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('{"choices":', () => response.socket?.destroy())
    })
    expect(await errorOf(half.model.complete(REQUEST))).toMatchObject({ kind: 'unreachable' })
    const silent = await setup(() => {}, { attemptTimeoutMs: 50 })
    const error = await errorOf(silent.model.complete(REQUEST))
    expect(error).toMatchObject({ kind: 'timeout', retryable: true })
    expect(error.message).toMatch(/no complete answer within 50 ms/)
    const endless = await setup(
      (_, response) => {
        response.writeHead(200)
        const write = () => response.write('x'.repeat(4096), failed => failed || setImmediate(write))
        write()
      },
      { maxResponseBytes: 100_000 },
    )
    expect(await errorOf(endless.model.complete(REQUEST))).toMatchObject({
      kind: 'malformed',
      retryable: true,
    })
  })

  it('the time limit covers a trickle of bytes and the wait for a connection', async () => {
    const { model } = await setup(
      (_, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write(' '), 10)
        response.on('close', () => clearInterval(timer))
      },
      { attemptTimeoutMs: 100, connections: 1 },
    )
    const errors = await Promise.all([errorOf(model.complete(REQUEST)), errorOf(model.complete(REQUEST))])
    expect(errors.map(({ kind }) => kind)).toEqual(['timeout', 'timeout'])
  })

  it('a cancelled call ends at once, and its connection does no harm to the next', async () => {
    const { model, seen } = await setup((_, response, number) => {
      if (number > 1) ok(seen[0], response, number)
    })
    const controller = new AbortController()
    const promise = errorOf(model.complete({ ...REQUEST, signal: controller.signal }))
    setTimeout(() => controller.abort(new Error('enough')), 30)
    const error = await promise
    expect(error).toMatchObject({ kind: 'cancelled', retryable: false })
    expect((error.cause as Error).message).toBe('enough')
    expect((await model.complete(REQUEST)).text).toBe('yes')
    expect(await errorOf(model.complete({ ...REQUEST, signal: controller.signal }))).toMatchObject({
      kind: 'cancelled',
    })
  })

  it('hands on how long the server asks to wait', async () => {
    const { model } = await setup((_, response) => json(response, 429, {}, { 'retry-after': '7' }))
    expect((await errorOf(model.complete(REQUEST))).retryAfterMs).toBe(7000)
  })
})

describe('retry-after', () => {
  const NOW = Date.parse('2026-01-01T00:00:00Z')
  it.each([
    [{ 'retry-after': '120' }, 120_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:30 GMT' }, 90_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': ['3', '4'] }, 3000],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
    [{ 'retry-after': '9'.repeat(400) }, Number.POSITIVE_INFINITY],
    // By the server's own clock, whatever ours says.
    [{ 'retry-after': 'Fri, 31 Dec 2049 00:00:30 GMT', date: 'Fri, 31 Dec 2049 00:00:00 GMT' }, 30_000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:30 GMT', date: 'Thu, 01 Jan 1970 00:00:00 GMT' }, 30_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:30 GMT', date: 'yesterday' }, 90_000],
  ])('%o is %s ms', (headers, expected) => {
    expect(retryAfterMs(headers, NOW)).toBe(expected)
  })
})

describe('retry-after, generated', () => {
  it('is never negative and never NaN, and seconds are what they say', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.integer().map(String),
      fc.double().map(String),
      fc.date({ noInvalidDate: true }).map(date => date.toUTCString()),
    )
    const header = fc.oneof(text, fc.array(text, { maxLength: 2 }), fc.constant(undefined))
    const headers = fc.record({ 'retry-after': header, 'retry-after-ms': header, date: header })
    fc.assert(
      fc.property(headers, fc.integer(), (made, nowMs) => {
        const waitMs = retryAfterMs(made, nowMs)
        return waitMs === undefined || waitMs >= 0
      }),
    )
    fc.assert(
      fc.property(fc.nat(), fc.integer(), (seconds, nowMs) => {
        expect(retryAfterMs({ 'retry-after': String(seconds) }, nowMs)).toBe(seconds * 1000)
      }),
    )
  })
})

describe('answers that are too much', () => {
  it('are malformed: too large, too deep, too many parts', async () => {
    const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`
    for (const body of [deep, '['.repeat(2_000_000), `[${'{},'.repeat(700_000)}{}]`]) {
      const { model } = await setup((_, response) => response.writeHead(200).end(body))
      expect(await errorOf(model.complete(REQUEST))).toMatchObject({ kind: 'malformed', retryable: true })
    }
    const brackets = `${'[{"'.repeat(200_000)}\\"`
    const { model } = await setup((_, response) => json(response, 200, completion({ content: brackets })))
    expect((await model.complete(REQUEST)).text).toBe(brackets)
  })

  it('counts of tokens that no call uses are not believed', async () => {
    const { model } = await setup((_, response) =>
      json(response, 200, {
        ...completion({ content: 'yes' }),
        usage: { prompt_tokens: 1e300, completion_tokens: -1, prompt_tokens_details: { cached_tokens: 'x' } },
      }),
    )
    expect((await model.complete(REQUEST)).usage).toEqual({
      promptTokens: null,
      completionTokens: null,
      cachedTokens: null,
    })
  })
})

describe('refusals without a fleet', () => {
  it('are fatal before an answer and in a row, not for a single call', async () => {
    const refused = new Set([2, ...Array.from({ length: 12 }, (_, i) => 4 + i)])
    const { model } = await setup((seen, response, number) =>
      refused.has(number) ? json(response, 401, {}) : ok(seen, response, number),
    )
    await model.complete(REQUEST)
    expect(await errorOf(model.complete(REQUEST))).toMatchObject({ kind: 'auth', fatal: false })
    await model.complete(REQUEST)
    for (let i = 1; i <= 11; i++)
      expect(await errorOf(model.complete(REQUEST))).toMatchObject({ kind: 'auth', fatal: i >= 10 })
    const never = await setup((_, response) => json(response, 404, {}))
    expect(await errorOf(never.model.complete(REQUEST))).toMatchObject({ kind: 'config', fatal: true })
  })
})

describe('key', () => {
  it('is read from the environment and sent', async () => {
    const { seen, model } = await setup(ok, { apiKeyEnv: 'THE_KEY' })
    await model.complete(REQUEST)
    expect(seen[0].headers.authorization).toBe(`Bearer ${KEY}`)
    const other = await setup(ok, { apiKeyEnv: 'THE_KEY', apiKeyHeader: 'api-key' })
    await other.model.complete(REQUEST)
    expect(other.seen[0].headers['api-key']).toBe(KEY)
  })

  it('is refused where it is written out in a header, which a run would keep', () => {
    const endpoint = (headers: Record<string, string>) =>
      parseWith(openAiSchema, { url: 'http://x', model: 'm', headers }, 'judge', ConfigError)
    const secrets: Record<string, string>[] = [
      { 'api-key': KEY },
      { Authorization: `Bearer ${KEY}` },
      { 'x-more': `Bearer ${KEY}` },
    ]
    for (const headers of secrets) {
      const refused = () => endpoint(headers)
      expect(refused).toThrow(/no secret written out, as that of .*apiKeyEnv/)
      expect(refused).not.toThrow(KEY)
    }
    expect(endpoint({ 'x-team': 'logic' }).headers).toEqual({ 'x-team': 'logic' })
  })

  it.each([
    [{ extraBody: { more: [{ api_key: 'open-sesame' }] } }, /extraBody: expected no secret written out/],
    [{ apiKeyEnv: 'sk-open-sesame-1' }, /apiKeyEnv: expected the name of the environment variable/],
    [{ apiKeyEnv: 'THE_KEY=open-sesame' }, /apiKeyEnv: expected the name of the environment variable/],
  ])('is refused in %j', (more, message) => {
    const refused = () => parseWith(openAiSchema, { url: 'http://x', model: 'm', ...more }, 'judge')
    expect(refused).toThrow(message)
    expect(refused).not.toThrow(/sesame/)
  })

  it('never appears in an error, also when the server echoes it', async () => {
    for (const [status, body] of [
      [401, { error: { message: `Incorrect API key provided: ${KEY}` } }],
      [200, { error: { message: `odd: Bearer ${KEY}` } }],
      [500, `<html>${KEY}</html>`],
    ] as const) {
      const { model } = await setup((_, response) => json(response, status, body), { apiKeyEnv: 'THE_KEY' })
      const error = await errorOf(model.complete(REQUEST))
      expect(JSON.stringify([error.message, error.stack, error.cause, error])).not.toContain(KEY)
      expect(JSON.stringify(model)).not.toContain(KEY)
    }
  })

  it('a missing one is said at the start', () => {
    const options = { url: 'http://127.0.0.1:1', model: 'm', apiKeyEnv: 'NO_SUCH_KEY' }
    expect(() => new OpenAiModel(options, { env: {} })).toThrow(ConfigError)
    expect(() => new OpenAiModel(options, { env: {} })).toThrow(/NO_SUCH_KEY is not set/)
  })

  it.each([
    ['not a url', /expected an address/],
    ['ftp://host', /expected http or https/],
    ['http://me@host', /no user or password/],
    ['http://me:secret@host', /without a password in it, .*apiKeyEnv/],
    ['http://host/v1?api_key=secret', /without api_key in its query, .*apiKeyEnv/],
    ['http//me:secret@host', /expected an address/],
  ])('refuses the url %s', (url, message) => {
    const make = () => new OpenAiModel({ url, model: 'm' })
    expect(make).toThrow(message)
    expect(make).not.toThrow(/secret/)
  })
})
