import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError, JudgeError } from '../util/errors.ts'
import type { EmbeddingOptions } from './embedding-config.ts'
import { EmbeddingModel, type EmbeddingRuntime } from './embeddings.ts'

interface Seen {
  path: string
  headers: IncomingMessage['headers']
  body: { input: string[] } & Record<string, unknown>
}
type Reply = (seen: Seen, response: ServerResponse, number: number) => void

const KEY = 'sk-very-secret-0123456789'

let stop: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(stop.map(each => each()))
  stop = []
})

const json = (response: ServerResponse, status: number, value: unknown, headers: object = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
const vectorOf = (text: string) => [text.length, text.charCodeAt(0) || 1]
const rowsOf = (input: string[]) =>
  input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }))
const ok: Reply = ({ body }, response) =>
  json(response, 200, {
    data: rowsOf(body.input),
    usage: { prompt_tokens: body.input.length, total_tokens: 9 },
  })

/** A server with a model that talks to it. */
const setup = async (
  reply: Reply,
  options: Partial<EmbeddingOptions> = {},
  runtime: EmbeddingRuntime = {},
) => {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', chunk => {
      text += chunk
    })
    request.on('end', () => {
      const each = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text) }
      seen.push(each)
      reply(each, response, seen.length)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const model = new EmbeddingModel(
    { url, model: 'embedder', backoffMs: 1, longestBackoffMs: 2, ...options },
    { env: { THE_KEY: KEY }, random: () => 0, ...runtime },
  )
  stop.push(async () => {
    await model.close()
    server.closeAllConnections()
    server.close()
  })
  return { seen, url, model }
}

const errorOf = (promise: Promise<unknown>): Promise<JudgeError> =>
  promise.then(
    () => {
      throw new Error('expected an error')
    },
    (error: JudgeError) => error,
  )

describe('a request', () => {
  it('asks /v1/embeddings for a batch of texts, with the key from the environment', async () => {
    const { seen, model } = await setup(ok, {
      apiKeyEnv: 'THE_KEY',
      prefix: 'Q: ',
      extraBody: { user: 'me' },
    })
    const vectors = await model.embed(['a', 'bcd'])
    expect(vectors).toEqual([Float32Array.of(4, 81), Float32Array.of(6, 81)])
    expect(seen[0].path).toBe('/v1/embeddings')
    expect(seen[0].headers.authorization).toBe(`Bearer ${KEY}`)
    expect(seen[0].body).toEqual({
      model: 'embedder',
      input: ['Q: a', 'Q: bcd'],
      encoding_format: 'float',
      user: 'me',
    })
    expect(model.dims).toBe(2)
  })

  it.each([
    ['/v1', '/v1/embeddings'],
    ['/api/embeddings?version=2', '/api/embeddings?version=2'],
  ])('with path "%s" goes to %s', async (path, asked) => {
    const { seen, url } = await setup(ok)
    const model = new EmbeddingModel({ url: url + path, model: 'm' })
    await model.embed(['a'])
    await model.close()
    expect(seen[0].path).toBe(asked)
  })

  it('cuts texts that are too long between characters, and asks for a length where it is told to', async () => {
    const { seen, model } = await setup(ok, { maxTextCharacters: 3, dims: 2, sendDims: true })
    await model.embed(['abcdef', '😀😀'])
    expect(seen[0].body).toMatchObject({ input: ['abc', '😀'], dimensions: 2 })
  })

  it('is not made for no texts', async () => {
    const { seen, model } = await setup(ok)
    expect(await model.embed([])).toEqual([])
    expect(seen).toEqual([])
  })

  it('refuses settings that cannot be used', () => {
    const make = (options: object) => () =>
      new EmbeddingModel({ url: 'http://x', model: 'm', ...options }, { env: {} })
    expect(make({ apiKeyEnv: 'THE_KEY' })).toThrow(/THE_KEY is not set/)
    expect(make({ sendDims: true })).toThrow(/dims: expected a length beside sendDims/)
    expect(make({ url: 'ftp://x' })).toThrow(ConfigError)
    expect(make({ url: 'http://me@x' })).toThrow(/embedding url: expected no user/)
    expect(make({ url: 'http://me:secret@x' })).toThrow(/url: expected an address without a password/)
    expect(make({ batches: 3 })).toThrow(/batches/)
  })
})

describe('batches', () => {
  it('go out so many texts at a time, and come back in the order of the texts', async () => {
    const waiting: (() => void)[] = []
    const { seen, model } = await setup(
      (each, response) => {
        waiting.push(() => ok(each, response, 0))
        if (waiting.length === 3) for (const answer of waiting.reverse()) answer()
      },
      { batch: 2, concurrency: 3 },
    )
    const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee']
    const vectors = await model.embed(texts)
    expect(vectors.map(([length]) => length)).toEqual([1, 2, 3, 4, 5])
    expect(seen.map(({ body }) => body.input.length).sort()).toEqual([1, 2, 2])
  })

  it('keep to the number of requests at a time', async () => {
    let [now, most] = [0, 0]
    const { model } = await setup(
      (each, response) => {
        most = Math.max(most, ++now)
        setTimeout(() => {
          now--
          ok(each, response, 0)
        }, 5)
      },
      { batch: 1, concurrency: 2 },
    )
    await Promise.all([model.embed(['a', 'b', 'c', 'd']), model.embed(['e', 'f'])])
    expect(most).toBe(2)
  })

  it('are counted, with tokens and cost', async () => {
    const { model } = await setup(ok, { batch: 1, price: { inputPerMillion: 2e6, outputPerMillion: 0 } })
    await model.embed(['a', 'b', 'c'])
    expect(model.stats()).toMatchObject({
      calls: 3,
      attempts: 3,
      promptTokens: 3,
      callsWithoutUsage: 0,
      cost: 6,
    })
  })

  it('put vectors in order by their index, whatever their order in the answer', async () => {
    const { model } = await setup(({ body }, response) =>
      json(response, 200, { data: rowsOf(body.input).reverse() }),
    )
    expect((await model.embed(['a', 'bb', 'ccc'])).map(([length]) => length)).toEqual([1, 2, 3])
    expect(model.stats()).toMatchObject({ callsWithoutUsage: 1, cost: null })
  })

  it('read base64 of float32 where a server sends it', async () => {
    const { model } = await setup((_, response) => {
      const bytes = Buffer.alloc(8)
      bytes.writeFloatLE(0.5, 0)
      bytes.writeFloatLE(-2, 4)
      json(response, 200, { data: [{ index: 0, embedding: bytes.toString('base64') }] })
    })
    expect(await model.embed(['a'])).toEqual([Float32Array.of(0.5, -2)])
  })
})

describe('trouble', () => {
  it('is tried again: a busy server, a failing one, half an answer', async () => {
    const { seen, model } = await setup((each, response, number) => {
      if (number === 1) json(response, 429, {}, { 'retry-after-ms': '1' })
      else if (number === 2) json(response, 500, { error: { message: 'oh' } })
      else if (number === 3) response.writeHead(200).end('{"data": [{"ind')
      else ok(each, response, number)
    })
    expect(await model.embed(['a'])).toHaveLength(1)
    expect(seen).toHaveLength(4)
    expect(model.stats()).toMatchObject({
      attempts: 4,
      calls: 1,
      failures: { 'rate-limit': 1, server: 1, malformed: 1 },
    })
  })

  it('ends after so many retries, with the last error and without the key', async () => {
    const { seen, model } = await setup(
      (_, response) => json(response, 500, { error: { message: `key ${KEY}` } }),
      {
        retries: 2,
        apiKeyEnv: 'THE_KEY',
      },
    )
    const error = await errorOf(model.embed(['a']))
    expect(error).toBeInstanceOf(JudgeError)
    expect(error.message).toMatch(/HTTP 500: key \[key\] \(attempt 3 of 3\)/)
    expect(error.attempts).toBe(3)
    expect(seen).toHaveLength(3)
  })

  it('that every call meets stops at once', async () => {
    const { seen, model } = await setup((_, response) => json(response, 401, { message: 'no' }))
    const error = await errorOf(model.embed(['a']))
    expect([error.kind, error.fatal]).toEqual(['auth', true])
    expect(seen).toHaveLength(1)
    expect((await errorOf(model.embed(['b']))).kind).toBe('auth')
  })

  it('ends with the deadline, and with being closed', async () => {
    const { model } = await setup(() => {}, { deadlineMs: 30 })
    expect(await errorOf(model.embed(['a', 'b']))).toMatchObject({ kind: 'timeout', retryable: false })
    const silent = await setup(() => {}, { batch: 1, concurrency: 1 })
    const waiting = errorOf(silent.model.embed(['a', 'b', 'c']))
    await silent.model.close()
    expect((await waiting).kind).toBe('cancelled')
    expect((await errorOf(silent.model.embed(['a']))).kind).toBe('cancelled')
  })

  const oneRow = (row: object) => ({ data: [{ index: 0, embedding: [1, 2], ...row }] })
  it.each<[string, unknown, RegExp]>([
    ['no JSON', 'x', /JSON without data|expected embeddings/],
    ['no data', {}, /JSON without data/],
    ['too few', { data: [] }, /0 vectors for 1 texts/],
    ['too many', { data: [...rowsOf(['a']), ...rowsOf(['b'])] }, /2 vectors for 1 texts/],
    ['an index beyond', oneRow({ index: 1 }), /index 1 in data\[0\]/],
    ['an index that is none', oneRow({ index: '0' }), /index "0"/],
    ['a row that is none', { data: [3] }, /no object in data\[0\]/],
    ['words', oneRow({ embedding: ['1', '2'] }), /no list of numbers/],
    ['NaN, which JSON writes as null', oneRow({ embedding: [null, 1] }), /no list of numbers/],
    ['a number beyond float32', oneRow({ embedding: [1e300, 1] }), /not finite/],
    ['nothing', oneRow({ embedding: [] }), /no list of numbers/],
    ['zeros', oneRow({ embedding: [0, 0] }), /a vector of zeros/],
    ['NaN in base64', oneRow({ embedding: Buffer.from([0, 0, 192, 127]).toString('base64') }), /not finite/],
    ['half a number in base64', oneRow({ embedding: 'AAA=' }), /no list of numbers/],
    ['an error in a 200', { error: { message: 'busy', code: 503 } }, /the server reports: busy/],
  ])('refuses %s', async (_, answer, message) => {
    const { model } = await setup((__, response) => json(response, 200, answer), { retries: 0 })
    const error = await errorOf(model.embed(['a']))
    expect(error.message).toMatch(message)
    expect(model.dims).toBeNull()
  })

  it('refuses the same text twice, and vectors of another length than the first, without asking again', async () => {
    const twice = await setup(
      (_, response) => json(response, 200, { data: [...rowsOf(['a']), ...rowsOf(['b'])] }),
      {
        retries: 0,
      },
    )
    expect((await errorOf(twice.model.embed(['a', 'b']))).message).toMatch(/index 0 in data\[1\]/)
    const { seen, model } = await setup((_, response, number) =>
      json(response, 200, { data: [{ index: 0, embedding: new Array(1 + number).fill(1) }] }),
    )
    await model.embed(['a'])
    expect((await errorOf(model.embed(['b']))).message).toMatch(/expected a vector of 2 numbers, got 3/)
    expect(seen).toHaveLength(2)
    const said = await setup(ok, { dims: 3 })
    expect((await errorOf(said.model.embed(['a']))).message).toMatch(/expected a vector of 3 numbers, got 2/)
  })
})
