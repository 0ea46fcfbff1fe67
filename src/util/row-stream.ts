/** @file Rows of whatever a user names: JSON Lines, Parquet, on this machine or on the hub; one after the other, or all beforehand. */

import { createGunzip } from 'node:zlib'
import { type ByteSource, openFile, partsOf } from './byte-source.ts'
import { AS_THEY_ARE, type Columns, checkColumns, renameInText } from './column-names.ts'
import { DataError, GradusError } from './errors.ts'
import { type HubOptions, openHubFile } from './hub.ts'
import { isHubAddress } from './hub-address.ts'
import { type JsonlLine, MAX_LINE_BYTES, streamJsonl } from './jsonl-stream.ts'
import { parquetRows } from './parquet.ts'
import { isParquet, keepRows, needsPrefetch } from './prefetched-rows.ts'
import { textLines } from './text-file.ts'

export interface RowOptions extends HubOptions {
  columns?: Columns
  /** Of a file on the hub the commit to read from; default: the one that its revision names now. */
  pinned?: string
  /** Called once, before the first row, with the commit of a file on the hub that is read. */
  onCommit?(commit: string): void
  /** Most bytes of a line of JSON Lines. Default 256 MiB. */
  maxLineBytes?: number
}

const isGzip = (source: string): boolean => /\.gz$/i.test(source)

const open = async (source: string, options: RowOptions): Promise<ByteSource> => {
  if (!isHubAddress(source)) return openFile(source)
  const file = await openHubFile(source, options)
  options.onCommit?.(file.commit)
  return file
}

async function* gunzipped(source: ByteSource): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  const { pipeline } = await import('node:stream/promises')
  const done = pipeline(partsOf(source), gunzip).catch(error => gunzip.destroy(error as Error))
  try {
    yield* gunzip
  } catch (error) {
    if (error instanceof GradusError) throw error
    throw new DataError(
      `${source.name}: expected a file compressed by gzip, got one that cannot be unpacked (${(error as Error).message})`,
      { hint: 'it may be cut off or damaged; write or download it again', cause: error },
    )
  } finally {
    gunzip.destroy()
    await done
  }
}

async function* linesOf(source: ByteSource, maxLineBytes: number): AsyncGenerator<JsonlLine> {
  const { name } = source
  const bytes = isGzip(name) ? gunzipped(source) : partsOf(source)
  for await (const { number, text } of textLines(bytes, name, maxLineBytes))
    if (text.trim() !== '') yield { place: `${name}:${number}`, text }
}

async function* rowsOf(source: ByteSource, options: RowOptions): AsyncGenerator<JsonlLine> {
  const { name } = source
  const { columns = AS_THEY_ARE, maxLineBytes = MAX_LINE_BYTES } = options
  if (isParquet(name))
    for await (const { number, row } of parquetRows(source, { columns }))
      yield { place: `${name}:${number}`, text: JSON.stringify(row) }
  else
    for await (const { place, text } of linesOf(source, maxLineBytes))
      yield { place, text: renameInText(text, columns) }
}

/**
 * The rows of a file as JSON texts with their places: `path:line`, of a Parquet file `path:row`, both from 1. The name says what
 * a file is: `.parquet`, `.gz` (JSON Lines compressed by gzip), and anything else is JSON Lines; `-` is standard input, and
 * `hf://datasets/OWNER/NAME[@REVISION]/PATH` a file on the hub. Holds a row group, or a part of a few megabytes, at a time.
 * @throws DataError for what cannot be read, with the place; ConfigError for columns that cannot be
 */
export async function* streamRows(source: string, options: RowOptions = {}): AsyncGenerator<JsonlLine> {
  const { columns = AS_THEY_ARE, maxLineBytes } = options
  checkColumns(columns)
  if (!needsPrefetch(source)) {
    for await (const { place, text } of streamJsonl(source, { maxLineBytes }))
      yield { place, text: renameInText(text, columns) }
    return
  }
  const file = await open(source, options)
  try {
    yield* rowsOf(file, options)
  } finally {
    await file.close()
  }
}

/** Most characters of the rows of one file that are held at once. */
const MAX_CACHED_CHARS = 2 * 1024 ** 3

/** What a run notes of a file on the hub, so that a resume reads the same. */
export interface PinnedFile {
  source: string
  commit: string
}

/**
 * Reads the rows of a file, if they cannot be read at once, and keeps them for `cachedRows` until they are fetched again.
 * @returns of a file on the hub what to note of it, else null
 * @throws DataError as `streamRows`, and for more rows than fit
 */
export const prefetchRows = async (source: string, options: RowOptions = {}): Promise<PinnedFile | null> => {
  if (!needsPrefetch(source)) return null
  const lines: JsonlLine[] = []
  let file: PinnedFile | null = null
  let chars = 0
  const onCommit = (commit: string) => {
    file = { source, commit }
  }
  for await (const line of streamRows(source, { ...options, onCommit })) {
    chars += line.text.length
    if (chars > MAX_CACHED_CHARS)
      throw new DataError(`${source}: expected rows of at most ${MAX_CACHED_CHARS} characters, got more`, {
        hint: 'leave out columns that are not needed (columns: {NAME: null}), or take a part of the rows',
      })
    lines.push(line)
  }
  keepRows(source, options.columns ?? AS_THEY_ARE, lines)
  return file
}
