/** @file A judge of stages and reflections over HTTP for tests: an OpenAI-compatible server that goes by words. */

import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What it is asked for, told by the key of the answer that its instructions name. */
export type Asked = 'proposals' | 'levels' | 'scores'

const askedIn = (system: string): Asked =>
  system.includes('"proposals"') ? 'proposals' : system.includes('"level"') ? 'levels' : 'scores'

const quoted = (text: string, tag: string): string[] =>
  [...text.matchAll(new RegExp(`<${tag}-(\\w+)>\\n([\\s\\S]*?)\\n</${tag}-\\1>`, 'g'))].map(found => found[2])

const DRAFTS = [
  [1, 'positive', 'two steps', 'The plan has a second step that depends on the first', 2],
  [2, 'positive', 'second search', 'Searches again with what the first search gave', 3],
  [3, 'positive', 'item by item', 'Goes through its own rubric item by item', 1],
  [4, 'positive', 'boxed', 'Gives the value that was asked for in a box', 2],
  [4, 'negative', 'no source', 'Claims something without citing a passage', 1],
].map(([stage, sign, title, description, weight]) => ({ stage, sign, title, description, weight }))

/** How much of each rubric is there, by words of its stage. */
const LEVELS: Readonly<Record<string, (stages: (tag: string) => string) => number>> = {
  'two steps': of => (of('plan').includes('then') ? 2 : 0),
  'second search': of => Math.min(2, of('research').split('call_tool name').length - 2),
  'item by item': of => (of('review').includes('item') ? 2 : 0),
  boxed: of => (of('answer').includes('boxed') ? 2 : 0),
  'no source': of => (of('answer').includes('cite') ? 0 : 2),
}

const levelsFor = (text: string, right: (answer: string) => boolean): number[] => {
  const of = (tag: string) => quoted(text, tag).join('\n')
  return quoted(text, 'criterion').map(criterion => {
    const [title] = criterion.split(':')
    return Math.max(0, LEVELS[title]?.(of) ?? 2 * Number(right(of('answer'))))
  })
}

const marksFor = (text: string): number[] => {
  const reflection = quoted(text, 'reflection').at(-1) ?? ''
  return reflection.includes('second search') ? [0.8, 0.6, 0.75] : [0.5, 0.25, 0.25]
}

const entries = (key: string, values: readonly number[]) => ({
  verdicts: values.map((value, i) => ({ number: i + 1, justification: 'by its words', [key]: value })),
})

export interface HttpStageJudgeOptions {
  /** Whether an answer is right, for rubrics that it does not know. */
  right?(answer: string): boolean
  /** In place of an answer; null: as usual. Status 500 where it is a number. */
  instead?(asked: Asked, prompt: string): string | number | null
  /** Answers in its own way, or not at all; false: it leaves that to the others. */
  raw?(
    request: { asked: Asked; prompt: string; headers: IncomingHttpHeaders },
    response: ServerResponse,
  ): boolean
}

export class HttpStageJudge {
  readonly #server: Server
  /** Everything that it was asked, in order. */
  readonly seen: { asked: Asked; prompt: string }[] = []

  private constructor({
    right = () => false,
    instead = () => null,
    raw = () => false,
  }: HttpStageJudgeOptions) {
    this.#server = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      request.on('end', () => {
        const { messages } = JSON.parse(body) as { messages: { content: string }[] }
        const asked = askedIn(messages[0].content)
        const prompt = messages.map(({ content }) => content).join('\n')
        this.seen.push({ asked, prompt })
        if (raw({ asked, prompt, headers: request.headers }, response)) return
        const usual = () =>
          JSON.stringify(
            asked === 'proposals'
              ? { proposals: DRAFTS }
              : asked === 'levels'
                ? entries('level', levelsFor(prompt, right))
                : entries('score', marksFor(prompt)),
          )
        const content = instead(asked, prompt) ?? usual()
        response.statusCode = typeof content === 'number' ? content : 200
        response.setHeader('content-type', 'application/json')
        response.end(
          JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] }),
        )
      })
    })
  }

  static async start(options: HttpStageJudgeOptions = {}): Promise<HttpStageJudge> {
    const judge = new HttpStageJudge(options)
    await new Promise<void>(resolve => judge.#server.listen(0, '127.0.0.1', resolve))
    return judge
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  count(asked: Asked): number {
    return this.seen.filter(each => each.asked === asked).length
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}
