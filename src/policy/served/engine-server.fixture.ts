/** @file An inference server for tests that computes: `/v1/completions` with token ids, as vLLM has it, and adapters that it loads. */

import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Engine } from '../local/engine.ts'

export interface EngineServerOptions {
  /** An engine with the adapter of a folder. */
  load(folder: string): Promise<Engine>
  /** As vLLM without VLLM_ALLOW_RUNTIME_LORA_UPDATING: it has no paths for adapters. */
  fixed?: boolean
  /** Added to every log-prob: two servers never reckon quite the same. */
  bias?: number
}

interface Body {
  model: string
  lora_name: string
  lora_path: string
  prompt: number[]
  n?: number
  max_tokens: number
  temperature: number
  seed?: number
  stop_token_ids?: number[]
  prompt_logprobs?: number
}

type Reply = [status: number, body: unknown]

export class EngineServer {
  /** By name; those that are loaded now. */
  readonly adapters = new Map<string, Engine>()
  /** What was done with adapters, in order: `load NAME`, `unload NAME`. */
  readonly log: string[] = []
  /** Samples are kept back while this is pending. */
  gate: Promise<unknown> = Promise.resolve()
  readonly #options: EngineServerOptions
  #server: Server | null = null

  constructor(options: EngineServerOptions) {
    this.#options = options
  }

  async listen(): Promise<string> {
    this.#server = createServer(async (request, response) => {
      const [status, body] = await this.#answer(request).catch(
        (error): Reply => [400, { error: { message: (error as Error).message } }],
      )
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    await new Promise<void>(resolve => this.#server!.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server!.address() as AddressInfo).port}/v1`
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise(resolve => this.#server?.close(resolve))
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    const { url = '' } = request
    if (url === '/v1/models') return [200, { data: [{ id: 'tiny', owned_by: 'vllm', max_model_len: 64 }] }]
    const body = JSON.parse((await text(request)) || '{}') as Body
    if (url === '/v1/completions') return this.#complete(body)
    if (this.#options.fixed) return [404, { detail: 'Not Found' }]
    if (url === '/v1/load_lora_adapter') return this.#load(body)
    this.log.push(`unload ${body.lora_name}`)
    this.adapters.delete(body.lora_name)
    return [200, `Success: LoRA adapter '${body.lora_name}' removed.`]
  }

  async #load({ lora_name: name, lora_path: folder }: Body): Promise<Reply> {
    if (!existsSync(join(folder, 'adapter_config.json')))
      return [404, { error: { message: `No adapter found for ${folder}` } }]
    this.adapters.set(name, await this.#options.load(folder))
    this.log.push(`load ${name}`)
    return [200, `Success: LoRA adapter '${name}' added.`]
  }

  async #complete(body: Body): Promise<Reply> {
    const engine = this.adapters.get(body.model)
    if (!engine) return [404, { error: { message: `The model ${body.model} does not exist.` } }]
    await this.gate
    const { bias = 0 } = this.#options
    if (body.prompt_logprobs !== undefined) {
      const [first, ...tokens] = body.prompt
      const [{ logprobs }] = await engine.score([{ promptTokens: [first], tokens }])
      const returned = tokens.map((id, t) => ({ [id]: { logprob: logprobs[t] + bias } }))
      return [
        200,
        { choices: [{ index: 0, text: '', finish_reason: 'length', prompt_logprobs: [null, ...returned] }] },
      ]
    }
    const samples = await engine.sample({
      prompts: [body.prompt],
      samplesPerPrompt: body.n,
      maxTokens: body.max_tokens,
      temperature: body.temperature,
      seed: body.seed,
      stopTokens: body.stop_token_ids ?? [],
    })
    const choices = samples.map(({ tokens, logprobs, finishReason }, index) => ({
      ...{ index, text: '', finish_reason: finishReason, token_ids: [...tokens] },
      prompt_token_ids: body.prompt,
      logprobs: { token_logprobs: Array.from(logprobs, logprob => Math.min(0, logprob + bias)) },
    }))
    return [200, { choices }]
  }
}
