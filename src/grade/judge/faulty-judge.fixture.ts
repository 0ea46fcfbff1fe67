/** @file A judge over HTTP that knows the truth and fails in every way known before it says it; what it says meanwhile is the opposite. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { caseTag, ruleTag, scriptedTruth } from './scripted/truth.ts'

/** Answers to a question about some criteria: what is true of each, and the opposite. */
interface Said {
  truth: readonly boolean[]
  wrong: readonly boolean[]
}
type Send = (response: ServerResponse, said: Said) => void

const one = (met: boolean): string => `{"explanation": "so it is", "criteria_met": ${met}}`
const entry = (number: number, met: boolean) => ({ number, explanation: 'so it is', criteria_met: met })
const many = (mets: readonly boolean[]): string =>
  JSON.stringify({ verdicts: mets.map((met, index) => entry(index + 1, met)) })
const answerOf = (mets: readonly boolean[]): string => (mets.length === 1 ? one(mets[0]) : many(mets))

const completion = (content: unknown, finish = 'stop', extra = ''): string =>
  `{"choices":[{"index":0,"finish_reason":"${finish}","message":{"role":"assistant","content":${JSON.stringify(content)}}}]${extra}}`

const send = (
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}
const status =
  (code: number, headers: Record<string, string> = {}): Send =>
  (response, { wrong }) =>
    send(response, code, completion(answerOf(wrong)), headers)
/** A 200 with this body. */
const body =
  (make: (wrongBody: string) => string | Buffer, headers: Record<string, string> = {}): Send =>
  (response, { wrong }) =>
    send(response, 200, make(completion(answerOf(wrong))), headers)
/** A completion with this content. */
const content =
  (make: (said: Said) => unknown, finish?: string): Send =>
  (response, said) =>
    send(response, 200, completion(make(said), finish))

/** Faults of the way to the judge: the transport tries again. */
const TRANSPORT: Readonly<Record<string, Send>> = {
  'HTTP 500': status(500),
  'HTTP 503 that asks for an hour': status(503, { 'retry-after': '3600' }),
  'HTTP 429 until 2049': status(429, { 'retry-after': 'Fri, 31 Dec 2049 00:00:00 GMT' }),
  'HTTP 408': status(408),
  'a stray HTTP 401': status(401),
  'a stray HTTP 404': status(404),
  'a redirection': status(301, { location: '/v1/chat/completions' }),
  'a cut before the answer': response => response.socket?.destroy(),
  'a cut in the answer': (response, { wrong }) => {
    const text = completion(answerOf(wrong))
    response.writeHead(200, { 'content-length': String(text.length) })
    response.write(text.slice(0, -20), () => response.socket?.destroy())
  },
  'no answer': () => {},
  'a slow drip': (response, { wrong }) => {
    response.writeHead(200)
    const text = completion(answerOf(wrong))
    let at = 0
    const timer = setInterval(() => response.write(text[at++ % (text.length - 1)]), 20)
    response.on('close', () => clearInterval(timer))
  },
  'bytes that are no HTTP': response => response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n\r\n'),
  'an empty body': body(() => ''),
  'half a body': body(text => text.slice(0, text.length / 2)),
  'a page': body(() => '<html><body>Welcome</body></html>'),
  'a byte order mark': body(text => `\ufeff${text}`),
  'bytes that are no gzip': body(text => Buffer.from(`\x1f\x8b${text}`), { 'content-encoding': 'gzip' }),
  'gzip that was not asked for': body(text => gzipSync(text), { 'content-encoding': 'gzip' }),
  'a number that is none': body(text => text.replace(/}$/, ',"usage":{"prompt_tokens":NaN}}')),
  'a list in place of the completion': body(text => `[${text}]`),
  'choices of the wrong type': body(text => text.replace('[{"index"', '{"0":{"index"').replace(/\]}$/, '}}')),
  'an error inside a 200': body(() => '{"error":{"code":503,"message":"criteria_met: true"}}'),
  'a body that is too large': body(text => text.replace('so it is', 'x'.repeat(200_000))),
  'a body that is nested too deep': body(() => `${'[['.repeat(40_000)}${']]'.repeat(40_000)}`),
}

/** Faults of the answer to a single criterion: it is asked again. */
const ANSWERS: Readonly<Record<string, Send>> = {
  'nothing said': content(() => ''),
  'no content': content(() => null, 'length'),
  'content of the wrong type': content(({ wrong }) => ({ criteria_met: wrong[0] })),
  prose: content(({ wrong }) => `I would say that it is ${wrong[0] ? '' : 'not '}met.`),
  'an answer cut at its limit': content(({ wrong }) => one(wrong[0]).slice(0, -1), 'length'),
  'a verdict as text': content(({ wrong }) => `{"criteria_met": "${wrong[0]}"}`),
  'a verdict as a number': content(({ wrong }) => `{"criteria_met": ${Number(wrong[0])}}`),
  'a verdict of 1e999': content(() => '{"criteria_met": 1e999}'),
  'two verdicts': content(({ wrong, truth }) => `${one(truth[0])}\n${one(wrong[0])}`),
  'a key twice': content(
    ({ wrong, truth }) => `{"criteria_met": ${truth[0]}, "criteria\\u005fmet": ${wrong[0]}}`,
  ),
  'reasoning without an end': content(({ wrong }) => `<think>${one(wrong[0])}`),
  'another key': content(({ wrong }) => `{"verdict": ${wrong[0]}}`),
}

/** Faults of the answer to several criteria. */
const LISTS: Readonly<Record<string, Send>> = {
  'an entry too few': content(({ wrong }) => many(wrong.slice(1))),
  'an entry too many': content(({ wrong }) => many([...wrong, true])),
  'wrong numbers': content(({ wrong }) =>
    JSON.stringify({ verdicts: wrong.map((met, index) => entry(index + 2, met)) }),
  ),
  'the same number twice': content(({ wrong }) =>
    JSON.stringify({ verdicts: wrong.map(met => entry(1, met)) }),
  ),
  'two lists': content(({ wrong, truth }) =>
    JSON.stringify({ verdicts: wrong.map((met, index) => entry(index + 1, met)), judgement: truth }),
  ),
  'an entry without a verdict': content(({ wrong }) =>
    JSON.stringify({ verdicts: [{ number: 1 }, ...wrong.slice(1).map((met, i) => entry(i + 2, met))] }),
  ),
}

export const FAULTS: Readonly<Record<string, { send: Send; list: boolean }>> = Object.fromEntries([
  ...Object.entries({ ...TRANSPORT, ...ANSWERS }).map(([name, each]) => [name, { send: each, list: false }]),
  ...Object.entries(LISTS).map(([name, each]) => [name, { send: each, list: true }]),
])
export const FAULT_NAMES = Object.keys(FAULTS)

/** Which fault the questions about a case meet first. */
export const faultOf = (caseIndex: number): string => FAULT_NAMES[caseIndex % FAULT_NAMES.length]

const CASE = new RegExp(`${caseTag(0).slice(0, -1)}(\\d+)`)
const RULES = new RegExp(`${ruleTag(0).slice(0, -1)}(\\d+)`, 'g')

export class FaultyJudge {
  readonly #server: Server
  readonly #asked = new Map<string, number>()
  readonly #faultsPerQuestion: number
  /** How often each fault was sent. */
  readonly sent = new Map<string, number>()

  private constructor(faultsPerQuestion: number) {
    this.#faultsPerQuestion = faultsPerQuestion
    this.#server = createServer((request, response) => this.#receive(request, response))
  }

  /** @param faultsPerQuestion so often a question fails before it is answered */
  static async start(faultsPerQuestion: number): Promise<FaultyJudge> {
    const judge = new FaultyJudge(faultsPerQuestion)
    await new Promise<void>(resolve => judge.#server.listen(0, '127.0.0.1', 2048, resolve))
    return judge
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => this.#answer(text, response))
    request.on('error', () => {})
    response.on('error', () => {})
  }

  #answer(text: string, response: ServerResponse): void {
    const caseIndex = Number(CASE.exec(text)?.[1])
    const rules = [...new Set([...text.matchAll(RULES)].map(([, rule]) => Number(rule)))]
    const truth = rules.map(rule => scriptedTruth(caseIndex, rule))
    const question = `${caseIndex}/${rules.join()}`
    const asked = this.#asked.get(question) ?? 0
    this.#asked.set(question, asked + 1)
    if (asked >= this.#faultsPerQuestion || rules.includes(WARM_UP_RULE)) {
      send(response, 200, completion(answerOf(truth)))
      return
    }
    const fault = faultOf(caseIndex)
    this.sent.set(fault, (this.sent.get(fault) ?? 0) + 1)
    FAULTS[fault].send(response, { truth, wrong: truth.map(met => !met) })
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}

/** A rule about which every question is answered at once. */
export const WARM_UP_RULE = 9999
