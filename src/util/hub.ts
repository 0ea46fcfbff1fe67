/** @file Files of data sets on the Hugging Face hub, by their addresses. Read in parts, each of them tried again where it failed. */

import type { ByteSource } from './byte-source.ts'
import { DataError } from './errors.ts'
import { COMMIT, DATA_FORM, parseHubAddress } from './hub-address.ts'
import {
  type HubClient,
  type HubOptions,
  hubAnswerError,
  hubClient,
  isOffline,
  openInRepo,
} from './hub-client.ts'

export type { HubOptions } from './hub-client.ts'

/** A file of a data set at a commit. */
export interface HubFile extends ByteSource {
  /** Forty hexadecimal digits; what is read is of this commit, whatever happens to the branch. */
  commit: string
}

/**
 * Opens a file of a data set. A branch or tag is looked up once, and everything is read from the commit that it then names.
 * @param pinned the commit to read from, where an earlier run has looked it up
 * @throws DataError for an address of another form, and for what cannot be had: no such file, no permission, no network
 */
export const openHubFile = async (
  source: string,
  { pinned, ...options }: HubOptions & { pinned?: string } = {},
): Promise<HubFile> => {
  const { repo, revision, path } = parseHubAddress(source)
  if (isOffline(options))
    throw new DataError(`${source}: cannot be read: HF_HUB_OFFLINE forbids it`, {
      hint: 'take it out of the environment, or download the file and name the copy',
    })
  const client = hubClient({ name: source, repo: { type: 'dataset', name: repo }, form: DATA_FORM }, options)
  const isCommit = revision !== null && COMMIT.test(revision)
  const commit = isCommit ? revision : (pinned ?? (await commitOf(client, revision)))
  return { ...(await openInRepo(client, commit, path)), commit }
}

const commitOf = async ({ subject, shared }: HubClient, revision: string | null): Promise<string> => {
  try {
    const { datasetInfo } = await import('@huggingface/hub')
    const query = { ...shared, name: subject.repo.name, revision: revision ?? 'main' }
    const { sha } = await datasetInfo({ ...query, additionalFields: ['sha'] })
    if (typeof sha === 'string' && COMMIT.test(sha)) return sha
    throw new Error('no commit in it')
  } catch (error) {
    throw hubAnswerError(subject.name, error)
  }
}
