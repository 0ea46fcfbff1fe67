/** @file What a server keeps for good: checkpoints by their paths, `tinker://RUN/weights/NAME`; removing them, fetching their files. */

import { gunzipSync } from 'node:zlib'
import { parseTar } from 'nanotar'
import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { type Connection, jsonOf, type TinkerResponse } from './connection.ts'
import { TinkerError } from './errors.ts'

const PATH = /^tinker:\/\/([^/]+)\/(?:(weights|sampler_weights)\/)?([^/]+)$/

export type StoredKind = 'weights' | 'sampler_weights'

/** Where a checkpoint lies below the server's address, with its kind and without; null for what is no path of one. */
const placesOf = (path: string, kind: StoredKind): { full: string; short: string } | null => {
  const [, run, said = kind, name] = PATH.exec(path) ?? []
  if (run === undefined) return null
  const place = (id: string) => `training_runs/${encodeURIComponent(run)}/checkpoints/${id}`
  return { full: place(`${said}/${encodeURIComponent(name)}`), short: place(encodeURIComponent(name)) }
}

/** What servers say that do not have, or cannot do, what was asked for. */
const NOT_OFFERED = [400, 404, 405, 501]

/**
 * Has a checkpoint removed; true where the server did so, false where it has none or cannot.
 * @param kind where the path does not say: some servers leave it out
 * @throws TinkerError where it cannot be asked
 */
export const deleteStored = async (
  connection: Connection,
  path: string,
  kind: StoredKind,
): Promise<boolean> => {
  const places = placesOf(path, kind)
  if (places === null) return false
  const options = { method: 'DELETE', expected: NOT_OFFERED } as const
  return (await connection.call(places.full, undefined, options)).status < 300
}

/**
 * Files of weights to sample from, an adapter in PEFT's layout, by their names; null where the server hands none out.
 * @throws TinkerError where it cannot be asked, and for an archive that is none
 */
export const fetchStored = async (
  connection: Connection,
  path: string,
): Promise<ReadonlyMap<string, Uint8Array> | null> => {
  const places = placesOf(path, 'sampler_weights')
  if (places === null) return null
  // SkyRL's server knows the address without the kind alone.
  for (const place of [places.full, places.short]) {
    const answer = await connection.call(`${place}/archive`, undefined, {
      method: 'GET',
      expected: [302, 303, 307, ...NOT_OFFERED],
    })
    if (!NOT_OFFERED.includes(answer.status)) return filesOf(await archiveOf(connection, answer), path)
  }
  return null
}

const offerSchema = z.looseObject({ url: z.string() })

/** An offer is a redirection, an address as JSON, or the archive itself. */
const archiveOf = async (connection: Connection, answer: TinkerResponse): Promise<Uint8Array> => {
  const isJson = answer.contentType.includes('json')
  if (answer.location === null && !isJson) return answer.bytes
  const address =
    answer.location ?? parseWith(offerSchema, jsonOf(answer, 'archive'), 'archive', DataError).url
  const options = { method: 'GET', accept: '*/*', name: 'the archive' } as const
  return (await connection.call(new URL(address, connection.origin).href, undefined, options)).bytes
}

const GZIP = [0x1f, 0x8b]
/** A name without a folder: nothing of an archive may land elsewhere. */
const PLAIN_NAME = /^(?:\.?\/)*([\w-][\w.-]*)$/

/** @throws TinkerError for what is no archive of plain files */
const filesOf = (archive: Uint8Array, path: string): Map<string, Uint8Array> => {
  try {
    const bytes = GZIP.every((byte, i) => archive[i] === byte) ? gunzipSync(archive) : archive
    // A copy: the parser reads from the beginning of the memory that a view lies in.
    const files = parseTar(new Uint8Array(bytes)).flatMap(({ type, name, size, data }) => {
      const [, plain] = PLAIN_NAME.exec(name) ?? []
      if (type !== 'file' || plain === undefined || !data) return []
      if (data.length !== size) throw new DataError(`${plain} with ${data.length} of ${size} bytes`)
      return [[plain, data] as const]
    })
    // An archive that was cut short between two files looks whole.
    const found = new Map(files)
    if (found.has('adapter_config.json') && files.some(([name]) => name.startsWith('adapter_model')))
      return found
  } catch (cause) {
    throw noArchive(path, (cause as Error).message, cause)
  }
  throw noArchive(path, 'one that lacks adapter_config.json or adapter_model')
}

const noArchive = (path: string, found: string, cause?: unknown): TinkerError =>
  new TinkerError('malformed', `${path}: expected an archive (tar) of an adapter's files, got ${found}`, {
    hint: 'look at the server, or fetch them by its own tools',
    cause,
  })
