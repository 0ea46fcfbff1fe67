/**
 * @file How a model is named: a folder, a `.gguf` file, `package:models/x`, or a name on the Hugging Face hub,
 * `OWNER/NAME[@REVISION]` or `hf://OWNER/NAME[@REVISION]`, with `/FILE.gguf` behind it for one file. What is here goes first:
 * a name without hf:// whose OWNER is a folder of this place is a path.
 */

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../util/errors.ts'
import { decoded } from '../util/hub-address.ts'
import { cachedCommit, snapshotFolder } from '../util/hub-cache.ts'
import { resolveShipped } from '../util/package.ts'

/** A model on the hub. */
export interface ModelName {
  /** OWNER/NAME */
  repo: string
  /** A branch, a tag or a commit; null: the main branch. */
  revision: string | null
  /** One `.gguf` file of the repository; null: the model that it holds. */
  file: string | null
}

export const MODEL_FORM = 'OWNER/NAME[@REVISION][/FILE.gguf]'

const SCHEME = /^hf:\/\//i
/** Whether a text can be nothing but a name on the hub. */
export const isAddress = (place: string): boolean => SCHEME.test(place)

const PART = '[A-Za-z\\d_][\\w.-]{0,95}'
const NAME = new RegExp(
  `^(${PART}/${PART})(?:@(refs/(?:convert|pr)/[^/\\s]+|[^/\\s]+))?(?:/([^\\\\]+\\.gguf))?$`,
  'i',
)

/** Whether a path of a repository, or a revision, can be one of files here: nothing in it leads out of a folder. */
export const isPlain = (path: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no name that a hub has holds any
  path.split('/').every(part => part !== '' && part !== '.' && part !== '..' && !/[\\\0-\x1f]/.test(part))

/** What the hub's addresses begin with for other things than a model's owner. */
const NO_OWNERS = new Set(['models', 'datasets', 'spaces', 'kernels', 'buckets'])

/** A name in its parts; null for a text of another form. @throws DataError for a revision with a faulty % in it */
const parse = (text: string, place: string): ModelName | null => {
  const [, repo, named, file] = NAME.exec(text) ?? []
  if (repo === undefined || NO_OWNERS.has(repo.split('/')[0])) return null
  const revision = named === undefined ? null : decoded(named, place)
  if ((revision !== null && !isPlain(revision)) || (file !== undefined && !isPlain(file))) return null
  return { repo, revision, file: file ?? null }
}

/**
 * The model on the hub that a text names; null where it names a place on this machine.
 * @throws UsageError for an `hf://` address of another form
 */
export const modelNameOf = (place: string): ModelName | null => {
  if (!isAddress(place)) {
    const isHere = existsSync(place) || existsSync(place.split('/')[0])
    return isHere ? null : parse(place, place)
  }
  const name = parse(place.replace(SCHEME, ''), place)
  if (name !== null) return name
  throw new UsageError(`${place}: expected hf://${MODEL_FORM}, got another form`, {
    hint: 'name a model, or one .gguf file of its repository; a data set is no model',
  })
}

export const isGguf = (path: string): boolean => /\.gguf$/i.test(path)

/** A model in several files, and what models of pictures bring beside it. */
const IS_NO_WHOLE_GGUF = /-\d{5}-of-\d{5}\.gguf$|(?:^|\/)mmproj[^/]*$/i

/** Of a repository's files those that are a whole model in GGUF. */
export const wholeGgufs = (names: readonly string[]): string[] =>
  names.filter(name => isGguf(name) && !IS_NO_WHOLE_GGUF.test(name)).sort()

/** Where a name's model lies in the cache at a commit; null where nothing of it is there. */
export const inSnapshot = ({ repo, file }: ModelName, commit: string): string | null => {
  const folder = snapshotFolder(repo, commit)
  const path = file === null ? folder : join(folder, ...file.split('/'))
  if (!existsSync(path)) return null
  const isFolder = ['config.json', 'adapter_config.json'].some(name => existsSync(join(folder, name)))
  if (file !== null || isFolder) return path
  const ggufs = wholeGgufs(readdirSync(folder))
  return ggufs.length === 1 ? join(folder, ggufs[0]) : path
}

/** Where a name's model lies in the cache, by the commit that its revision named when it was last looked up. */
export const inCache = (name: ModelName): string | null => {
  const commit = cachedCommit(name.repo, name.revision)
  return commit === null ? null : inSnapshot(name, commit)
}

const fetched = new Map<string, string>()

/** Notes where `fetchModel` has put a model. */
export const noteModelPath = (place: string, path: string): void => {
  fetched.set(place, path)
}

/**
 * The path of a model on this machine: of a name what `fetchModel` has fetched, else what the cache has. What is not there comes
 * back as it is, for whoever reads it to say so.
 * @throws UsageError for an `hf://` address of another form
 */
export const modelPath = (place: string): string => {
  const known = fetched.get(place)
  if (known !== undefined) return known
  const name = modelNameOf(place)
  return name === null ? resolveShipped(place) : (inCache(name) ?? place)
}
