/**
 * @file The Hugging Face hub, as its own client asks it: with waits and further attempts, answers that are whole, errors in our
 * words, and files in parts.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from 'undici'
import { type ByteSource, PART_BYTES } from './byte-source.ts'
import { DataError, GradusError } from './errors.ts'
import { describeFailure } from './file-failure.ts'

export interface HubOptions {
  /** Default: `HF_ENDPOINT`, else the public hub. */
  endpoint?: string
  /** Default: `HF_TOKEN`. */
  token?: string
  /** First wait before another attempt, doubled each time. Default 500. */
  retryMs?: number
  /** Of one request. Default 5. */
  attempts?: number
  /** Ends what is under way; its reason, a `GradusError`, is then thrown. */
  signal?: AbortSignal
  env?: Readonly<Record<string, string | undefined>>
}

/** What is asked for, as errors name it. */
export interface HubSubject {
  /** As it was written. */
  name: string
  repo: { type: 'dataset' | 'model'; name: string }
  /** How such names are written. */
  form: string
}

const KINDS = { dataset: 'data set', model: 'model' } as const

/** The hub cannot be reached, or is busy; what it refuses is a `DataError` alone. */
export class HubUnreachable extends DataError {
  override name = 'HubUnreachable'
}

export const isOffline = ({ env = process.env }: HubOptions): boolean =>
  /^(1|true|yes|on)$/i.test(env.HF_HUB_OFFLINE ?? '')

/** A failure that may pass, and how long to wait for that at least. */
class Passing extends Error {
  constructor(
    message: string,
    readonly retryAfterMs = 0,
    options: ErrorOptions = {},
  ) {
    super(message, options)
  }
}

const ATTEMPTS = 5
const LONGEST_WAIT_MS = 60_000
const PASSING_STATUS = new Set([408, 425, 429, 500, 502, 503, 504])
/** Bytes that may come where no part was asked for: what the hub says of a data set. */
const MAX_ANSWER_BYTES = PART_BYTES

const IDLE_MS = 30_000

let agent: Promise<Agent> | undefined

/** One pool of connections for all reading; an idle one ends by itself and keeps no process alive. */
const agentOf = (): Promise<Agent> => {
  agent ??= import('undici').then(
    ({ Agent: Pool }) =>
      new Pool({ connect: { timeout: IDLE_MS }, headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS }),
  )
  return agent
}

const retryAfterMs = (headers: { get(name: string): string | null }): number => {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, LONGEST_WAIT_MS) : 0
}

const UNKNOWN: Readonly<Record<string, (kind: string) => string>> = {
  RepoNotFound: kind => `no such ${kind}`,
  RevisionNotFound: () => 'no such revision',
  EntryNotFound: () => 'no such file',
}

/** Of a refusal what to do. A repository that is private, and one that does not exist, are refused alike where no token came. */
const permissionHint = ({ repo, form }: HubSubject, code: string | null, hasToken: boolean): string => {
  if (code === 'GatedRepo')
    return `agree to its terms on its page at the hub${hasToken ? '; HF_TOKEN must be of whoever did' : ', and set HF_TOKEN to a token that may read it'}`
  if (hasToken) return 'check that HF_TOKEN may read it, and that its terms were agreed to on its page'
  const what = repo.type === 'model' ? ` (${form})` : ''
  return `set HF_TOKEN to a token that may read it; a name that does not exist is refused alike${what}`
}

const refusalOf = (
  subject: HubSubject,
  status: number,
  code: string | null,
  hasToken: boolean,
): DataError | Passing => {
  const { name, repo, form } = subject
  if (status === 401 || status === 403)
    return new DataError(`${name}: cannot be read: the hub refuses it (HTTP ${status})`, {
      hint: permissionHint(subject, code, hasToken),
    })
  if (status === 404) {
    const what = (UNKNOWN[code ?? ''] ?? UNKNOWN.EntryNotFound)(KINDS[repo.type])
    return new DataError(`${name}: cannot be read: the hub knows ${what} (HTTP 404)`, {
      hint: `check owner, name, revision and path: ${form}`,
    })
  }
  if (status === 416)
    return new DataError(`${name}: expected at least one row, got an empty file`, {
      hint: 'check what wrote the file',
    })
  return new DataError(`${name}: cannot be read: the hub answered HTTP ${status}`, {
    hint: 'check HF_ENDPOINT',
  })
}

interface Part {
  start: number
  bytes: number
}

const partOf = (headers: Headers): Part | null => {
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.get('range') ?? '') ?? []
  return start === undefined ? null : { start: Number(start), bytes: Number(end) - Number(start) + 1 }
}

/** The body, of at most so many bytes; what is longer is not taken to its end. */
const bodyOf = async (
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
  name: string,
): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes)
      throw new DataError(`${name}: cannot be read: expected ${maxBytes} bytes of it, got more`, {
        hint: 'the server must answer requests for parts of a file; download it, and name the copy',
      })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** `fetch` for the hub's client: waits and tries again, gives whole answers only, and says what went wrong in our words. */
class PatientFetch {
  readonly #subject: HubSubject
  readonly #hasToken: boolean
  readonly #retryMs: number
  readonly #attempts: number
  readonly #signal: AbortSignal | undefined
  /** Where the first request went. */
  #hub: string | undefined

  constructor(
    subject: HubSubject,
    hasToken: boolean,
    { retryMs = 500, attempts = ATTEMPTS, signal }: HubOptions,
  ) {
    this.#subject = subject
    this.#hasToken = hasToken
    this.#retryMs = retryMs
    this.#attempts = attempts
    this.#signal = signal
  }

  readonly fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(String(input), init)
      } catch (error) {
        this.#signal?.throwIfAborted()
        if (!(error instanceof Passing)) throw error
        if (attempt === this.#attempts)
          throw new HubUnreachable(
            `${this.#subject.name}: cannot be read: ${error.message}, ${attempt} times`,
            {
              hint: 'check the network and HF_ENDPOINT, or download the file and name the copy',
              cause: error,
            },
          )
        const waitMs = this.#retryMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2)
        await sleep(Math.max(waitMs, error.retryAfterMs), undefined, { signal: this.#signal }).catch(() =>
          this.#signal?.throwIfAborted(),
        )
      }
    }
  }

  async #once(url: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    const part = partOf(headers)
    const { origin } = new URL(url)
    this.#hub ??= origin
    // The next page of a listing is wherever the page before says.
    if (origin !== this.#hub) headers.delete('authorization')
    const { fetch } = await import('undici')
    try {
      const answer = await fetch(url, {
        dispatcher: await agentOf(),
        headers: Object.fromEntries(headers.entries()),
        // A signal of its own: Node 20 cannot say how many may listen to one that all may, and undici asks.
        signal: this.#signal && AbortSignal.any([this.#signal]),
      })
      const { status } = answer
      if (PASSING_STATUS.has(status)) {
        await answer.body?.cancel()
        throw new Passing(`the hub answered HTTP ${status}`, retryAfterMs(answer.headers))
      }
      if (!answer.ok) {
        await answer.body?.cancel()
        throw refusalOf(this.#subject, status, answer.headers.get('x-error-code'), this.#hasToken)
      }
      const isPart = part !== null && status === 206
      const body = await bodyOf(answer.body, isPart ? part.bytes : MAX_ANSWER_BYTES, this.#subject.name)
      if (isPart) checkPart(part, answer.headers.get('content-range'), body.length)
      return new Response(body, { status, headers: Object.fromEntries(answer.headers.entries()) })
    } catch (error) {
      if (error instanceof Passing || error instanceof GradusError) throw error
      throw new Passing(describeNetwork(error), 0, { cause: error })
    }
  }
}

/** @throws Passing for a part that is not the one that was asked for, or not whole */
const checkPart = ({ start, bytes }: Part, range: string | null, got: number): void => {
  const [, from] = /^bytes (\d+)-/.exec(range ?? '') ?? []
  if (from !== undefined && Number(from) !== start)
    throw new Passing(`expected the part at ${start}, got ${range}`)
  if (got !== bytes) throw new Passing(`expected ${bytes} bytes, got ${got}`)
}

/** `fetch failed` says nothing; what lies behind it does. */
const describeNetwork = (error: unknown): string => {
  const cause = (error as Error).cause ?? error
  const words = describeFailure(cause)?.what
  return words === undefined || /the system refused it/.test(words)
    ? `the connection failed (${(cause as Error).message})`
    : words
}

/** What the hub's client throws of itself: answers of another shape than its own. */
export const hubAnswerError = (name: string, error: unknown): Error =>
  error instanceof GradusError
    ? error
    : new DataError(
        `${name}: cannot be read: expected an answer of the hub, got another (${(error as Error).message})`,
        {
          hint: 'check HF_ENDPOINT',
          cause: error,
        },
      )

/** @throws DataError for what is no address; one with a password in it is not shown */
export const hubEndpoint = (
  { endpoint, env = process.env }: HubOptions,
  name: string,
): string | undefined => {
  const url = (endpoint ?? env.HF_ENDPOINT)?.trim().replace(/\/+$/, '')
  if (!url) return undefined
  if (/^https?:\/\/[^@]*$/.test(url) && URL.canParse(url)) return url
  throw new DataError(
    `${name}: HF_ENDPOINT: expected an address that begins with https:// and has no user or password, got ${url.includes('@') ? 'another one' : JSON.stringify(url)}`,
  )
}

/** @throws DataError for what is no token, which is not shown */
export const hubToken = ({ token, env = process.env }: HubOptions, name: string): string | undefined => {
  const value = (token ?? env.HF_TOKEN)?.trim()
  if (!value) return undefined
  // Whatever no header may hold would be shown by the error of who refuses it.
  if (!/^hf_[!-~]+$/.test(value))
    throw new DataError(
      `${name}: HF_TOKEN: expected a token of the hub, one word that begins with hf_, got another text`,
    )
  return value
}

/** What functions of the hub's client take. */
export interface HubClient {
  subject: HubSubject
  shared: { fetch: typeof fetch; accessToken: string | undefined; hubUrl: string | undefined }
  signal?: AbortSignal
}

/** @throws DataError for an endpoint or a token that is none */
export const hubClient = (subject: HubSubject, options: HubOptions): HubClient => {
  const accessToken = hubToken(options, subject.name)
  const { fetch } = new PatientFetch(subject, accessToken !== undefined, options)
  const { signal } = options
  return { subject, shared: { fetch, accessToken, hubUrl: hubEndpoint(options, subject.name) }, signal }
}

/** A file of a repository at a commit, read in parts. @throws DataError for what cannot be had */
export const openInRepo = async (
  { subject, shared }: HubClient,
  commit: string,
  path: string,
): Promise<ByteSource> => {
  const { name, repo } = subject
  try {
    const { downloadFile, fileDownloadInfo } = await import('@huggingface/hub')
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    const file = { ...shared, repo, path: encoded, revision: commit }
    const downloadInfo = await fileDownloadInfo(file)
    const blob = downloadInfo && (await downloadFile({ ...file, downloadInfo, xet: false }))
    if (!blob) throw refusalOf(subject, 404, 'EntryNotFound', true)
    return { name, size: blob.size, read: partReader(name, blob), close: async () => {} }
  } catch (error) {
    throw hubAnswerError(name, error)
  }
}

/** Long parts come in shorter ones, so that a connection that breaks costs one of them. */
const partReader =
  (name: string, blob: Blob): ByteSource['read'] =>
  async (start, end) => {
    const bytes = new Uint8Array(end - start)
    for (let at = start; at < end; at += PART_BYTES) {
      const to = Math.min(end, at + PART_BYTES)
      const part = await bytesOf(name, blob.slice(at, to))
      if (part.length !== to - at)
        throw new DataError(`${name}: cannot be read: expected ${to - at} bytes, got ${part.length}`, {
          hint: 'try again, or download the file and name the copy',
        })
      bytes.set(part, at - start)
    }
    return bytes
  }

const bytesOf = async (name: string, blob: Blob): Promise<Uint8Array> => {
  try {
    return new Uint8Array(await blob.arrayBuffer())
  } catch (error) {
    throw hubAnswerError(name, error)
  }
}
