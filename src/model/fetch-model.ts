/**
 * @file Models by name, fetched to this machine: whoever is given a model waits for `fetchModel` once, and everything below
 * finds it by `modelPath`. What is fetched goes into the cache that the hub's Python client and others share.
 */

import { existsSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CheckpointError, DataError } from '../util/errors.ts'
import { formatBytes, formatDuration, plural, visible } from '../util/format.ts'
import { COMMIT } from '../util/hub-address.ts'
import { cachedCommit, cacheFolder, hasCachedFile, noteCommit, snapshotFolder } from '../util/hub-cache.ts'
import {
  type HubClient,
  type HubOptions,
  HubUnreachable,
  hubAnswerError,
  hubClient,
  isOffline,
} from '../util/hub-client.ts'
import { bytesFetched, fetchToCache, type ListedFile } from '../util/hub-fetch.ts'
import { bar, StatusLine } from '../util/status-line.ts'
import { companionNames } from './checkpoint.ts'
import { adapterBaseName, isAdapterFolder } from './lora-files.ts'
import {
  inSnapshot,
  isAddress,
  isGguf,
  isPlain,
  MODEL_FORM,
  type ModelName,
  modelNameOf,
  modelPath,
  noteModelPath,
  wholeGgufs,
} from './model-place.ts'
import { shardNames } from './weights.ts'

/** `config`: the shape alone, for a plan; `words`: that, tokenizer and chat template; `all`: what opens the model. */
export type ModelPart = 'config' | 'words' | 'all'

export interface FetchModelOptions extends Pick<HubOptions, 'endpoint' | 'retryMs' | 'signal'> {
  /** Default `all`. */
  only?: ModelPart
  /** Of an adapter fetch the base that it names, too. Default true. */
  withBase?: boolean
  /** Commits to take, by the names as they are written: those of a run that goes on. */
  pins?: ReadonlyMap<string, string>
  /** Called with every name and the commit that was taken. */
  onCommit?(name: string, commit: string): void
  /** Where size, licence and progress are shown; default stderr, null: nowhere. */
  status?: Pick<StatusLine, 'log' | 'renew' | 'close'> | null
}

/**
 * Brings a model to this machine, unless it is there, and of an adapter its base.
 * @param place folder, `.gguf` file, `package:...`, or a name on the hub (`model-place.ts`)
 * @returns its path; of a GGUF file that is not here, with `only: 'config'`, the place as it is, since its header is in the file
 * @throws UsageError, DataError, CheckpointError for what is no model or cannot be had; what was fetched until then is gone on with
 */
export const fetchModel = async (place: string, options: FetchModelOptions = {}): Promise<string> => {
  const name = modelNameOf(place)
  const path = name === null ? modelPath(place) : await bringNamed(name, place, options)
  if (options.withBase !== false && isAdapterFolder(path)) await bringBase(path, options)
  return path
}

/** A base that an adapter names by its name on the hub; what lies here, or is nowhere, is found or missed by whoever loads it. */
const bringBase = async (folder: string, options: FetchModelOptions): Promise<void> => {
  const base = adapterBaseName(folder)
  if (base !== null) await bringNamed(base, nameText(base), options)
}

const nameText = ({ repo, revision, file }: ModelName): string =>
  `${repo}${revision === null ? '' : `@${revision}`}${file === null ? '' : `/${file}`}`

/** What is asked for. */
interface Wanted {
  name: ModelName
  /** As it was written. */
  place: string
  only: ModelPart
}

const bringNamed = async (name: ModelName, place: string, options: FetchModelOptions): Promise<string> => {
  const pinned = options.pins?.get(place)
  const wanted = { name: { ...name, revision: pinned ?? name.revision }, place, only: options.only ?? 'all' }
  const { commit, path } = isOffline({}) ? offline(wanted) : await online(wanted, options)
  options.onCommit?.(place, commit)
  noteModelPath(place, path)
  return path
}

interface Found {
  commit: string
  path: string
}

const offline = ({ name, place, only }: Wanted): Found => {
  const commit = cachedCommit(name.repo, name.revision)
  const path = commit && ready(name, commit, only)
  if (path) return { commit, path }
  const lacks = commit && inSnapshot(name, commit) ? 'lacks parts of it' : 'does not have it'
  throw new CheckpointError(
    `${place}: the cache ${cacheFolder()} ${lacks}, and HF_HUB_OFFLINE forbids fetching it`,
    { hint: 'take HF_HUB_OFFLINE out of the environment once, or name a folder' },
  )
}

const online = async (wanted: Wanted, options: FetchModelOptions): Promise<Found> => {
  const { name, place, only } = wanted
  const before = cachedCommit(name.repo, name.revision)
  const there = before && ready(name, before, only)
  if (there && before === name.revision && hasWords(there, only)) return { commit: before, path: there }
  const form = isAddress(place) ? MODEL_FORM : `${MODEL_FORM}, or a folder of this machine that is there`
  const subject = { name: place, repo: { type: 'model' as const, name: name.repo }, form }
  const client = hubClient(subject, { ...options, ...(there && { attempts: 1 }) })
  const status = options.status === undefined ? new StatusLine(process.stderr) : options.status
  try {
    const about = await lookUp(client, name.revision)
    const { commit } = about
    let path = ready(name, commit, only)
    if (path === null || !hasWords(path, only)) path = await fetchAll(client, wanted, about, status)
    noteIfPossible(name, commit, status)
    return { commit, path }
  } catch (error) {
    if (!(error instanceof HubUnreachable) || !there) throw error
    status?.log(`${error.message}; going on with what the cache has, commit ${before.slice(0, 7)}`)
    return { commit: before, path: there }
  } finally {
    status?.close()
  }
}

/** A cache that is only read has its model all the same; without the note a name is not found when there is no network. */
const noteIfPossible = (
  { repo, revision }: ModelName,
  commit: string,
  status: FetchModelOptions['status'],
): void => {
  try {
    noteCommit(repo, revision, commit)
  } catch (error) {
    status?.log(`${repo}: which commit it is cannot be noted in the cache: ${(error as Error).message}`)
  }
}

const INDEX = 'model.safetensors.index.json'

const hasWeights = (folder: string): boolean =>
  hasCachedFile(folder, 'model.safetensors') ||
  (hasCachedFile(folder, INDEX) && shardNames(join(folder, INDEX)).every(name => hasCachedFile(folder, name)))

/** Whether a path has what no model is without: of a plan the configuration, of an adapter its own files. */
export const holdsModel = (path: string, only: ModelPart = 'all'): boolean => {
  if (isGguf(path)) return existsSync(path)
  if (hasCachedFile(path, 'adapter_config.json'))
    return only === 'config' || hasCachedFile(path, 'adapter_model.safetensors')
  return hasCachedFile(path, 'config.json') && (only !== 'all' || hasWeights(path))
}

/** The path of what the cache has of a model at a commit; null where something is missing. */
const ready = (name: ModelName, commit: string, only: ModelPart): string | null => {
  const path = inSnapshot(name, commit)
  return path !== null && holdsModel(path, only) ? path : null
}

/** Whether a folder is known to have its tokenizer; one that has none may be so on the hub as well. */
const hasWords = (path: string, only: ModelPart): boolean =>
  only === 'config' || isGguf(path) || isAdapterFolder(path) || hasCachedFile(path, 'tokenizer.json')

interface About {
  commit: string
  licence: string | null
}

/** The commit that a revision names, and what the model card says of the licence. */
const lookUp = async ({ subject, shared }: HubClient, revision: string | null): Promise<About> => {
  try {
    const { modelInfo } = await import('@huggingface/hub')
    const query = { ...shared, name: subject.repo.name, revision: revision ?? 'main' }
    const { sha, cardData } = await modelInfo({ ...query, additionalFields: ['sha', 'cardData'] })
    if (typeof sha !== 'string' || !COMMIT.test(sha)) throw new Error('no commit in it')
    const { license, license_name: own } = (cardData ?? {}) as Record<string, unknown>
    const licence = license === 'other' && typeof own === 'string' ? own : license
    return { commit: sha, licence: typeof licence === 'string' ? shown(licence) : null }
  } catch (error) {
    throw hubAnswerError(subject.name, error)
  }
}

/** A name from a model card, for a line of a terminal. */
const shown = (text: string): string => visible(text.replace(/\s+/g, ' ')).slice(0, 80)

/** Entries of one folder of a repository that are looked at, and the pages that a hub may spread them over. */
const MOST_ENTRIES = 10_000
const MOST_PAGES = 100

/** The files of a folder of the repository by path. @throws DataError for a listing that no git repository has */
const list = async (
  { subject, shared }: HubClient,
  commit: string,
  folder: string,
): Promise<Map<string, ListedFile>> => {
  const files = new Map<string, ListedFile>()
  try {
    const { listFiles } = await import('@huggingface/hub')
    const path = folder.split('/').map(encodeURIComponent).join('/')
    let pages = 0
    const nextPage: typeof fetch = (...request) => {
      if (++pages > MOST_PAGES) throw new Error(`more than ${MOST_PAGES} pages of files`)
      return shared.fetch(...request)
    }
    const entries = listFiles({ ...shared, fetch: nextPage, repo: subject.repo, revision: commit, path })
    let count = 0
    for await (const entry of entries) {
      if (++count > MOST_ENTRIES) throw new Error(`more than ${MOST_ENTRIES} files`)
      const file = entry.type === 'file' ? listedFile(entry) : null
      if (file !== null) files.set(file.path, file)
    }
    return files
  } catch (error) {
    throw hubAnswerError(subject.name, error)
  }
}

type Entry = { path: string; size: number; oid?: string; lfs?: { oid: string; size: number } }

/** A listed file; null for one that cannot be checked by size and hash, or would lie elsewhere: it is never fetched. */
const listedFile = ({ path, size, oid, lfs }: Entry): ListedFile | null => {
  const hash = lfs?.oid ?? oid
  const bytes = lfs?.size ?? size
  const isHash = typeof hash === 'string' && (lfs ? /^[\da-f]{64}$/ : COMMIT).test(hash)
  const isPath = typeof path === 'string' && isPlain(path)
  if (!isPath || !isHash || !Number.isSafeInteger(bytes) || bytes < 0) return null
  return { path, bytes, oid: hash, isLarge: lfs !== undefined && lfs !== null }
}

const CONFIGS = ['config.json', 'adapter_config.json']
const WORDS = [...CONFIGS, ...companionNames, 'tokenizer.model']
const WEIGHTS = ['model.safetensors', 'adapter_model.safetensors', 'value_head.safetensors']

/** Fetches what is missing. @returns the path */
const fetchAll = async (
  client: HubClient,
  { name, place, only }: Wanted,
  about: About,
  status: FetchModelOptions['status'],
): Promise<string> => {
  const { commit } = about
  const folder = snapshotFolder(name.repo, commit)
  const named = name.file === null ? '' : dirname(name.file)
  const files = await list(client, commit, named === '.' ? '' : named)
  const present = (names: readonly string[]) => names.flatMap(each => files.get(each) ?? [])
  const fetch = (wanted: readonly ListedFile[]) => fetchFiles(client, wanted, about, status)
  const gguf = name.file ?? theGguf(place, [...files.keys()])
  if (gguf !== null) {
    // Its shape is in its header; a plan goes by the name.
    if (only === 'config') return place
    const file = files.get(gguf)
    if (file === undefined) throw noSuchFile(place, gguf, wholeGgufs([...files.keys()]))
    await fetch([file])
    return join(folder, ...gguf.split('/'))
  }
  if (present(CONFIGS).length === 0) throw noModel(place, [...files.keys()])
  if (only === 'config') await fetchFiles(client, present(CONFIGS), about, null)
  else if (only === 'words') await fetch(present(WORDS))
  else {
    const index = files.has('model.safetensors') ? undefined : files.get(INDEX)
    if (index) await fetchFiles(client, [index], about, null)
    const shards = index ? shardNames(join(folder, INDEX)) : []
    const missing = shards.find(shard => !files.has(shard))
    if (missing !== undefined) throw noSuchFile(place, missing, [])
    const weights = present(index ? [...shards, ...WEIGHTS.slice(1)] : WEIGHTS)
    if (weights.length === 0) throw noModel(place, [...files.keys()])
    // Weights last: where they are, everything is.
    await fetch([...present(WORDS), ...weights])
  }
  return folder
}

/** The one model of a repository that has nothing but GGUF files; null where it has other weights. @throws DataError for several */
const theGguf = (place: string, names: readonly string[]): string | null => {
  if (names.some(name => name.endsWith('.safetensors'))) return null
  const ggufs = wholeGgufs(names)
  if (ggufs.length <= 1) return ggufs[0] ?? null
  throw new DataError(`${place}: expected one model, got a repository of ${ggufs.length} .gguf files`, {
    hint: `name one of them, as ${place}/FILE.gguf: ${ggufs.join(', ')}`,
  })
}

const noSuchFile = (place: string, file: string, others: readonly string[]): DataError =>
  new DataError(`${place}: the repository has no file ${file}`, {
    hint: others.length > 0 ? `it has ${others.join(', ')}` : `check the name: ${MODEL_FORM}`,
  })

const noModel = (place: string, names: readonly string[]): DataError => {
  const others = names.filter(name => /\.(?:bin|pth?|onnx|h5|msgpack|gguf)$/.test(name))
  return new DataError(
    `${place}: expected config.json with weights in safetensors, or a .gguf file, got ${others.length > 0 ? others.slice(0, 5).join(', ') : 'neither'}`,
    { hint: 'choose a repository that has one of them; most models have several' },
  )
}

/** Fetches files that are not there yet, one after the other. */
const fetchFiles = async (
  client: HubClient,
  files: readonly ListedFile[],
  { commit, licence }: About,
  status: FetchModelOptions['status'],
): Promise<void> => {
  const { name, repo } = client.subject
  const folder = snapshotFolder(repo.name, commit)
  const missing = files.filter(({ path }) => !hasCachedFile(folder, path))
  const total = missing.reduce((sum, { bytes }) => sum + bytes, 0)
  if (missing.length > 0)
    status?.log(
      `${name}: commit ${commit.slice(0, 7)}, licence ${licence ?? 'not stated'}: fetching ${plural(missing.length, 'file')}, ${formatBytes(total)}, into ${cacheFolder()}`,
    )
  assertRoom(name, total - missing.reduce((sum, file) => sum + bytesFetched(repo.name, file), 0))
  const progress = byteProgress(total)
  const onBytes = (count: number) => status?.renew(...progress(count))
  const onWaiting = () => status?.log(`${name}: another process fetches it; waiting`)
  for (const file of missing) await fetchToCache(client, file, { commit, onBytes, onWaiting })
}

/** @throws CheckpointError where the disk has no room for so many bytes, as far as the system says */
const assertRoom = (name: string, bytes: number): void => {
  let folder = cacheFolder()
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  if (bytes <= bavail * bsize) return
  throw new CheckpointError(
    `${name}: expected room for ${formatBytes(bytes)} in ${folder}, got ${formatBytes(bavail * bsize)}`,
    { hint: 'free some disk space, or name another place in HF_HOME' },
  )
}

/** A rate of fewer bytes says how long a request takes. */
const LEAST_BYTES = 1e6

/** Counts bytes; says how many there are of all, how fast they come, and how long it takes still. */
const byteProgress = (total: number) => {
  const begunMs = performance.now()
  let done = 0
  let first: number | null = null
  return (count: number): [() => string, boolean] => {
    done += count
    // What is there from an earlier attempt took no time.
    first ??= done
    const words = () => {
      const perSecond = ((done - first!) / (performance.now() - begunMs)) * 1000
      const rate =
        done - first! > LEAST_BYTES
          ? ` · ${formatBytes(perSecond)}/s · ${formatDuration((total - done) / perSecond)} left`
          : ''
      return `${bar(total === 0 ? 1 : done / total, 16)} ${formatBytes(done)} of ${formatBytes(total)}${rate}`
    }
    return [words, done >= total]
  }
}
