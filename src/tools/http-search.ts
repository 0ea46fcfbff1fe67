/** @file A tool that searches by HTTP: any endpoint that takes a query and answers with JSON, by a mapping. */

import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { isTooIntricate } from '../chat/json-size.ts'
import { retryAfterMs } from '../chat/retry-after.ts'
import { ConfigError } from '../util/errors.ts'
import { wellFormed } from '../util/json.ts'
import { Rng } from '../util/rng.ts'
import { describeValue } from '../util/schema.ts'
import { positive } from '../util/setting-shapes.ts'
import { undici } from '../util/undici.ts'
import { withDeadline } from './deadline.ts'
import { type HttpAnswer, httpExchange, toolAddress } from './http-exchange.ts'
import { valueAt } from './pointer.ts'
import { queryParameters, readQuery, searchResult } from './query.ts'
import {
  bodySchema,
  hasNoSecretInUrl,
  type ProcessEnv,
  Secrets,
  secretInUrl,
  valuesSchema,
} from './secrets.ts'
import { type Snippet, TOOL_NAME, type Tool, ToolError } from './tool.ts'

const fieldsSchema = z.strictObject({
  id: z.string().min(1).optional().describe('Where a result has its id; results without one are numbered.'),
  title: z.string().min(1).optional().describe('Where a result has its title.'),
  text: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .describe('Where a result has its text: one place, or several whose texts are joined.'),
})

/** A search over HTTP as a configuration writes it. `{query}` and `{top}` in `params` and `body` stand for those of a call. */
export const httpToolSchema = z
  .strictObject({
    kind: z.literal('http').describe('Search over HTTP.'),
    name: z
      .string()
      .regex(TOOL_NAME)
      .default('web_search')
      .describe('Name of the tool, as the model calls it.'),
    description: z
      .string()
      .min(1)
      .default('Searches and returns the results that match best, with ids to cite.')
      .describe('Description of the tool that the model is shown.'),
    url: z.string().min(1).describe('Address of the search.'),
    method: z.enum(['GET', 'POST']).default('GET').describe('HTTP method.'),
    headers: valuesSchema
      .default({})
      .describe(
        "HTTP headers. A value may come from an environment variable: `{env: NAME, prefix: 'Bearer '}`.",
      ),
    params: valuesSchema
      .default({})
      .describe('Parameters of the URL. `{query}` and `{top}` stand for those of a call.'),
    body: bodySchema
      .optional()
      .describe(
        'JSON that is posted. `{query}` and `{top}` stand for those of a call, `{env: NAME}` for the value of an environment variable.',
      ),
    results: z
      .string()
      .describe(
        "Where the answer has its list of results: a JSON pointer, names with dots, or '' for the whole answer.",
      ),
    fields: fieldsSchema.describe('Where a result has its id, title and text.'),
    top: z.int().positive().max(100).default(5).describe('Most results in an answer.'),
    snippetChars: z.int().min(50).max(100_000).default(1_000).describe("Most characters of a result's text."),
    timeoutMs: positive.default(30_000).describe('Longest time of a call with all its attempts.'),
    attemptTimeoutMs: positive.default(10_000).describe('Longest time of one attempt.'),
    retries: z.int().nonnegative().default(2).describe('Most further attempts of a call that failed.'),
    backoffMs: positive
      .default(250)
      .describe('Longest random wait before the second attempt. It doubles with each further attempt.'),
    longestRetryAfterMs: positive
      .default(20_000)
      .describe(
        'Longest pause that a server may ask for by `retry-after`. If it asks for more, the call fails.',
      ),
    maxAnswerBytes: z
      .int()
      .positive()
      .default(2 * 1024 * 1024)
      .describe('Largest answer that is accepted.'),
  })
  .refine(hasNoSecretInUrl, { error: secretInUrl })
export type HttpToolSettings = z.output<typeof httpToolSchema>

const QUERY = '{query}'
const TOP = '{top}'

const filled = (text: string, query: string, top: number): string =>
  text
    .split(QUERY)
    .map(part => part.replaceAll(TOP, String(top)))
    .join(query)

/** A body with a call's values in the places of their names; `{top}` alone becomes a number. */
const filledJson = (value: unknown, query: string, top: number): unknown => {
  if (value === TOP) return top
  if (typeof value === 'string') return filled(value, query, top)
  if (Array.isArray(value)) return value.map(each => filledJson(each, query, top))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filledJson(each, query, top)]))
}

/** Text of a field; halves of characters, which servers leave where they cut, become U+FFFD. */
const textOf = (value: unknown): string => {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? wellFormed(value.trim()) : ''
}

const shortened = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text
  const cut = text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '')
  return `${cut} …`
}

/** Statuses that may pass by themselves. */
const PASSING = new Set([408, 409, 425, 429])
const PASSING_KINDS: ReadonlySet<string> = new Set(['timeout', 'unreachable', 'malformed'])

class StatusError extends ToolError {
  readonly isPassing: boolean
  readonly retryAfterMs: number | undefined

  constructor(where: string, { status, headers }: HttpAnswer) {
    const isRedirect = status >= 300 && status < 400
    super('refused', `${where}: expected an answer with status 200, got ${status}`, {
      hint: isRedirect ? 'redirections are not followed: give the address that it leads to' : undefined,
    })
    this.isPassing = PASSING.has(status) || status >= 500
    this.retryAfterMs = retryAfterMs(headers, Date.now())
  }
}

/** @throws the signal's reason where it aborts first */
const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { signal }).catch(() => {
    throw signal.reason
  })

export interface HttpToolRuntime {
  env?: ProcessEnv
  /** Uniform in [0, 1), for the wait before another attempt. */
  random?: () => number
}

/** A search endpoint, its requests and how its answers are read. */
class HttpSearch {
  readonly #settings: HttpToolSettings
  readonly #secrets: Secrets
  readonly #url: URL
  readonly #headers: Record<string, string>
  readonly #params: readonly (readonly [name: string, value: string])[]
  readonly #body: unknown
  readonly #agent = new (undici().Agent)({ pipelining: 1 })
  readonly #random: () => number

  constructor(settings: HttpToolSettings, { env = process.env, random }: HttpToolRuntime) {
    const { name } = settings
    this.#settings = settings
    this.#secrets = new Secrets(env)
    this.#url = toolAddress(name, settings.url, 'an address such as https://host/search', 'headers or params')
    if (settings.body !== undefined && settings.method === 'GET')
      throw new ConfigError(`${name}: body: expected none with method GET, got one`, {
        hint: 'set method: POST',
      })
    if (!JSON.stringify([settings.params, settings.body ?? null]).includes(QUERY))
      throw new ConfigError(`${name}: expected ${QUERY} in params or body, got none`, {
        hint: `say where the query goes, for example params: {q: "${QUERY}"}`,
      })
    this.#headers = {
      accept: 'application/json',
      ...(settings.body !== undefined && { 'content-type': 'application/json' }),
      ...this.#secrets.headers(settings.headers, name),
    }
    this.#params = Object.entries(settings.params).map(([key, value]) => [
      key,
      this.#secrets.resolve(value, `${name}: params.${key}`),
    ])
    this.#body = this.#secrets.resolveIn(settings.body, `${name}: body`)
    const rng = new Rng(`${name} ${process.pid}`)
    this.#random = random ?? (() => rng.next())
  }

  /** @throws ToolError without any secret in it */
  async search(query: string, top: number, signal: AbortSignal): Promise<Snippet[]> {
    const { name, timeoutMs } = this.#settings
    try {
      return await withDeadline(name, timeoutMs, signal, inner => this.#attempts(query, top, inner))
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
      throw new ToolError(error.kind, this.#secrets.hide(error.message))
    }
  }

  async #attempts(query: string, top: number, signal: AbortSignal): Promise<Snippet[]> {
    const { name, retries, attemptTimeoutMs } = this.#settings
    for (let attempt = 0; ; attempt++) {
      try {
        return await withDeadline(name, attemptTimeoutMs, signal, inner => this.#attempt(query, top, inner))
      } catch (error) {
        if (signal.aborted) throw signal.reason
        const waitMs = attempt < retries ? this.#waitMs(error, attempt) : null
        if (waitMs === null) throw error
        await sleep(waitMs, signal)
      }
    }
  }

  /** Milliseconds before another attempt, by full jitter; null where another one would not help. */
  #waitMs(error: unknown, attempt: number): number | null {
    const { backoffMs, longestRetryAfterMs } = this.#settings
    if (error instanceof StatusError) {
      const askedMs = error.retryAfterMs ?? 0
      if (!error.isPassing || askedMs > longestRetryAfterMs) return null
      return askedMs + this.#random() * backoffMs * 2 ** attempt
    }
    if (!(error instanceof ToolError) || !PASSING_KINDS.has(error.kind)) return null
    return this.#random() * backoffMs * 2 ** attempt
  }

  async #attempt(query: string, top: number, signal: AbortSignal): Promise<Snippet[]> {
    const { name, method, maxAnswerBytes } = this.#settings
    const body = this.#body
    const url = new URL(this.#url)
    for (const [key, value] of this.#params) url.searchParams.set(key, filled(value, query, top))
    const answer = await httpExchange({
      where: name,
      url,
      method,
      headers: this.#headers,
      ...(body !== undefined && { body: JSON.stringify(filledJson(body, query, top)) }),
      maxBytes: maxAnswerBytes,
      signal,
      dispatcher: this.#agent,
    })
    if (answer.status < 200 || answer.status >= 300) throw new StatusError(name, answer)
    return this.#read(answer.body, top)
  }

  /** Secrets are taken out of what is shown, before it is cut, which could leave part of one: in the text of the answer numbers could be broken by it. */
  #read(body: string, top: number): Snippet[] {
    const { name, results } = this.#settings
    const list = valueAt(this.#parse(body), results)
    if (!Array.isArray(list))
      throw new ToolError(
        'malformed',
        `${name}: expected a list of results at ${JSON.stringify(results)}, got ${describeValue(this.#secrets.hideIn(list))}`,
        { hint: 'correct results in the configuration' },
      )
    const snippets = list.slice(0, top).flatMap((result, index) => this.#snippet(result, index))
    return [...new Map(snippets.map(snippet => [snippet.id, snippet])).values()]
  }

  #parse(body: string): unknown {
    const { name } = this.#settings
    if (isTooIntricate(body))
      throw new ToolError('malformed', `${name}: expected results, got JSON without end`)
    try {
      return JSON.parse(body)
    } catch (error) {
      const start = this.#secrets.hide(body).slice(0, 80).replace(/\s+/g, ' ')
      throw new ToolError('malformed', `${name}: expected JSON, got text that is none: ${start}`, {
        cause: error,
      })
    }
  }

  #snippet(result: unknown, index: number): Snippet[] {
    const { fields, snippetChars } = this.#settings
    const places = typeof fields.text === 'string' ? [fields.text] : fields.text
    const at = (place: string) => this.#secrets.hide(textOf(valueAt(result, place)))
    const texts = places.map(at).filter(text => text !== '')
    const title = fields.title === undefined ? '' : at(fields.title)
    const id = fields.id === undefined ? '' : at(fields.id)
    if (texts.length === 0 && title === '') return []
    const text = shortened(texts.join('\n'), snippetChars)
    return [
      {
        id: shortened(id, 500) || String(index + 1),
        ...(title !== '' && { title: shortened(title, 300) }),
        text,
      },
    ]
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }
}

/** @throws ConfigError for a mapping that cannot be used, and a variable that is not set */
export const httpTool = (
  settings: HttpToolSettings,
  runtime: HttpToolRuntime = {},
): { tool: Tool; close(): Promise<void> } => {
  const { name, description, top: most } = settings
  const search = new HttpSearch(settings, runtime)
  const call: Tool['call'] = async (args, { signal }) => {
    const { query, top } = readQuery(name, args, most)
    return searchResult(query, await search.search(query, top, signal))
  }
  return { tool: { name, description, parameters: queryParameters(most), call }, close: () => search.close() }
}
