/** @file A hub for tests: files of data sets and models by range, behind a redirection, with the faults that a test asks for. */

import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const COMMIT = '0123456789abcdef0123456789abcdef01234567'
export const NEXT_COMMIT = 'fedcba9876543210fedcba9876543210fedcba98'

/** What goes wrong with a request; `cut`: the body ends in its middle, `whole`: the range is passed over. */
type HubFault = number | 'cut' | 'whole' | 'hang up' | 'nonsense'

export interface FakeHub {
  url: string
  /** By `OWNER/NAME@COMMIT/PATH`. */
  files: Map<string, Uint8Array>
  /** By `OWNER/NAME@REVISION`. */
  revisions: Map<string, string>
  /** Taken by one request after the other; null lets one pass. */
  faults: (HubFault | null)[]
  /** The same for all requests that no entry of `faults` is left for. */
  always: HubFault | null
  /** Paths with their ranges, and whether a token came with them. */
  seen: { path: string; range: string | undefined; token: string | undefined }[]
  /** Taken by requests about a repository, as `faults` by those of files. */
  apiFaults: number[]
  /** Needed where set. */
  token: string | null
  /** What a request without the token is told; of a gated model its files alone need one. */
  refusal: 'RepoNotFound' | 'GatedRepo'
  /** Files are told as Xet has them to who asks for that, as the hub does with large ones. */
  xet: boolean
  /** By `OWNER/NAME`: front matter of the model's card. */
  cards: Map<string, Record<string, unknown>>
  /** By the key of a file: what the listing says in place of the truth; null: nothing. */
  listed: Map<string, Record<string, unknown> | null>
  /** Where listings say that their next page is. */
  nextPage: string | null
  close(): Promise<void>
}

const address = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const listen = (server: Server): Promise<void> =>
  new Promise(resolve => server.listen(0, '127.0.0.1', resolve))

/** Part of a file, or all of it; the second server is another origin, as the hub's storage is. */
const sendPart = (
  bytes: Uint8Array,
  request: IncomingMessage,
  response: ServerResponse,
  fault: HubFault | null,
) => {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
  if (from !== undefined && bytes.length === 0) return response.writeHead(416).end()
  const isPart = from !== undefined && fault !== 'whole'
  const start = isPart ? Number(from) : 0
  const end = isPart ? Math.min(bytes.length, Number(to) + 1) : bytes.length
  const body = bytes.subarray(start, end)
  response.writeHead(isPart ? 206 : 200, {
    etag: '"file"',
    'content-length': body.length,
    ...(isPart && { 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` }),
  })
  if (fault !== 'cut') return response.end(body)
  response.write(body.subarray(0, body.length >> 1), () => response.destroy())
}

const hashed = (kind: string, ...parts: (string | Uint8Array)[]): string => {
  const hash = createHash(kind)
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** From here on a file is kept in Git LFS. */
const LARGE_BYTES = 1000

/** A file as the hub lists it: git's hash of it, or SHA-256 where it is large. */
const entryOf = (path: string, bytes: Uint8Array) => {
  const { length: size } = bytes
  const oid = hashed('sha1', `blob ${size}\0`, bytes)
  const lfs = size > LARGE_BYTES && { lfs: { oid: hashed('sha256', bytes), size, pointerSize: 130 } }
  return { type: 'file', path, size, oid, ...lfs }
}

/** What lies directly in a folder of a repository. */
const treeOf = ({ files, listed }: FakeHub, repo: string, folder: string): object[] => {
  const within = folder === '' ? '' : `${folder}/`
  return [...files].flatMap(([key, bytes]) => {
    const path = key.startsWith(`${repo}/${within}`) ? key.slice(repo.length + 1) : null
    if (path === null || path.slice(within.length).includes('/')) return []
    const instead = listed.get(key)
    return instead === null ? [] : [{ ...entryOf(path, bytes), ...instead }]
  })
}

export const startFakeHub = async (): Promise<FakeHub> => {
  const storage = createServer((request, response) => {
    hub.seen.push({
      path: `storage ${request.url}`,
      range: request.headers.range,
      token: request.headers.authorization,
    })
    const fault = hub.faults.length > 0 ? hub.faults.shift()! : hub.always
    const bytes = hub.files.get(decodeURIComponent((request.url ?? '').slice(1)))
    if (bytes === undefined) return void response.writeHead(404).end()
    if (typeof fault === 'number') return void response.writeHead(fault, { 'retry-after': '0' }).end()
    if (fault === 'hang up') return void request.socket.destroy()
    sendPart(bytes, request, response, fault)
  })
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const token = request.headers.authorization
    hub.seen.push({ path, range: request.headers.range, token })
    const isOpen = hub.refusal === 'GatedRepo' && path.startsWith('/api/')
    if (hub.token !== null && token !== `Bearer ${hub.token}` && !isOpen)
      return void response.writeHead(401, { 'x-error-code': hub.refusal }).end('{"error":"no"}')
    const json = { 'content-type': 'application/json' }
    const fault = path.startsWith('/api/') && hub.apiFaults.shift()
    if (fault) return void response.writeHead(fault, { 'retry-after': '0' }).end()
    const tree = /^\/api\/models\/([^/]+\/[^/]+)\/tree\/([^/?]+)\/?([^?]*)/.exec(path)
    const next = hub.nextPage === null ? {} : { link: `<${hub.nextPage}>; rel="next"` }
    if (tree)
      return void response
        .writeHead(200, { ...json, ...next })
        .end(JSON.stringify(treeOf(hub, `${tree[1]}@${tree[2]}`, decodeURIComponent(tree[3]))))
    const api = /^\/api\/(?:datasets|models)\/([^/]+\/[^/]+)\/revision\/([^?]+)/.exec(path)
    if (api) {
      const revision = decodeURIComponent(api[2])
      const sha = /^[\da-f]{40}$/.test(revision) ? revision : hub.revisions.get(`${api[1]}@${revision}`)
      if (sha === undefined)
        return void response.writeHead(404, { 'x-error-code': 'RevisionNotFound' }).end('{"error":"no"}')
      const body =
        hub.always === 'nonsense'
          ? '<html>'
          : JSON.stringify({ _id: '1', id: api[1], sha, cardData: hub.cards.get(api[1]) })
      return void response.writeHead(200, json).end(body)
    }
    const file = /^(?:\/datasets)?\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(path)
    const key = file && `${file[1]}@${file[2]}/${decodeURIComponent(file[3])}`
    if (key === null || !hub.files.has(key))
      return void response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end('{"error":"no"}')
    if (hub.xet && request.headers.accept?.includes('application/vnd.xet-fileinfo+json')) {
      const link = ['xet-auth', 'xet-reconstruction-info'].map(rel => `<${hub.url}/xet>; rel="${rel}"`)
      const linked = { 'x-linked-size': hub.files.get(key)!.length, 'x-xet-hash': 'a'.repeat(64) }
      response.writeHead(200, {
        ...{ 'content-type': 'application/vnd.xet-fileinfo+json', etag: '"file"' },
        ...{ ...linked, link: link.join(', ') },
      })
      return void response.end('{}')
    }
    response.writeHead(302, { location: `${address(storage)}/${encodeURIComponent(key)}` }).end()
  })
  await Promise.all([listen(server), listen(storage)])
  const hub: FakeHub = {
    url: address(server),
    files: new Map(),
    revisions: new Map(),
    faults: [],
    always: null,
    seen: [],
    apiFaults: [],
    token: null,
    refusal: 'RepoNotFound',
    xet: false,
    cards: new Map(),
    listed: new Map(),
    nextPage: null,
    close: async () => {
      for (const own of [server, storage]) {
        own.closeAllConnections()
        await new Promise(resolve => own.close(resolve))
      }
    },
  }
  return hub
}
