/**
 * @file Addresses of the Hugging Face hub: `hf://datasets/OWNER/NAME[@REVISION]/PATH`, as its Python client writes them
 * (huggingface_hub, `HfFileSystem`). Apart from what asks the hub, for whoever only tells them from paths.
 */

import { DataError } from './errors.ts'

export const COMMIT = /^[\da-f]{40}$/

/** A file of a data set. */
export interface HubAddress {
  repo: string
  /** A branch, a tag or a commit; null: the main branch. */
  revision: string | null
  path: string
}

const SCHEME = 'hf://'
export const DATA_FORM = 'hf://datasets/OWNER/NAME[@REVISION]/PATH'
const ADDRESS =
  /^hf:\/\/datasets\/([\w.-]+\/[\w.-]+?)(?:@(refs\/(?:convert|pr)\/[^/]+|[^/]+))?\/([^\s/][^\\]*)$/

export const isHubAddress = (source: string): boolean => source.toLowerCase().startsWith(SCHEME)

/** @throws DataError for an address of another form */
export const parseHubAddress = (source: string): HubAddress => {
  const [, repo, revision, path] = ADDRESS.exec(source) ?? []
  const isPlain = path?.split('/').every(part => part !== '' && part !== '.' && part !== '..')
  if (repo === undefined || !isPlain)
    throw new DataError(`${source}: expected ${DATA_FORM}, got another form`, {
      hint: 'name one file of a data set; a model or a space is no data',
    })
  return { repo, revision: revision === undefined ? null : decoded(revision, source), path }
}

/** A revision of an address, whose slashes may be written %2F. @throws DataError */
export const decoded = (revision: string, source: string): string => {
  try {
    return decodeURIComponent(revision)
  } catch {
    throw new DataError(`${source}: expected a revision, got one with a faulty % in it`)
  }
}
