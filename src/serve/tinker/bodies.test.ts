import { afterEach, describe, expect, it } from 'vitest'
import { API_PATH, PROTOBUF } from '../../tinker/index.ts'
import { coreMs, threadFile } from '../../util/thread-clock.ts'
import { endAll, startService } from './service.fixture.ts'

afterEach(endAll)

const TIMEOUT_MS = 240_000
/** What the server's thread may compute without a turn for anybody else; Linux tells, whatever else the machine does. */
const MOST_TURN_MS = 100

/** Milliseconds that this thread computed at most between two turns of its event loop. */
const longestTurn = async (work: () => Promise<void>): Promise<number> => {
  const file = threadFile()
  let longest = 0
  let last = coreMs(file) ?? 0
  const timer = setInterval(() => {
    const now = coreMs(file) ?? 0
    longest = Math.max(longest, now - last)
    last = now
  }, 1)
  await work()
  await new Promise(resolve => setTimeout(resolve, 5))
  clearInterval(timer)
  return longest
}

const latin = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]
const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes])
const list = (entry: string, count: number) => `[${`${entry},`.repeat(count)}${entry}]`
const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',')}}`
const forward = (data: string) => `{"model_id":"none","forward_input":{"loss_fn":"ppo","data":${data}}}`
const datum = (changes: string) =>
  forward(`[{"model_input":{"chunks":[{"tokens":[1]}]},"loss_fn_inputs":{"x":{"data":[1],${changes}}}}]`)
const shape = field(3, field(2, field(2, field(4, Buffer.alloc(1_000_000, 1)))))

const HOSTILE: readonly [string, string, string | Uint8Array<ArrayBuffer>, RegExp][] = [
  ['a million empty sequences', 'forward', latin('\x1a\0'.repeat(1_000_000)), /data: expected at most 4096/],
  [
    'a million empty chunks',
    'forward',
    new Uint8Array(field(3, latin('\x0a\0'.repeat(1_000_000)))),
    /chunks: expected at most 1024/,
  ],
  [
    'a million empty tensors',
    'forward',
    new Uint8Array(field(3, latin('\x12\0'.repeat(1_000_000)))),
    /loss_fn_inputs: expected at most 64/,
  ],
  ['a million settings', 'forward', latin('\x2a\0'.repeat(1_000_000)), /at most 500000 fields/],
  ['a million dimensions', 'forward', new Uint8Array(shape), /at most 8 dimensions/],
  ['a million numbers for sequences', 'forward', forward(list('0', 1_000_000)), /at most 4096 sequences/],
  ['a million lists', 'forward', forward(list('[]', 1_000_000)), /at most 500000 lists/],
  [
    'a million texts for numbers',
    'forward',
    datum(`"data":${list('"x"', 400_000)}`),
    /expected a number, or null/,
  ],
  [
    'a million sizes',
    'forward',
    datum(`"shape":${list('1', 1_000_000)}`),
    /shape: expected a list of at most 8/,
  ],
  ['a million names', 'forward', forward(`[${keys(240_000)}]`), /model_input: expected an object/],
  [
    'a million numbers for tags',
    'create_session',
    `{"tags":${list('0', 1_000_000)}}`,
    /at most 1000000 values/,
  ],
  ['numbers for tags', 'create_session', `{"tags":${list('0', 250_000)}}`, /at most 1024 tags/],
  ['much metadata', 'create_session', `{"user_metadata":${keys(15_000)}}`, /at most 65536 characters/],
  ['a text of chunks', 'asample', `{"prompt":{"chunks":${list('{}', 10_000)}}}`, /at most 1024 chunks/],
]

describe('bodies', { timeout: TIMEOUT_MS }, () => {
  it('are refused without keeping the server from anything', async () => {
    const { url } = await startService()
    const send = async (path: string, body: string | Uint8Array<ArrayBuffer>) => {
      const type = typeof body === 'string' ? 'application/json' : PROTOBUF
      const options = { method: 'POST', body, headers: { 'content-type': type } }
      const answer = await fetch(`${url}${API_PATH}/${path}`, options)
      return { status: answer.status, text: await answer.text() }
    }
    for (const [name, path, body, words] of HOSTILE) {
      let answer = { status: 0, text: '' }
      const turnMs = await longestTurn(async () => {
        answer = await send(path, body)
      })
      expect([name, answer.status, answer.text]).toEqual([name, 422, expect.stringMatching(words)])
      expect(answer.text.length).toBeLessThan(5_000)
      expect([name, turnMs]).toEqual([name, expect.toSatisfy((ms: number) => ms < MOST_TURN_MS)])
    }
  })

  it('are taken that hold as much as a client sends at once', async () => {
    const { url, client } = await startService()
    const { modelId } = await client()
    const one =
      '{"model_input":{"chunks":[{"tokens":[1,2,3]}]},"loss_fn_inputs":{"target_tokens":{"data":[2,3,4],"dtype":"int64"}}}'
    const body = `{"model_id":"${modelId}","seq_id":1,"forward_input":{"loss_fn":"cross_entropy","data":${list(one, 1023)}}}`
    const ask = async (path: string, text: string) => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`${url}${API_PATH}/${path}`, { method: 'POST', body: text, headers })).json()
    }
    const { request_id } = (await ask('forward', body)) as { request_id: string }
    const result = (await ask('retrieve_future', JSON.stringify({ request_id }))) as {
      loss_fn_outputs: unknown[]
    }
    expect(result.loss_fn_outputs).toHaveLength(1024)
  })
})
