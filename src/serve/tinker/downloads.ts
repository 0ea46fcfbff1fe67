/** @file Checkpoints to be fetched: addresses that need no key, are signed, and are good for a while; a tar archive, or a file. */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Context, Hono } from 'hono'
import { API_PATH } from '../../tinker/index.ts'
import type { Env } from './body.ts'
import type { Checkpoints, StoredCheckpoint } from './checkpoints.ts'
import { RequestError } from './errors.ts'

const GOOD_FOR_MS = 15 * 60_000
/** What a client may read without a key: it brings a signature. */
export const DOWNLOADS = `${API_PATH}/downloads/`

const BLOCK = 512

/** A number in octal digits with a zero after them. */
const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`

/** Header of a file in a tar archive (POSIX.1-1988, ustar). @throws RequestError for a name or size that has no room there */
const tarHeader = (name: string, size: number, modifiedS: number): Buffer => {
  if (Buffer.byteLength(name) > 100 || size >= 8 ** 11)
    throw new RequestError(422, `${name}: too long or too large for an archive; fetch the files one by one`)
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0)
  header.write(octal(0o644, 8) + octal(0, 8) + octal(0, 8) + octal(size, 12) + octal(modifiedS, 12), 100)
  header.write('        0', 148)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

const filesOf = ({ folder }: StoredCheckpoint): string[] => readdirSync(folder).sort()

async function* tarOf(stored: StoredCheckpoint): AsyncGenerator<Uint8Array> {
  for (const name of filesOf(stored)) {
    const path = join(stored.folder, name)
    const { size, mtimeMs } = statSync(path)
    yield tarHeader(name, size, Math.floor(mtimeMs / 1000))
    for await (const part of createReadStream(path)) yield part as Uint8Array
    if (size % BLOCK > 0) yield Buffer.alloc(BLOCK - (size % BLOCK))
  }
  yield Buffer.alloc(2 * BLOCK)
}

const streamOf = (readable: Readable): ReadableStream => Readable.toWeb(readable) as ReadableStream

class Downloads {
  readonly #checkpoints: Checkpoints
  readonly #secret = randomBytes(32)

  constructor(checkpoints: Checkpoints) {
    this.#checkpoints = checkpoints
  }

  #signature(what: string, expires: string): Buffer {
    return createHmac('sha256', this.#secret).update(`${expires} ${what}`).digest()
  }

  /** `what` is the path after the signature: MODEL/KIND/NAME, or that with a file. */
  #address(origin: string, what: string, expires: Date): string {
    const until = String(expires.getTime())
    return `${origin}${DOWNLOADS}${until}/${this.#signature(what, until).toString('hex')}/${what}`
  }

  /** Addresses of the archive and of each file. @throws RequestError 404 */
  offer(origin: string, path: string): { archive: string; files: Record<string, string>; expires: Date } {
    const stored = this.#checkpoints.find(path)
    const expires = new Date(Date.now() + GOOD_FOR_MS)
    const what = path.slice('tinker://'.length)
    return {
      archive: this.#address(origin, what, expires),
      files: Object.fromEntries(
        filesOf(stored).map(name => [name, this.#address(origin, `${what}/${name}`, expires)]),
      ),
      expires,
    }
  }

  /**
   * Who asks for the head alone gets no body, which nobody would read to its end.
   * @throws RequestError 401 for a signature that is none, 404 for what is not there
   */
  read({ until, signature, id, kind, name, file }: Record<string, string>, isHead: boolean): Response {
    const what = `${id}/${kind}/${name}${file === undefined ? '' : `/${file}`}`
    const given = Buffer.from(signature, 'hex')
    const right = this.#signature(what, until)
    const isRight = given.length === right.length && timingSafeEqual(given, right)
    if (!isRight || Number(until) < Date.now())
      throw new RequestError(401, 'this address is not good, or no longer; ask for another')
    const stored = this.#checkpoints.find(`tinker://${id}/${kind}/${name}`)
    if (file === undefined)
      return new Response(isHead ? null : streamOf(Readable.from(tarOf(stored))), {
        headers: {
          'content-type': 'application/x-tar',
          'content-disposition': `attachment; filename="${name}.tar"`,
        },
      })
    if (!filesOf(stored).includes(file)) throw new RequestError(404, `${name}: it has no file ${file}`)
    return new Response(isHead ? null : streamOf(createReadStream(join(stored.folder, file))), {
      headers: { 'content-type': 'application/octet-stream' },
    })
  }
}

/** Where the client reaches this server, as it said itself. */
const originOf = (context: Context<Env>): string => {
  const scheme = context.req.header('x-forwarded-proto') === 'https' ? 'https' : 'http'
  return `${scheme}://${context.req.header('host') ?? 'localhost'}`
}

/** @param checkpoint path of a checkpoint, with `id`, `kind` and `name` */
export const addDownloadRoutes = (api: Hono<Env>, checkpoint: string, checkpoints: Checkpoints): void => {
  const downloads = new Downloads(checkpoints)
  const offer = (context: Context<Env>) => {
    const { id, kind, name } = context.req.param() as Record<string, string>
    return downloads.offer(originOf(context), `tinker://${id}/${kind}/${name}`)
  }
  api.get(`${checkpoint}/archive`, context => {
    const { archive, expires } = offer(context)
    const headers = { location: archive, expires: expires.toUTCString() }
    return context.json({ url: archive, expires: expires.toISOString() }, 302, headers)
  })
  api.get(`${checkpoint}/external_weights_urls`, context => {
    const { files, expires } = offer(context)
    return context.json({ urls: files, expires: expires.toISOString() })
  })
  const signed = '/downloads/:until/:signature/:id/:kind{weights|sampler_weights}/:name'
  for (const path of [signed, `${signed}/:file`])
    api.get(path, context =>
      downloads.read(context.req.param() as Record<string, string>, context.req.method === 'HEAD'),
    )
}
