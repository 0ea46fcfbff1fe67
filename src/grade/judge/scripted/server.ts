/** @file A scripted OpenAI-compatible judge: answers by rule, as slowly and as badly as it is told. For benchmarks and tests. */

import { writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { parseWith } from '../../../util/schema.ts'
import { chanceOf, pairIn, rulesIn, scriptedTruth } from './truth.ts'

const share = z.number().min(0).max(1).default(0)

export const faultRatesSchema = z.strictObject({
  serverError: share.describe('Share of requests answered with HTTP 500.'),
  rateLimit: share.describe('Share of requests answered with HTTP 429 and `retry-after: 0`.'),
  malformed: share.describe(
    'Share of malformed answers: half have a body that is no completion, half a completion without a readable verdict.',
  ),
  hang: share.describe('Share of requests that are never answered.'),
  cut: share.describe('Share of requests whose connection is cut, before the answer or within it.'),
  unusableEvery: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Every n-th case never gets a readable verdict; 0: none.'),
})
export type FaultRates = z.output<typeof faultRatesSchema>

export type FaultOutcome =
  | 'ok'
  | 'server-error'
  | 'rate-limit'
  | 'malformed-body'
  | 'malformed-verdict'
  | 'hang'
  | 'cut'
  | 'cut-body'

/** What becomes of an attempt: the same for the same seed, pair and number of the attempt, whatever the timing. */
const outcomeOf = (
  rates: FaultRates,
  seed: string,
  caseIndex: number,
  ruleIndex: number,
  attempt: number,
): FaultOutcome => {
  const label = `${seed}/${caseIndex}/${ruleIndex}/${attempt}`
  const table: [number, FaultOutcome, FaultOutcome][] = [
    [rates.serverError, 'server-error', 'server-error'],
    [rates.rateLimit, 'rate-limit', 'rate-limit'],
    [rates.malformed, 'malformed-body', 'malformed-verdict'],
    [rates.hang, 'hang', 'hang'],
    [rates.cut, 'cut', 'cut-body'],
  ]
  let left = chanceOf(label)
  for (const [rate, one, other] of table) {
    if (left < rate) return chanceOf(`${label}/kind`) < 0.5 ? one : other
    left -= rate
  }
  if (rates.unusableEvery > 0 && caseIndex % rates.unusableEvery === 0) return 'malformed-verdict'
  return 'ok'
}

/** Answers without a verdict that may be believed; each hints at the opposite of the truth, to catch whoever guesses. */
const unreadableAnswer = (truth: boolean, label: string): string => {
  const wrong = !truth
  const answers = [
    `{"explanation": "a verdict as text", "criteria_met": "${wrong}"}`,
    `{"explanation": "cut off before the verdict, which is ${wrong}`,
    `The criterion is ${wrong ? '' : 'not '}met, I would say.`,
    `{"explanation": "two verdicts", "criteria_met": ${wrong}} {"criteria_met": ${truth}}`,
    `{"explanation": "a number", "criteria_met": ${wrong ? 1 : 0}}`,
    '',
  ]
  return answers[Math.floor(chanceOf(label) * answers.length)]
}

const scriptedServerSchema = z.strictObject({
  /** 0: a free one. */
  port: z.int().nonnegative().default(0),
  latencyMs: z.number().nonnegative().default(0),
  faults: faultRatesSchema.prefault({}),
  seed: z.string().default('scripted'),
})
export type ScriptedServerOptions = z.input<typeof scriptedServerSchema>
type Settings = z.output<typeof scriptedServerSchema>

export interface ScriptedServerStats {
  requests: number
  /** Answered, faults included. */
  answered: number
  inFlight: number
  /** Sum over requests of the milliseconds that each was in work. */
  busyMs: number
  /** When this was read, on the server's clock. */
  atMs: number
}

/** JSON of a completion around an answer; the parts that never change are put together once. */
const completionJson = (content: string, promptCharacters: number): string =>
  `{"id":"scripted","object":"chat.completion","model":"scripted","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":${JSON.stringify(content)}}}],"usage":{"prompt_tokens":${Math.ceil(promptCharacters / 4)},"completion_tokens":${Math.ceil(content.length / 4)},"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0}}}`

const send = (response: ServerResponse, status: number, body: string, headers: object = {}): void => {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(body)
}

const answerOf = (truth: boolean): string =>
  `{"explanation": "The script says so.", "criteria_met": ${truth}}`

/** What may be sent: the truth, its opposite, or something that is no answer. */
interface Answer {
  right: string
  wrong: string
  unreadable: string
}

/** Requests for a list say so in their instructions. */
const LIST = 'judgement\\": ['

/** A list of what holds of a case, in the order of the rules; 0 and 1 where these were asked for. */
const listOf = (text: string, truths: readonly boolean[]): string =>
  JSON.stringify({
    judgement: text.includes(`${LIST}0 or 1`) ? truths.map(Number) : truths,
    final_score: truths.filter(Boolean).length,
  })

export class ScriptedServer {
  readonly #settings: Settings
  readonly #server: Server
  readonly #logFd: number | null
  /** Attempts of each pair so far. */
  readonly #attempts = new Map<string, number>()
  #requests = 0
  #answered = 0
  #inFlight = 0
  #busyMs = 0
  #changedMs = performance.now()

  /** @param logFd a file that gets a line `case rule outcome` an answer, before that leaves */
  constructor(options: ScriptedServerOptions = {}, logFd: number | null = null) {
    this.#settings = parseWith(scriptedServerSchema, options, 'scripted judge')
    this.#logFd = logFd
    this.#server = createServer({ keepAliveTimeout: 60_000 }, (request, response) =>
      this.#receive(request, response),
    )
  }

  /** Resolves to the address of its `/v1`. */
  listen(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ port: this.#settings.port, host: '127.0.0.1', backlog: 2048 }, () =>
        resolve(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`),
      )
    })
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  stats(): ScriptedServerStats {
    this.#count(0)
    return {
      requests: this.#requests,
      answered: this.#answered,
      inFlight: this.#inFlight,
      busyMs: this.#busyMs,
      atMs: this.#changedMs,
    }
  }

  /** Changes the number of requests in work, and the time that was spent on them so far. */
  #count(change: -1 | 0 | 1): void {
    const nowMs = performance.now()
    this.#busyMs += this.#inFlight * (nowMs - this.#changedMs)
    this.#changedMs = nowMs
    this.#inFlight += change
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      this.#requests++
      this.#count(1)
      const text = Buffer.concat(chunks).toString('latin1')
      const { latencyMs } = this.#settings
      if (latencyMs > 0) setTimeout(() => this.#answer(text, response), latencyMs)
      else this.#answer(text, response)
    })
    request.on('error', () => {})
  }

  #answer(text: string, response: ServerResponse): void {
    this.#count(-1)
    if (response.destroyed) return
    this.#answered++
    const pair = pairIn(text)
    if (pair === null) {
      send(response, 400, '{"error":{"message":"the text carries no case and rule"}}')
      return
    }
    const { caseIndex, ruleIndex } = pair
    const name = `${caseIndex} ${ruleIndex}`
    const outcome = this.#outcome(name, caseIndex, ruleIndex)
    if (this.#logFd !== null) writeSync(this.#logFd, `${name} ${outcome}\n`)
    const rules = text.includes(LIST) ? rulesIn(text) : null
    const truth = scriptedTruth(caseIndex, ruleIndex)
    const truths = rules?.map(rule => scriptedTruth(caseIndex, rule))
    const answer: Answer = {
      right: truths ? listOf(text, truths) : answerOf(truth),
      wrong: truths
        ? listOf(
            text,
            truths.map(one => !one),
          )
        : answerOf(!truth),
      unreadable: unreadableAnswer(truth, `${name} ${this.#answered}`),
    }
    this.#deliver(outcome, answer, text.length, response)
  }

  #outcome(name: string, caseIndex: number, ruleIndex: number): FaultOutcome {
    const { faults, seed } = this.#settings
    if (Object.values(faults).every(rate => rate === 0)) return 'ok'
    const attempt = this.#attempts.get(name) ?? 0
    this.#attempts.set(name, attempt + 1)
    return outcomeOf(faults, seed, caseIndex, ruleIndex, attempt)
  }

  #deliver(
    outcome: FaultOutcome,
    { right, wrong, unreadable }: Answer,
    characters: number,
    response: ServerResponse,
  ): void {
    switch (outcome) {
      case 'ok':
        send(response, 200, completionJson(right, characters))
        break
      case 'server-error':
        send(response, 500, '<html>Internal Server Error</html>', { 'content-type': 'text/html' })
        break
      case 'rate-limit':
        send(response, 429, '{"error":{"message":"slow down"}}', { 'retry-after': '0' })
        break
      case 'malformed-body':
        send(response, 200, completionJson(wrong, characters).slice(0, -30))
        break
      case 'malformed-verdict':
        send(response, 200, completionJson(unreadable, characters))
        break
      case 'hang':
        break
      case 'cut':
        response.socket?.destroy()
        break
      case 'cut-body': {
        const body = completionJson(wrong, characters)
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
        response.write(body.slice(0, body.length - 20), () => response.socket?.destroy())
      }
    }
  }
}
