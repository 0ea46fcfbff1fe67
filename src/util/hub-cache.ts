/**
 * @file The cache that the Hugging Face hub's Python client and others share on a machine:
 * `HUB/models--OWNER--NAME/{blobs,refs,snapshots}` (huggingface_hub, "Understand caching"). Where things lie, and what is there.
 */

import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { temporaryPath, writeFileAtomic } from './atomic.ts'
import { COMMIT } from './hub-address.ts'

const expanded = (path: string): string => path.replace(/^~(?=$|[\\/])/, homedir())

/** `HF_HUB_CACHE`, else `hub` in `HF_HOME`, as the hub's clients have it. */
export const cacheFolder = (): string => {
  const { env } = process
  const own = env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE
  const home = env.HF_HOME || join(env.XDG_CACHE_HOME || join('~', '.cache'), 'huggingface')
  return expanded(own || join(home, 'hub'))
}

/** Folder of a model's repository in the cache. @param repo OWNER/NAME */
const repoFolder = (repo: string): string => join(cacheFolder(), `models--${repo.replace('/', '--')}`)

export const snapshotFolder = (repo: string, commit: string): string =>
  join(repoFolder(repo), 'snapshots', commit)

/** The commit that a revision named when it was last looked up; null where it never was. */
export const cachedCommit = (repo: string, revision: string | null): string | null => {
  if (revision !== null && COMMIT.test(revision)) return revision
  try {
    const commit = readFileSync(join(repoFolder(repo), 'refs', revision ?? 'main'), 'utf8').trim()
    return COMMIT.test(commit) ? commit : null
  } catch {
    return null
  }
}

/** Notes which commit a revision names; a commit names itself. */
export const noteCommit = (repo: string, revision: string | null, commit: string): void => {
  if (revision === commit || cachedCommit(repo, revision) === commit) return
  writeFileAtomic(join(repoFolder(repo), 'refs', revision ?? 'main'), commit)
}

/** What a path in the cache is called on the hub; null for a path elsewhere. */
export interface CachedName {
  repo: string
  commit: string
  /** Within the repository; null: all of it. */
  file: string | null
}

const CACHED =
  /[\\/]models--((?:(?!--)[\w.-])+)--([\w.-]+)[\\/]snapshots[\\/]([\da-f]{40})(?:[\\/](.+?))?[\\/]?$/

export const cachedName = (path: string): CachedName | null => {
  const [, owner, name, commit, file] = CACHED.exec(path) ?? []
  if (commit === undefined) return null
  return { repo: `${owner}/${name}`, commit, file: file === undefined ? null : file.replaceAll('\\', '/') }
}

/** Shows a blob under its name in a snapshot. Where the system has no symbolic links the file is copied, as the hub's clients do. */
export const linkBlob = (blob: string, pointer: string): void => {
  mkdirSync(dirname(pointer), { recursive: true })
  const temporary = temporaryPath(pointer)
  rmSync(temporary, { force: true })
  try {
    symlinkSync(relative(dirname(pointer), blob), temporary)
  } catch {
    copyFileSync(blob, temporary)
  }
  renameSync(temporary, pointer)
}

/** Whether a file of a snapshot is there, with what it points to. */
export const hasCachedFile = (snapshot: string, name: string): boolean => existsSync(join(snapshot, name))

export const blobPath = (repo: string, oid: string): string => join(repoFolder(repo), 'blobs', basename(oid))
