/** @file What an index is built of: JSON Lines, Markdown, plain text, and folders of them, one document at a time. */

import { type Dirent, readdirSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { DataError } from '../util/errors.ts'
import { withFile } from '../util/file-failure.ts'
import { isHubAddress } from '../util/hub-address.ts'
import { parseRow } from '../util/jsonl.ts'
import { isRecord, ownValue } from '../util/own-value.ts'
import { needsPrefetch } from '../util/prefetched-rows.ts'
import { streamRows } from '../util/row-stream.ts'
import { describeKeys, describeValue } from '../util/schema.ts'
import { readText } from '../util/text-file.ts'
import { sectionsOf } from './passages.ts'

/** A text with what it is cited by. Long ones become several passages. */
export interface SourceDocument {
  id: string
  title?: string
  text: string
  /** Where it came from: a file, or a line of one. */
  place: string
}

/** Which fields of a JSON Lines row hold what. */
export interface RowKeys {
  id: string
  title: string
  text: string
}

export const ROW_KEYS: RowKeys = { id: 'id', title: 'title', text: 'text' }

const JSONL = new Set(['.jsonl', '.ndjson'])
const MARKDOWN = new Set(['.md', '.markdown'])
const PLAIN = new Set(['.txt', '.text'])

const isRows = (path: string): boolean => needsPrefetch(path) || JSONL.has(extname(path).toLowerCase())

/** Called with what is not read. */
export type OnSkipped = (path: string, why: string) => void

/** @throws DataError for what is neither a file nor a folder: a pipe without a writer is waited for without end */
const isFolder = (path: string): boolean => {
  const found = withFile(path, () => statSync(path))
  if (found.isDirectory()) return true
  if (found.isFile()) return false
  throw new DataError(
    `${path}: expected a file or a folder, got ${found.isFIFO() ? 'a pipe' : 'something else'}`,
    { hint: 'name a file; JSON Lines of another command can be read from standard input (-)' },
  )
}

/** Files of a folder that can be read here, by name; links are not followed, and what begins with a dot is left alone. */
const filesBelow = function* (folder: string, onSkipped: OnSkipped): Generator<string> {
  const entries: Dirent[] = withFile(folder, () => readdirSync(folder, { withFileTypes: true }))
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    const kind = extname(entry.name).toLowerCase()
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory()) yield* filesBelow(path, onSkipped)
    else if (!entry.isFile()) onSkipped(path, 'no plain file')
    else if (isRows(path) || MARKDOWN.has(kind) || PLAIN.has(kind)) yield path
    else onSkipped(path, 'neither JSON Lines, Parquet, Markdown nor plain text by its name')
  }
}

/** Nobody's citation is longer. */
const MAX_ID = 500

const idOf = (value: unknown, key: string, place: string): string | undefined => {
  if (value === undefined || value === null) return undefined
  const id = typeof value === 'number' && Number.isFinite(value) ? String(value) : value
  if (typeof id === 'string' && id.trim() !== '' && id.length <= MAX_ID) return id
  throw new DataError(
    `${place}: ${key}: expected a text of 1 to ${MAX_ID} characters or a number, got ${describeValue(value)}; correct it, or name another key`,
  )
}

const rowDocument = (row: unknown, keys: RowKeys, place: string): SourceDocument => {
  if (!isRecord(row))
    throw new DataError(`${place}: expected an object, got ${describeValue(row)}; one document a line`)
  const text = ownValue(row, keys.text)
  if (typeof text !== 'string')
    throw new DataError(
      `${place}: ${keys.text}: expected a text, got ${text === undefined ? describeKeys(row) : describeValue(text)}; name the key that holds the text`,
    )
  const title = ownValue(row, keys.title)
  if (title !== undefined && title !== null && typeof title !== 'string')
    throw new DataError(
      `${place}: ${keys.title}: expected a text, got ${describeValue(title)}; correct this value`,
    )
  const id = idOf(ownValue(row, keys.id), keys.id, place) ?? place
  return { id, ...(title ? { title } : {}), text, place }
}

async function* jsonlDocuments(path: string, keys: RowKeys): AsyncGenerator<SourceDocument> {
  for await (const { place, text } of streamRows(path))
    yield rowDocument(
      parseRow(text, place, row => row),
      keys,
      place,
    )
}

/** One document a section; its title is the headings above it, or the file's name. */
function* markdownDocuments(path: string): Generator<SourceDocument> {
  const sections = sectionsOf(readText(path))
  for (const [index, { headings, text }] of sections.entries()) {
    const title = headings.length > 0 ? headings.join(' > ') : basename(path)
    yield { id: sections.length === 1 ? path : `${path}#${index + 1}`, title, text, place: path }
  }
}

async function* fileDocuments(path: string, keys: RowKeys): AsyncGenerator<SourceDocument> {
  const kind = extname(path).toLowerCase()
  if (path === '-' || isRows(path)) yield* jsonlDocuments(path, keys)
  else if (MARKDOWN.has(kind)) yield* markdownDocuments(path)
  else yield { id: path, title: basename(path), text: readText(path), place: path }
}

/**
 * The documents of files and folders, in the order given, folders by name. A file is read by the end of its name: JSON Lines
 * (also compressed by gzip, Parquet, `-` for standard input, and `hf://` for the hub), Markdown, anything else as plain text. Pipes and devices are refused.
 * @throws DataError naming the file and the line of what cannot be read
 * @example
 * const { writeFileSync } = await import('node:fs')
 * writeFileSync('rivers.jsonl', '{"name": "aare", "text": "The Aare flows through Bern."}\n')
 * const documents = readDocuments(['rivers.jsonl'], { ...ROW_KEYS, id: 'name' })
 * const { value } = await documents.next()
 * value // { id: 'aare', text: 'The Aare flows through Bern.', place: 'rivers.jsonl:1' }
 */
export async function* readDocuments(
  paths: readonly string[],
  keys: RowKeys = ROW_KEYS,
  onSkipped: OnSkipped = () => {},
): AsyncGenerator<SourceDocument> {
  for (const path of paths)
    if (path !== '-' && !isHubAddress(path) && isFolder(path))
      for (const file of filesBelow(path, onSkipped)) yield* fileDocuments(file, keys)
    else yield* fileDocuments(path, keys)
}
