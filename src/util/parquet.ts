/** @file Rows of Parquet files, a row group or less at a time, as what JSON holds. */

import type { FileMetaData, RowGroup, SchemaTree } from 'hyparquet'
import type { ByteSource } from './byte-source.ts'
import { AS_THEY_ARE, type Columns, renameColumns } from './column-names.ts'
import { DataError, GradusError } from './errors.ts'
import { closest } from './schema.ts'

/** Most bytes, uncompressed, of rows that are read at once where a file lets us read less than a row group. */
const BATCH_BYTES = 64 * 1024 * 1024
/** Most bytes, uncompressed, of a row group that can only be read whole. */
const MAX_GROUP_BYTES = 1024 * 1024 * 1024
/** A file's list of what lies where is read whole; that of a file of a hundred thousand row groups is smaller. */
const MAX_FOOTER_BYTES = 256 * 1024 * 1024

export interface ParquetOptions {
  columns?: Columns
  /** Default `MAX_GROUP_BYTES`. */
  maxGroupBytes?: number
  /** Most bytes, uncompressed, of rows that are read at once where a file lets us. Default 64 MiB. */
  batchBytes?: number
}

/** A row and which one it is, from 1. */
export interface ParquetRow {
  number: number
  row: Record<string, unknown>
}

/** Bytes that a column calls text and that are none. */
const NO_TEXT = Symbol('no text')

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const textOf = (bytes: Uint8Array | undefined): unknown => {
  if (bytes === undefined) return undefined
  try {
    return decoder.decode(bytes)
  } catch {
    return NO_TEXT
  }
}

/** Times are text, as in JSON: days as `2026-01-31`, moments in UTC with milliseconds. */
const PARSERS = {
  stringFromBytes: textOf,
  dateFromDays: (days: number) =>
    days === undefined || days === null ? undefined : isoOf(new Date(days * 86_400_000), 10),
  timestampFromMilliseconds: (ms: bigint) => momentOf(ms, 1n),
  timestampFromMicroseconds: (us: bigint) => momentOf(us, 1000n),
  timestampFromNanoseconds: (ns: bigint) => momentOf(ns, 1_000_000n),
}

const momentOf = (units: bigint | undefined | null, perMs: bigint): unknown =>
  units === undefined || units === null ? undefined : isoOf(new Date(Number(BigInt(units) / perMs)))

/** What no calendar has stays a date that is none, and is refused with its place. */
const isoOf = (date: Date, length?: number): unknown =>
  Number.isNaN(date.getTime()) ? date : date.toISOString().slice(0, length)

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

const refuse = (what: string, where: string, hint: string): DataError =>
  new DataError(`${where}: expected what JSON can hold, got ${what}`, {
    hint: `${hint}, or leave the column out (columns: {NAME: null})`,
  })

/**
 * A value of a Parquet file as JSON has it. Nothing in a struct is a key that is absent; whole numbers beyond 2^53, which no
 * number here holds exactly, are their digits as text.
 * @throws DataError naming the column of what JSON cannot hold: NaN and infinity, bytes, dates outside the calendar
 */
const jsonOf = (value: unknown, where: string, column?: SchemaTree): unknown => {
  if (value === undefined || value === null) return null
  const exact =
    typeof value === 'number' || typeof value === 'bigint' ? leafValue(value, where, column) : undefined
  if (exact !== undefined) return exact
  if (typeof value === 'bigint')
    return value <= MAX_SAFE && value >= -MAX_SAFE ? Number(value) : value.toString()
  if (typeof value === 'number' && !Number.isFinite(value))
    throw refuse(String(value), where, 'write null where there is no number')
  if (value === NO_TEXT) throw refuse('text that is not UTF-8', where, 'write the column as UTF-8')
  if (typeof value !== 'object') return value
  if (value instanceof Date) throw refuse('a date outside the calendar', where, 'correct it')
  if (ArrayBuffer.isView(value)) throw refuse('bytes', where, 'write them as text, for example in base64')
  if (Array.isArray(value)) return value.map((each, i) => jsonOf(each, `${where}[${i}]`, column))
  return structOf(value as Record<string, unknown>, where, column)
}

const structOf = (
  value: Readonly<Record<string, unknown>>,
  where: string,
  column?: SchemaTree,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, own]) =>
      own === undefined || own === null
        ? []
        : [
            [
              key,
              jsonOf(own, where.endsWith(' ') ? `${where}${key}` : `${where}.${key}`, childOf(column, key)),
            ],
          ],
    ),
  )

/** The part of a struct or map, behind the levels that only say that there is a list. */
const childOf = (column: SchemaTree | undefined, key: string): SchemaTree | undefined => {
  if (column === undefined) return undefined
  const children = column.children
  const child = children.find(({ element }) => element.name === key)
  return (
    child ??
    (children.length === 1
      ? childOf(children[0], key)
      : children.find(({ element }) => element.name === 'value'))
  )
}

const leafOf = (column: SchemaTree): SchemaTree =>
  column.children.length === 1 ? leafOf(column.children[0]) : column

/** A decimal as the number that it writes, a time of day as `12:34:56.789`; undefined for everything else. */
const leafValue = (value: number | bigint, where: string, column?: SchemaTree): unknown => {
  const element = column && leafOf(column).element
  const { converted_type: type, logical_type: logical, scale = 0 } = element ?? {}
  if (type === 'DECIMAL') return decimalOf(Number(value), scale, where)
  const unit = logical?.type === 'TIME' ? logical.unit : /^TIME_(.+)$/.exec(type ?? '')?.[1]
  const places = unit && { MILLIS: 3, MICROS: 6, NANOS: 9 }[unit]
  return places ? timeOf(Number(value), places) : undefined
}

/** The reader multiplies digits by a power of ten, which rounds; up to 2^53 the digits are all there. */
const decimalOf = (value: number, scale: number, where: string): number => {
  if (Math.abs(value) * 10 ** scale > Number.MAX_SAFE_INTEGER)
    throw refuse(
      'a decimal of more digits than a number holds',
      where,
      'write it as text, or with fewer digits',
    )
  return Number(value.toFixed(scale))
}

/** @param count how many of the 10^-places of a second have passed since midnight */
const timeOf = (count: number, places: number): string => {
  const seconds = Math.floor(count / 10 ** places)
  const clock = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(n =>
    String(Math.floor(n)).padStart(2, '0'),
  )
  const rest = count % 10 ** places
  return clock.join(':') + (rest === 0 ? '' : `.${String(rest).padStart(places, '0')}`)
}

/** What the reader of Parquet says is about bytes and pages; the file and what was expected stand before it. */
const unreadable = (name: string, error: unknown): Error =>
  error instanceof GradusError
    ? error
    : new DataError(
        `${name}: expected a Parquet file, got one that cannot be read (${(error as Error).message})`,
        { hint: 'it may be cut off or damaged; write or download it again', cause: error },
      )

/** Sizes of thirty-two bits are read as they stand in a file; a list of what lies where beyond this is none. */
const metadataOf = async (source: ByteSource): Promise<FileMetaData> => {
  const { name, size } = source
  if (size < 12)
    throw new DataError(`${name}: expected a Parquet file, got ${size} bytes`, {
      hint: 'check what wrote the file',
    })
  const end = Buffer.from(await source.read(size - 8, size))
  if (end.toString('latin1', 4) !== 'PAR1')
    throw new DataError(`${name}: expected a Parquet file, got one that does not end as they do`, {
      hint: 'it may be cut off, or something else under that name; write or download it again',
    })
  const footer = end.readUInt32LE(0)
  if (footer > Math.min(MAX_FOOTER_BYTES, size - 8))
    throw new DataError(`${name}: expected a Parquet file, got one whose footer would have ${footer} bytes`, {
      hint: 'it is damaged; write or download it again',
    })
  const { parquetMetadataAsync } = await import('hyparquet')
  return parquetMetadataAsync(bufferOf(source), { geoparquet: false, parsers: PARSERS })
}

/**
 * The part of a file that the reader asks for; never more than there is. It asks for several at once, and of a damaged file it
 * does not wait for all of them: what fails then must not count as unhandled.
 */
const bufferOf = (source: ByteSource) => ({
  byteLength: source.size,
  slice: (start: number, end = source.size) => {
    const part = partOf(source, start, end)
    part.catch(() => {})
    return part
  },
})

const partOf = async ({ size, read }: ByteSource, start: number, end: number): Promise<ArrayBuffer> => {
  if (!(start >= 0 && start <= end && end <= size))
    throw new Error(`a part from ${start} to ${end} of ${size} bytes`)
  return (await read(start, end)).buffer
}

/** The columns of the file that are read. @throws DataError for a column that it lacks */
const columnsToRead = (schema: SchemaTree, columns: Columns, name: string): string[] => {
  const names = schema.children.map(({ element }) => element.name)
  for (const [key, from] of Object.entries(columns)) {
    if (from === null || names.includes(from)) continue
    const near = closest(from, names)
    throw new DataError(
      `${name}: columns.${key}: expected one of the file's columns (${names.join(', ')}), got ${JSON.stringify(from)}`,
      { hint: near === null ? 'name one of them' : `did you mean ${near}?` },
    )
  }
  const wanted = new Set(Object.values(columns))
  return names.filter(own => wanted.has(own) || !Object.hasOwn(columns, own))
}

/** How many rows of a group are read at once: all, unless the file says where in a column a row lies. */
const rowsAtOnce = (
  group: RowGroup,
  columns: readonly string[],
  name: string,
  { maxGroupBytes: maxBytes, batchBytes }: Required<Omit<ParquetOptions, 'columns'>>,
): number => {
  const rows = Number(group.num_rows)
  const chunks = group.columns.filter(({ meta_data }) => columns.includes(meta_data?.path_in_schema[0] ?? ''))
  const bytes = chunks.reduce(
    (sum, { meta_data }) => sum + Number(meta_data?.total_uncompressed_size ?? 0),
    0,
  )
  if (bytes <= batchBytes) return rows
  if (chunks.every(({ offset_index_offset }) => offset_index_offset !== undefined))
    return Math.max(1, Math.floor((rows * batchBytes) / bytes))
  if (bytes <= maxBytes) return rows
  throw new DataError(
    `${name}: expected row groups of at most ${maxBytes} bytes, got one of ${bytes}: without a page index it can only be read whole`,
    {
      hint: 'write it with smaller row groups, or leave out columns that are not needed (columns: {NAME: null})',
    },
  )
}

/**
 * The rows of a Parquet file, with values as JSON has them and columns under their new names. Holds a row group at a time, or
 * less where the file has a page index; columns that are left out are not read.
 * @throws DataError for what is no Parquet file, is damaged, or holds what JSON cannot, with the row's number
 */
export async function* parquetRows(
  source: ByteSource,
  { columns = AS_THEY_ARE, maxGroupBytes = MAX_GROUP_BYTES, batchBytes = BATCH_BYTES }: ParquetOptions = {},
): AsyncGenerator<ParquetRow> {
  const { name } = source
  try {
    const metadata = await metadataOf(source)
    const { parquetSchema } = await import('hyparquet')
    const schema = parquetSchema(metadata)
    const read = columnsToRead(schema, columns, name)
    let first = 0
    for (const group of metadata.row_groups) {
      const rows = Number(group.num_rows)
      const step = rowsAtOnce(group, read, name, { maxGroupBytes, batchBytes })
      for (let start = 0; start < rows; start += step)
        yield* batchOf(
          source,
          { metadata, schema },
          read,
          columns,
          first + start,
          first + Math.min(rows, start + step),
        )
      first += rows
    }
  } catch (error) {
    throw unreadable(name, error)
  }
}

async function* batchOf(
  source: ByteSource,
  { metadata, schema }: { metadata: FileMetaData; schema: SchemaTree },
  read: string[],
  columns: Columns,
  rowStart: number,
  rowEnd: number,
): AsyncGenerator<ParquetRow> {
  const [{ parquetReadObjects }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ])
  const rows = await parquetReadObjects({
    file: bufferOf(source),
    ...{ metadata, columns: read, rowStart, rowEnd, compressors, parsers: PARSERS },
    geoparquet: false,
    useOffsetIndex: true,
  })
  if (rows.length !== rowEnd - rowStart)
    throw new Error(`rows ${rowStart + 1} to ${rowEnd} are ${rows.length} rows`)
  for (const [i, row] of rows.entries()) {
    const number = rowStart + i + 1
    yield { number, row: renameColumns(structOf(row, `${source.name}:${number}: `, schema), columns) }
  }
}
