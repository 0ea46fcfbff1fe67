/** @file A judge over HTTP for tests: an OpenAI-compatible server whose verdict is a function of the response that it reads. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

const QUOTED_RESPONSE = /<(response|thinking)-(\w+)>\n([\s\S]*?)\n<\/\1-\2>/

const QUOTED_CRITERION = /<criterion-(\w+)>\n[\s\S]*?\n<\/criterion-\1>/g

/** What was asked for: scores of a group by their places, a list in the order of the criteria, or one verdict. */
const answerTo = (text: string, met: boolean): object => {
  const [, entries] = /"verdicts" with (\d+) entries/.exec(text) ?? []
  if (entries !== undefined) {
    const entry = (_: unknown, i: number) => ({
      number: i + 1,
      justification: 'by its place',
      relative_score: i % 2,
    })
    return { verdicts: Array.from({ length: Number(entries) }, entry) }
  }
  if (!text.includes('"judgement"')) return { explanation: 'by its words', criteria_met: met }
  const value = text.includes('[0 or 1, ...]') ? Number(met) : met
  return { judgement: (text.match(QUOTED_CRITERION) ?? []).map(() => value), final_score: 0 }
}

/** Says of every criterion what `met` says of the response. */
export class HttpJudge {
  readonly #server: Server
  /** Calls that it answered, and characters of their messages. */
  calls = 0
  promptCharacters = 0

  private constructor(met: (response: string) => boolean) {
    this.#server = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      request.on('end', () => {
        this.calls++
        const { messages } = JSON.parse(body) as { messages: { content: string }[] }
        const text = messages.map(({ content }) => content).join('\n')
        this.promptCharacters += messages.reduce((sum, { content }) => sum + content.length, 0)
        const verdict = answerTo(text, met(QUOTED_RESPONSE.exec(text)?.[3] ?? ''))
        const message = { role: 'assistant', content: JSON.stringify(verdict) }
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }))
      })
    })
  }

  static async start(met: (response: string) => boolean): Promise<HttpJudge> {
    const judge = new HttpJudge(met)
    await new Promise<void>(resolve => judge.#server.listen(0, '127.0.0.1', resolve))
    return judge
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}
