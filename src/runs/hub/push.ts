/** @file Files to a model repository of the Hugging Face Hub, in one commit: all of them are there, or none. */

import { openAsBlob } from 'node:fs'
import { GradusError } from '../../util/errors.ts'
import type { ModelFile } from './files.ts'

/** The Hub cannot be reached, or refuses. */
class HubError extends GradusError {}

export interface PushOptions {
  /** `owner/name`. */
  repository: string
  /** README.md. */
  card: string
  files: readonly ModelFile[]
  message: string
  /** A repository that is made is private. One that is there stays as it is. */
  private: boolean
  token: string
  /** Without a slash at its end. */
  endpoint: string
  /** How long the Hub may say nothing, in the middle of an answer too. Default 60,000. */
  silenceMs?: number
  /** What is being done, for a person. */
  tell?(words: string): void
}

export interface Pushed {
  url: string
  /** Of the commit. */
  commit: string
  /** Whether the repository was made. */
  created: boolean
}

const HINTS: Record<number, string> = {
  401: 'HF_TOKEN holds a token that the Hub does not take: make one with write access at huggingface.co/settings/tokens',
  403: 'the token of HF_TOKEN may not write there: it needs write access to that owner',
  404: 'there is no such owner, or the token of HF_TOKEN does not see it',
  413: 'a file is larger than the Hub takes',
}

const SILENCE_MS = 60_000
const COMMIT = /^[\da-f]{40}$/

/** What went wrong, in words: silence, the network, or an answer that the Hub does not give. */
const wordsOf = (error: unknown): string => {
  const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (/TIMEOUT/.test(cause?.code ?? '')) return 'no answer in time'
  if (error instanceof TypeError && cause === undefined) return 'its answer is none of the Hub'
  return cause?.code ?? message
}

const failure = (endpoint: string, what: string, error: unknown, token: string): HubError => {
  const { statusCode, message } = error as Error & { statusCode?: number }
  const words = (statusCode === undefined ? wordsOf(error) : `status ${statusCode}: ${message}`)
    .replaceAll(token, '***')
    .replace(/\s+/g, ' ')
    .slice(0, 400)
  return new HubError(`${endpoint}: ${what} failed: ${words}`, {
    hint: statusCode === undefined ? undefined : HINTS[statusCode],
    cause: error,
  })
}

/** `fetch` that gives up where nothing comes for so long; a body that is being sent may take its time. */
const impatientFetch = async (silenceMs: number) => {
  const { Agent, fetch: send } = await import('undici')
  const agent = new Agent({
    connect: { timeout: silenceMs },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  })
  const impatient = ((input: string, init?: object) =>
    send(input, { ...init, dispatcher: agent })) as unknown as typeof fetch
  return { fetch: impatient, end: () => agent.destroy() }
}

/**
 * Makes the repository where there is none, and commits the card and the files. The same files again make no new upload.
 * @throws HubError
 */
export const pushModel = async (options: PushOptions): Promise<Pushed> => {
  const { fetch, end } = await impatientFetch(options.silenceMs ?? SILENCE_MS)
  try {
    return await pushWith(fetch, options)
  } finally {
    await end()
  }
}

const pushWith = async (send: typeof fetch, options: PushOptions): Promise<Pushed> => {
  const { repository: name, card, files, message, token, endpoint, tell } = options
  // Only those who push load it.
  const { createRepo, uploadFiles } = await import('@huggingface/hub')
  const repo = { type: 'model', name } as const
  const access = { accessToken: token, hubUrl: endpoint, fetch: send }
  let created = true
  try {
    tell?.(`repository ${name}`)
    await createRepo({ ...access, repo, ...(options.private && { visibility: 'private' }) })
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode !== 409)
      throw failure(endpoint, `making repository ${name}`, error, token)
    created = false
  }
  const contents = await Promise.all(
    files.map(async ({ name: path, path: from }) => ({ path, content: await openAsBlob(from) })),
  )
  try {
    tell?.(`uploading ${files.length + 1} files`)
    const done = await uploadFiles({
      ...access,
      repo,
      files: [{ path: 'README.md', content: new Blob([card]) }, ...contents],
      commitTitle: message,
    })
    const commit = done?.commit.oid
    if (!COMMIT.test(commit ?? '')) throw new Error('it was answered without a commit')
    return { url: `${endpoint}/${name}`, commit: commit!, created }
  } catch (error) {
    throw failure(endpoint, `the upload to ${name}`, error, token)
  }
}
