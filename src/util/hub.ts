/**
 * @file Files of data sets on the Hugging Face hub, by their addresses: `hf://datasets/OWNER/NAME[@REVISION]/PATH`, as its
 * Python client writes them (huggingface_hub, `HfFileSystem`). Read in parts, each of them tried again where it failed.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from 'undici'
import { type ByteSource, PART_BYTES } from './byte-source.ts'
import { DataError, GradusError } from './errors.ts'
import { failureWords } from './file-failure.ts'

export interface HubOptions {
  /** Default: `HF_ENDPOINT`, else the public hub. */
  endpoint?: string
  /** Default: `HF_TOKEN`. */
  token?: string
  /** First wait before another attempt, doubled each time. Default 500. */
  retryMs?: number
  env?: Readonly<Record<string, string | undefined>>
}

/** A file of a data set. */
export interface HubAddress {
  repo: string
  /** A branch, a tag or a commit; null: the main branch. */
  revision: string | null
  path: string
}

const SCHEME = 'hf://'
const FORM = 'hf://datasets/OWNER/NAME[@REVISION]/PATH'
const ADDRESS =
  /^hf:\/\/datasets\/([\w.-]+\/[\w.-]+?)(?:@(refs\/(?:convert|pr)\/[^/]+|[^/]+))?\/([^\s/][^\\]*)$/
const COMMIT = /^[\da-f]{40}$/

export const isHubAddress = (source: string): boolean => source.toLowerCase().startsWith(SCHEME)

/** @throws DataError for an address of another form */
export const parseHubAddress = (source: string): HubAddress => {
  const [, repo, revision, path] = ADDRESS.exec(source) ?? []
  const isPlain = path?.split('/').every(part => part !== '' && part !== '.' && part !== '..')
  if (repo === undefined || !isPlain)
    throw new DataError(`${source}: expected ${FORM}, got another form`, {
      hint: 'name one file of a data set; a model or a space is no data',
    })
  return { repo, revision: revision === undefined ? null : decoded(revision, source), path }
}

const decoded = (revision: string, source: string): string => {
  try {
    return decodeURIComponent(revision)
  } catch {
    throw new DataError(`${source}: expected a revision, got one with a faulty % in it`)
  }
}

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

const refusalOf = (
  name: string,
  status: number,
  code: string | null,
  hasToken: boolean,
): DataError | Passing => {
  if (status === 401 || status === 403) {
    const hint = hasToken
      ? 'check that HF_TOKEN may read it, and that its terms were agreed to on its page'
      : 'set HF_TOKEN to a token that may read it; a name that does not exist is refused alike'
    return new DataError(`${name}: cannot be read: the hub refuses it (HTTP ${status})`, { hint })
  }
  if (status === 404) {
    const what =
      code === 'RepoNotFound'
        ? 'no such data set'
        : code === 'RevisionNotFound'
          ? 'no such revision'
          : 'no such file'
    return new DataError(`${name}: cannot be read: the hub knows ${what} (HTTP 404)`, {
      hint: `check owner, name, revision and path: ${FORM}`,
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
  readonly #name: string
  readonly #hasToken: boolean
  readonly #retryMs: number

  constructor(name: string, hasToken: boolean, retryMs: number) {
    this.#name = name
    this.#hasToken = hasToken
    this.#retryMs = retryMs
  }

  readonly fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(String(input), init)
      } catch (error) {
        if (!(error instanceof Passing)) throw error
        if (attempt === ATTEMPTS)
          throw new DataError(`${this.#name}: cannot be read: ${error.message}, ${ATTEMPTS} times`, {
            hint: 'check the network and HF_ENDPOINT, or download the file and name the copy',
            cause: error,
          })
        const waitMs = this.#retryMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2)
        await sleep(Math.max(waitMs, error.retryAfterMs))
      }
    }
  }

  async #once(url: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    const part = partOf(headers)
    const { fetch } = await import('undici')
    try {
      const answer = await fetch(url, {
        dispatcher: await agentOf(),
        headers: Object.fromEntries(headers.entries()),
      })
      const { status } = answer
      if (PASSING_STATUS.has(status)) {
        await answer.body?.cancel()
        throw new Passing(`the hub answered HTTP ${status}`, retryAfterMs(answer.headers))
      }
      if (!answer.ok) {
        await answer.body?.cancel()
        throw refusalOf(this.#name, status, answer.headers.get('x-error-code'), this.#hasToken)
      }
      const isPart = part !== null && status === 206
      const body = await bodyOf(answer.body, isPart ? part.bytes : MAX_ANSWER_BYTES, this.#name)
      if (isPart) checkPart(part, answer.headers.get('content-range'), body.length)
      return new Response(body, { status, headers: Object.fromEntries(answer.headers.entries()) })
    } catch (error) {
      if (error instanceof Passing || error instanceof GradusError) throw error
      throw new Passing(networkWords(error), 0, { cause: error })
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
const networkWords = (error: unknown): string => {
  const cause = (error as Error).cause ?? error
  const words = failureWords(cause)?.what
  return words === undefined || /the system refused it/.test(words)
    ? `the connection failed (${(cause as Error).message})`
    : words
}

/** A file of a data set at a commit. */
export interface HubFile extends ByteSource {
  /** Forty hexadecimal digits; what is read is of this commit, whatever happens to the branch. */
  commit: string
}

/** What the hub's client throws of itself: answers of another shape than its own. */
const inWords = (name: string, error: unknown): Error =>
  error instanceof GradusError
    ? error
    : new DataError(
        `${name}: cannot be read: expected an answer of the hub, got another (${(error as Error).message})`,
        {
          hint: 'check HF_ENDPOINT',
          cause: error,
        },
      )

const endpointOf = ({ endpoint, env = process.env }: HubOptions, name: string): string | undefined => {
  const url = (endpoint ?? env.HF_ENDPOINT)?.trim().replace(/\/+$/, '')
  if (!url) return undefined
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new DataError(
      `${name}: HF_ENDPOINT: expected an address that begins with https://, got ${JSON.stringify(url)}`,
    )
  return url
}

const tokenOf = ({ token, env = process.env }: HubOptions, name: string): string | undefined => {
  const value = (token ?? env.HF_TOKEN)?.trim()
  if (!value) return undefined
  if (!value.startsWith('hf_'))
    throw new DataError(
      `${name}: HF_TOKEN: expected a token of the hub, which begins with hf_, got another text`,
    )
  return value
}

/**
 * Opens a file of a data set. A branch or tag is looked up once, and everything is read from the commit that it then names.
 * @param pinned the commit to read from, where an earlier run has looked it up
 * @throws DataError for an address of another form, and for what cannot be had: no such file, no permission, no network
 */
export const openHubFile = async (
  source: string,
  { pinned, ...options }: HubOptions & { pinned?: string } = {},
): Promise<HubFile> => {
  const { repo, revision, path } = parseHubAddress(source)
  if (/^(1|true|yes|on)$/i.test((options.env ?? process.env).HF_HUB_OFFLINE ?? ''))
    throw new DataError(`${source}: cannot be read: HF_HUB_OFFLINE forbids it`, {
      hint: 'take it out of the environment, or download the file and name the copy',
    })
  const accessToken = tokenOf(options, source)
  const { fetch } = new PatientFetch(source, accessToken !== undefined, options.retryMs ?? 500)
  const shared = { fetch, accessToken, hubUrl: endpointOf(options, source) }
  try {
    const { datasetInfo, downloadFile, fileDownloadInfo } = await import('@huggingface/hub')
    const isCommit = revision !== null && COMMIT.test(revision)
    const { sha: commit } = isCommit
      ? { sha: revision }
      : pinned !== undefined
        ? { sha: pinned }
        : await datasetInfo({
            ...shared,
            name: repo,
            revision: revision ?? 'main',
            additionalFields: ['sha'],
          })
    if (typeof commit !== 'string' || !COMMIT.test(commit)) throw new Error('no commit in it')
    const file = {
      ...shared,
      repo: { type: 'dataset', name: repo } as const,
      path: path.split('/').map(encodeURIComponent).join('/'),
      revision: commit,
    }
    const downloadInfo = await fileDownloadInfo(file)
    const blob = downloadInfo && (await downloadFile({ ...file, downloadInfo, xet: false }))
    if (!blob) throw refusalOf(source, 404, 'EntryNotFound', true)
    return { name: source, size: blob.size, commit, read: partReader(source, blob), close: async () => {} }
  } catch (error) {
    throw inWords(source, error)
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
    throw inWords(name, error)
  }
}
