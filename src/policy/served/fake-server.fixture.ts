/**
 * @file An inference server by script for tests: both dialects, log-probs and tokens that arithmetic makes of the prompt and the seed,
 * and faults on demand.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SeenRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of their own making
  body: any
}

/** What goes wrong with one request, in place of its answer. */
export type Fault =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** The connection ends before or in the middle of the answer. */
  | 'gone'
  | 'cut'
  /** No answer at all. */
  | 'silence'
  /** The answer after a change. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are JSON of any shape
  | ((answer: any) => unknown)
  /** The answer's text after a change: what no JSON library would write. */
  | { text: (body: string) => string }

export interface FakeOptions {
  dialect?: 'vllm' | 'sglang'
  models?: { id: string; owned_by: string; max_model_len?: number }[] | null
  key?: string
  /** vLLM before 0.10.2: no `token_ids`. */
  withoutTokenIds?: boolean
  /** An OpenAI-compatible server that knows neither form of token ids. */
  textOnly?: boolean
  /** What it says to a conversation; absent: it has no chat completions. */
  chat?: (body: SeenRequest['body']) => string
  /** Milliseconds before every answer. */
  delayMs?: number
}

export const END_TOKEN = 2

/** The t-th token and its log-prob of a sample: the test reckons the same. */
export const fakeToken = (seed: number, promptSum: number, t: number): [token: number, logprob: number] => [
  3 + ((seed + promptSum + t) % 5),
  -((seed + promptSum + t) % 7) / 8 - 0.125,
]
const LENGTH = 4

const sampleOf = (seed: number, prompt: readonly number[], maxTokens: number) => {
  const sum = prompt.reduce((total, id) => total + id, 0)
  const pairs = Array.from({ length: LENGTH }, (_, t) => fakeToken(seed, sum, t))
  const whole = [...pairs, [END_TOKEN, -0.5] as [number, number]]
  return { pairs: whole.slice(0, maxTokens), finished: maxTokens > LENGTH }
}

export class FakeInferenceServer {
  readonly seen: SeenRequest[] = []
  /** Of the next requests that sample or score, first come first served; null: none. */
  readonly faults: (Fault | null)[] = []
  /** Adapters that are loaded, with their folders. */
  readonly adapters = new Map<string, string>()
  /** Requests under way, and the most there were at a time. */
  inFlight = 0
  mostInFlight = 0
  readonly #options: FakeOptions
  #server: Server | null = null

  constructor(options: FakeOptions = {}) {
    this.#options = options
  }

  get dialect(): 'vllm' | 'sglang' {
    return this.#options.dialect ?? 'vllm'
  }

  /** @returns the address with `/v1` */
  async listen(port = 0): Promise<string> {
    this.#server = createServer((request, response) => void this.#handle(request, response))
    await new Promise<void>(resolve => this.#server!.listen(port, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (!server) return
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += chunk
    const { method = '', url: path = '', headers } = request
    const seen = { method, path, headers, body: text === '' ? null : JSON.parse(text) }
    this.seen.push(seen)
    const isKnown = !this.#options.key || headers.authorization === `Bearer ${this.#options.key}`
    if (!isKnown) json(response, 401, { error: { message: `wrong key ${headers.authorization}` } })
    else if (path === '/v1/models') this.#models(response)
    else if (path.includes('lora_adapter')) this.#adapter(seen, response)
    else await this.#compute(seen, response)
  }

  async #compute(seen: SeenRequest, response: ServerResponse): Promise<void> {
    this.inFlight++
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight)
    await new Promise(resolve => setTimeout(resolve, this.#options.delayMs ?? 0))
    this.inFlight--
    this.#answer(seen, response)
  }

  #models(response: ServerResponse): void {
    const { models } = this.#options
    const own = { id: 'tiny', owned_by: this.dialect, max_model_len: 64 }
    if (models === null) json(response, 404, { detail: 'Not Found' })
    else json(response, 200, { object: 'list', data: models ?? [own] })
  }

  #adapter({ path, body }: SeenRequest, response: ServerResponse): void {
    const { lora_name: name, lora_path: folder } = body
    const loads = path.endsWith('/load_lora_adapter')
    if (loads && this.adapters.has(name)) {
      json(response, 400, { error: { message: `The lora adapter '${name}' has already been loaded.` } })
      return
    }
    if (loads) this.adapters.set(name, folder)
    else this.adapters.delete(name)
    if (this.dialect === 'sglang') json(response, 200, { success: true })
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(`Success: LoRA adapter '${name}'.`)
  }

  #answer(seen: SeenRequest, response: ServerResponse): void {
    const fault = this.faults.shift() ?? null
    if (fault === 'silence') return
    if (fault === 'gone') response.destroy()
    else if (fault && typeof fault === 'object' && 'status' in fault)
      json(response, fault.status, fault.body ?? { error: { message: 'no' } }, fault.headers)
    else this.#write(this.#computed(seen), fault, response)
  }

  #write(
    answer: unknown,
    fault: Exclude<Fault, 'silence' | 'gone' | { status: number }> | null,
    response: ServerResponse,
  ): void {
    const body = JSON.stringify(typeof fault === 'function' ? fault(answer) : answer)
    const written = fault !== null && typeof fault === 'object' ? fault.text(body) : body
    response.writeHead(answer === null ? 404 : 200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(written),
    })
    if (fault === 'cut') response.write(body.slice(0, body.length / 2), () => response.destroy())
    else response.end(written)
  }

  #computed({ path, body }: SeenRequest): unknown {
    const { chat } = this.#options
    if (path === '/v1/chat/completions' && chat)
      return {
        model: body.model,
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: chat(body) } }],
      }
    if (this.dialect === 'vllm') return path === '/v1/completions' ? this.#completion(body) : null
    return path === '/generate' ? generated(body) : null
  }

  #completion(body: SeenRequest['body']) {
    const prompt: number[] = typeof body.prompt === 'string' ? [body.prompt.length] : body.prompt
    const choices = Array.from({ length: body.n ?? 1 }, (_, index) => {
      const { pairs, finished } = sampleOf((body.seed ?? 0) + index, prompt, body.max_tokens)
      return { index, ...this.#choice(body, prompt, pairs), finish_reason: finished ? 'stop' : 'length' }
    })
    return { object: 'text_completion', model: body.model, choices }
  }

  #choice(body: SeenRequest['body'], prompt: readonly number[], pairs: readonly [number, number][]) {
    const { textOnly, withoutTokenIds } = this.#options
    const ids = pairs.map(([id]) => id)
    const spelled = body.return_tokens_as_token_ids && !textOnly
    return {
      text: ids.map(id => `<${id}>`).join(''),
      logprobs: {
        tokens: ids.map(id => (spelled ? `token_id:${id}` : `<${id}>`)),
        token_logprobs: pairs.map(([, logprob]) => logprob),
      },
      ...(body.return_token_ids &&
        !withoutTokenIds &&
        !textOnly && { token_ids: ids, prompt_token_ids: prompt }),
      ...(body.prompt_logprobs !== undefined && {
        prompt_logprobs: prompt.map((id, t) =>
          t === 0 ? null : { [id]: { logprob: -id / 4 }, 999: { logprob: -1 } },
        ),
      }),
    }
  }
}

const generated = (body: SeenRequest['body']) => {
  const { n = 1, max_new_tokens, sampling_seed = 0 } = body.sampling_params
  const prompt: number[] = body.input_ids ?? [body.text.length]
  const one = (index: number) => {
    // With a seed all samples of one request are the same.
    const seed = body.sampling_params.sampling_seed === undefined ? index : sampling_seed
    const { pairs, finished } = sampleOf(seed, prompt, max_new_tokens)
    return {
      text: pairs.map(([id]) => `<${id}>`).join(''),
      output_ids: pairs.map(([id]) => id),
      meta_info: {
        finish_reason: { type: finished ? 'stop' : 'length' },
        output_token_logprobs: pairs.map(([id, logprob]) => [logprob, id, null]),
        ...(body.logprob_start_len === 0 && {
          input_token_logprobs: prompt.map((id, t) => [t === 0 ? null : -id / 4, id, null]),
        }),
      },
    }
  }
  return n === 1 ? one(0) : Array.from({ length: n }, (_, index) => one(index))
}

const json = (
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}
