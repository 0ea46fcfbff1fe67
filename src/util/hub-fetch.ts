/**
 * @file A file of the hub into the shared cache: in parts that are tried again, gone on with where a fetch was broken off, checked
 * by size and hash, and there under its name only when it is whole.
 */

import { createHash, type Hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLeftover, syncFolder, temporaryPath } from './atomic.ts'
import { type ByteSource, PART_BYTES } from './byte-source.ts'
import { DataError } from './errors.ts'
import { fileFailure } from './file-failure.ts'
import { blobPath, linkBlob, snapshotFolder } from './hub-cache.ts'
import { type HubClient, openInRepo } from './hub-client.ts'
import { hashBytes } from './manifest.ts'

/** A file as a repository's listing has it. */
export interface ListedFile {
  path: string
  bytes: number
  /** SHA-256 of the content (`isLarge`: Git LFS), else git's SHA-1. Names the blob in the cache. */
  oid: string
  isLarge: boolean
}

export interface FetchOptions {
  commit: string
  /** Called with bytes as they come, and once of those that were there from an earlier attempt. */
  onBytes?(count: number): void
  /** Called once where another process fetches the same file, which is then waited for. */
  onWaiting?(): void
}

const hashOf = ({ isLarge, bytes }: ListedFile): Hash =>
  isLarge ? createHash('sha256') : createHash('sha1').update(`blob ${bytes}\0`)

const bytesAt = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null

const underWay = new Map<string, Promise<void>>()

/**
 * Brings a file into the cache, unless it is there.
 * @throws DataError for what cannot be had or written, and for other bytes than the listing names; what came stays for the next attempt
 */
export const fetchToCache = async (
  client: HubClient,
  file: ListedFile,
  options: FetchOptions,
): Promise<void> => {
  const { name: repo } = client.subject.repo
  const blob = blobPath(repo, file.oid)
  const pointer = join(snapshotFolder(repo, options.commit), ...file.path.split('/'))
  if (bytesAt(pointer) === file.bytes) return
  try {
    if (bytesAt(blob) !== file.bytes) {
      const fetching = underWay.get(blob) ?? fetchBlob(client, file, blob, options)
      underWay.set(blob, fetching)
      await fetching.finally(() => underWay.delete(blob))
    }
    linkBlob(blob, pointer)
  } catch (error) {
    throw fileFailure(pointer, error, { doing: 'cannot be written' })
  }
}

/** What of a blob processes have fetched so far, each in a file of its own. */
const partsBeside = (blob: string): string[] =>
  readdirSync(dirname(blob))
    .filter(name => name.startsWith(`${basename(blob)}.gradus-`) && name.endsWith('.tmp'))
    .map(name => join(dirname(blob), name))

/** What is fetched changes all the time; what has not for so long is left to whoever comes. */
const QUIET_MS = 60_000
const POLL_MS = 250

const isAlive = (path: string): boolean => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && Date.now() - found.mtimeMs < QUIET_MS && !isLeftover(path)
}

/** Another process that fetches the blob; of two that began at once the one with the smaller name goes on. */
const otherFetching = (blob: string, own: string, hasBegun: boolean): boolean =>
  partsBeside(blob).some(path => path !== own && (!hasBegun || path < own) && isAlive(path))

/** Bytes of a file that lie in the cache from earlier attempts. */
export const bytesFetched = (repo: string, { oid, bytes }: ListedFile): number => {
  const blob = blobPath(repo, oid)
  if (!existsSync(dirname(blob))) return 0
  return Math.min(bytes, Math.max(0, ...[blob, ...partsBeside(blob)].map(path => bytesAt(path) ?? 0)))
}

/** Takes over what a process that is gone has left. */
const adopt = (blob: string, own: string): void => {
  for (const path of partsBeside(blob)) {
    if (path === own || !isLeftover(path)) continue
    if ((bytesAt(path) ?? 0) <= (bytesAt(own) ?? -1)) rmSync(path, { force: true })
    else renameSync(path, own)
  }
}

const fetchBlob = async (
  client: HubClient,
  file: ListedFile,
  blob: string,
  options: FetchOptions,
): Promise<void> => {
  mkdirSync(dirname(blob), { recursive: true })
  const own = temporaryPath(blob)
  let hasBegun = false
  let isWaiting = false
  for (;;) {
    client.signal?.throwIfAborted()
    if (bytesAt(blob) === file.bytes) {
      options.onBytes?.(file.bytes)
      return rmSync(own, { force: true })
    }
    if (otherFetching(blob, own, hasBegun)) {
      if (hasBegun) rmSync(own, { force: true })
      hasBegun = false
      if (!isWaiting) options.onWaiting?.()
      isWaiting = true
      await sleep(POLL_MS)
      continue
    }
    if (hasBegun) break
    adopt(blob, own)
    await (await open(own, 'a')).close()
    hasBegun = true
  }
  await fillAndCheck(client, file, own, options)
  renameSync(own, blob)
  syncFolder(dirname(blob))
}

/** What an earlier attempt left may be faulty, or of a disk that failed: then it is fetched once more from its beginning. */
const fillAndCheck = async (
  client: HubClient,
  file: ListedFile,
  own: string,
  options: FetchOptions,
): Promise<void> => {
  const there = bytesAt(own) ?? 0
  const got = await fill(client, file, own, options)
  if (got === file.oid) return
  options.onBytes?.(-file.bytes)
  truncateSync(own)
  if (there > 0) return fillAndCheck(client, file, own, options)
  rmSync(own)
  throw new DataError(
    `${client.subject.name}: ${file.path}: expected bytes with the ${file.isLarge ? 'SHA-256' : 'git hash'} ${file.oid}, got ${got}`,
    { hint: 'what came was damaged on its way, or is not what the repository lists; try again' },
  )
}

/** Appends what is missing. @returns the hash of all of it */
const fill = async (
  client: HubClient,
  file: ListedFile,
  path: string,
  { commit, onBytes }: FetchOptions,
): Promise<string> => {
  const there = bytesAt(path) ?? 0
  const hash = hashOf(file)
  if (there > file.bytes) truncateSync(path)
  const start = there > file.bytes ? 0 : hashBytes(hash, path, there)
  onBytes?.(start)
  const handle = await open(path, 'a')
  try {
    if (start < file.bytes) await append(handle, await opened(client, file, commit), { start, hash, onBytes })
    await handle.sync()
  } finally {
    await handle.close()
  }
  return hash.digest('hex')
}

const opened = async (client: HubClient, file: ListedFile, commit: string): Promise<ByteSource> => {
  const source = await openInRepo(client, commit, file.path)
  if (source.size === file.bytes) return source
  throw new DataError(
    `${client.subject.name}: ${file.path}: expected ${file.bytes} bytes, as the repository lists it, got ${source.size}`,
    { hint: 'try again later; the hub, or HF_ENDPOINT, does not agree with itself' },
  )
}

/** A part is asked for while the one before is written. */
const append = async (
  handle: FileHandle,
  source: ByteSource,
  { start, hash, onBytes }: { start: number; hash: Hash } & Pick<FetchOptions, 'onBytes'>,
): Promise<void> => {
  const ask = (at: number) => {
    const part = source.read(at, Math.min(source.size, at + PART_BYTES))
    // Where the write before fails, nobody waits for it.
    part.catch(() => {})
    return part
  }
  let next = ask(start)
  for (let at = start; at < source.size; ) {
    const part = await next
    at += part.length
    if (at < source.size) next = ask(at)
    hash.update(part)
    await handle.appendFile(part)
    onBytes?.(part.length)
  }
}
