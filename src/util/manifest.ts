/**
 * @file What a folder holds, written beside it: every file with its size and SHA-256, and a digest of the list itself. A folder
 * that was written whole and not touched since agrees with its manifest; one that does not says which file is the matter.
 */

import { createHash, type Hash } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { z } from 'zod'
import { hasFile, writeFileAtomic } from './atomic.ts'
import { canonicalJson } from './canonical.ts'
import { CheckpointError } from './errors.ts'
import { withFile } from './file-failure.ts'

const MANIFEST_FILE = 'manifest.json'

const VERSION = 1
const CHUNK_BYTES = 1 << 20

const digest = z.string().regex(/^[0-9a-f]{64}$/)
const size = z.int().nonnegative()
const fileSchema = z.strictObject({ bytes: size, sha256: digest })
const manifestSchema = z.strictObject({
  formatVersion: z.literal(VERSION),
  /** By path from the folder, with slashes. */
  files: z.record(z.string(), fileSchema),
  /** What else the writer knows; its own matter. */
  about: z.record(z.string(), z.unknown()),
  /** Of everything above, so that a changed manifest is noticed as well. */
  sha256: digest,
})

export type FileEntry = z.output<typeof fileSchema>
export type Manifest = z.output<typeof manifestSchema>

const digestOf = ({ sha256: _, ...rest }: Omit<Manifest, 'sha256'> & { sha256?: string }): string =>
  createHash('sha256').update(canonicalJson(rest)).digest('hex')

/** Reads part of a file into a hash, a chunk at a time. Returns the bytes that there were. */
export const hashBytes = (hash: Hash, path: string, end = Number.POSITIVE_INFINITY): number => {
  // Refuses a pipe, at which opening would wait.
  hasFile(path)
  const fd = openSync(path, 'r')
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  let done = 0
  try {
    while (done < end) {
      const count = readSync(fd, buffer, 0, Math.min(CHUNK_BYTES, end - done), done)
      if (count === 0) break
      hash.update(buffer.subarray(0, count))
      done += count
    }
    return done
  } finally {
    closeSync(fd)
  }
}

/** Size and hash of a file. */
export const hashFile = (path: string): FileEntry => {
  const hash = createHash('sha256')
  const bytes = hashBytes(hash, path)
  return { bytes, sha256: hash.digest('hex') }
}

/** The same, with the event loop free between chunks of a mebibyte. */
const hashFileInTurns = async (path: string): Promise<FileEntry> => {
  const file = await open(path, 'r')
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, bytes)
      if (bytesRead === 0) break
      hash.update(buffer.subarray(0, bytesRead))
      bytes += bytesRead
    }
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    await file.close()
  }
}

/** Paths of a folder's files, with slashes, the manifest left out. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
    .filter(name => name !== MANIFEST_FILE)
    .sort()

/** Lists what a folder holds now and writes the manifest, last of its files. `about` must be JSON. */
export const writeManifest = async (folder: string, about: Record<string, unknown>): Promise<Manifest> => {
  const files: Record<string, FileEntry> = {}
  for (const name of filesIn(folder)) files[name] = await hashFileInTurns(join(folder, name))
  const content = { formatVersion: VERSION, files, about } as const
  const manifest: Manifest = { ...content, sha256: digestOf(content) }
  writeFileAtomic(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

/**
 * The manifest of a folder; null where there is none, as in folders of other programs.
 * @throws CheckpointError for a damaged one
 */
export const readManifest = (folder: string): Manifest | null => {
  const path = join(folder, MANIFEST_FILE)
  if (!hasFile(path)) return null
  const text = withFile(path, () => readFileSync(path, 'utf8'), { ErrorKind: CheckpointError })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CheckpointError(`${path}: not JSON (${(error as Error).message})`)
  }
  // A folder of another program may have a file of this name.
  if (!isOurs(value)) return null
  const parsed = manifestSchema.safeParse(value)
  if (!parsed.success) {
    const { path: place, message } = parsed.error.issues[0]
    throw new CheckpointError(`${path}: ${place.join('.')}: ${message}`, {
      hint: 'a later version of Gradus may have written it, or it was changed',
    })
  }
  if (parsed.data.sha256 !== digestOf(parsed.data))
    throw new CheckpointError(`${path}: it was changed after it was written`)
  return parsed.data
}

const isOurs = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'formatVersion' in value && 'files' in value

export interface ManifestCheck {
  /** Only these files; all by default. */
  only?: (name: string) => boolean
  /** Sizes alone: at once, and blind to flipped bits. */
  sizesOnly?: boolean
}

/** What is the matter with a folder's files, a sentence each; none where all is as the manifest says. */
export const manifestProblems = (
  folder: string,
  { files }: Pick<Manifest, 'files'>,
  { only = () => true, sizesOnly = false }: ManifestCheck = {},
): string[] =>
  Object.entries(files)
    .filter(([name]) => only(name))
    .flatMap(([name, entry]) => fileProblem(folder, name, entry, sizesOnly) ?? [])

const fileProblem = (
  folder: string,
  name: string,
  expected: FileEntry,
  sizesOnly: boolean,
): string | null => {
  const path = join(folder, name)
  try {
    const { size: bytes } = statSync(path)
    if (bytes !== expected.bytes) return `${name}: expected ${expected.bytes} bytes, got ${bytes}`
    if (sizesOnly || hashFile(path).sha256 === expected.sha256) return null
    return `${name}: its bytes are not those that were saved (SHA-256)`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? `${name} is missing` : `${name}: cannot be read (${code})`
  }
}

/** Files that nobody listed. */
export const unlistedFiles = (folder: string, { files }: Pick<Manifest, 'files'>): string[] =>
  filesIn(folder).filter(name => !Object.hasOwn(files, name))

/**
 * Refuses a folder that is not as it was saved. One without a manifest passes.
 * @throws CheckpointError naming what is the matter
 */
export const assertAsSaved = (folder: string, check: ManifestCheck = {}): void => {
  const manifest = readManifest(folder)
  const problems = manifest ? manifestProblems(folder, manifest, check) : []
  if (problems.length === 0) return
  throw new CheckpointError(`${folder}: not as it was saved: ${problems.join('; ')}`, {
    hint: `use another checkpoint or a copy of this one; if you changed it on purpose, remove its ${MANIFEST_FILE}`,
  })
}
