/** @file Recorded trajectories as a file: a first line about the teacher, then an attempt a line, appended as they finish. */

import { closeSync, existsSync, openSync, readFileSync, statSync, truncateSync, writeSync } from 'node:fs'
import { z } from 'zod'
import { canonicalJson } from '../../util/canonical.ts'
import { DataError } from '../../util/errors.ts'
import { fileFailure } from '../../util/file-failure.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { describeKeys, describeValue, parseWith } from '../../util/schema.ts'
import { CALL_OUTCOMES } from './outcome.ts'
import { turnRulesSchema } from './protocol.ts'

const toolSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
})

const headerSchema = z.strictObject({
  gradus: z.literal('trajectories'),
  version: z.literal(1),
  /** Name of the model. */
  teacher: z.string(),
  sampling: z.record(z.string(), z.unknown()),
  rules: turnRulesSchema,
  /** False: without plan, evaluations and review. */
  scaffold: z.boolean().default(true),
  tools: z.array(toolSchema),
})
/** What all attempts of a file have in common. */
export type RecordingHeader = z.output<typeof headerSchema>

const tokens = z.number().nonnegative().nullable()

const rowSchema = z.looseObject({
  id: z.string(),
  attempt: z.int().positive(),
  question: z.string(),
  reference: z.union([z.string(), z.array(z.string())]).optional(),
  ended: z.enum(['answered', 'too-many-breaks', 'cut-off']).optional(),
  rounds: z.array(
    z.strictObject({
      text: z.string(),
      observation: z
        .strictObject({ text: z.string(), isError: z.boolean(), outcome: z.enum(CALL_OUTCOMES).optional() })
        .nullable(),
    }),
  ),
  usage: z.object({ promptTokens: tokens, completionTokens: tokens, cachedTokens: tokens }).optional(),
})
export type RecordingRow = z.output<typeof rowSchema>

export interface Recording {
  header: RecordingHeader
  rows: RecordingRow[]
}

/** Names an attempt: what is done is not done again. */
export const attemptKey = ({ id, attempt }: Pick<RecordingRow, 'id' | 'attempt'>): string =>
  `${attempt}/${id}`

const readHeader = (value: unknown, place: string): RecordingHeader => {
  if ((value as { gradus?: unknown } | null)?.gradus === 'trajectories')
    return parseWith(headerSchema, value, place, DataError)
  const got =
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? describeKeys(value)
      : describeValue(value)
  throw new DataError(
    `${place}: expected the first line of recorded trajectories, {"gradus":"trajectories",...}, got ${got}`,
    { hint: 'name a file that `gradus trajectories record` wrote' },
  )
}

/**
 * Reads recorded trajectories. With `torn` a last line without an end, which a kill may have left, is dropped.
 * @throws DataError naming file and line for what is none, and for an attempt that is there twice
 */
export const readRecording = (path: string, { torn = false }: { torn?: boolean } = {}): Recording => {
  const all = someJsonlLines(path, 'trajectory')
  const [first, ...lines] = torn && !endsWhole(path) ? all.slice(0, -1) : all
  if (first === undefined)
    throw new DataError(`${path}:1: expected a whole first line, got one that was cut off`, {
      hint: 'remove the file, or name another',
    })
  const header = readHeader(
    parseRow(first.text, first.place, row => row),
    first.place,
  )
  const seen = new Set<string>()
  const rows = lines.map(({ text, place }) => {
    const value = parseRow(text, place, row => row)
    const row = parseWith(rowSchema, value, place, DataError)
    const key = attemptKey(row)
    if (seen.has(key))
      throw new DataError(
        `${place}: expected every attempt once, got attempt ${row.attempt} at ${row.id} again`,
        { hint: 'two processes may have written to the file: remove one of the lines' },
      )
    seen.add(key)
    return row
  })
  return { header, rows }
}

const NEWLINE = 0x0a

const endsWhole = (path: string): boolean => readFileSync(path).at(-1) === NEWLINE

/** Cuts a file after its last whole line. */
const dropTornLine = (path: string): void => truncateSync(path, readFileSync(path).lastIndexOf(NEWLINE) + 1)

/** A file that attempts are appended to, each as one write; a line that a kill has torn is dropped. */
export class RecordingFile {
  readonly path: string
  /** Attempts that were there. */
  readonly rows: readonly RecordingRow[]
  readonly #fd: number

  private constructor(path: string, fd: number, rows: readonly RecordingRow[]) {
    this.path = path
    this.#fd = fd
    this.rows = rows
  }

  /**
   * Opens a file, or begins it.
   * @throws DataError for a file that is none, cannot be written, or was begun with other settings
   */
  static open(path: string, header: RecordingHeader): RecordingFile {
    const isNew = !existsSync(path) || (statSync(path).isFile() && statSync(path).size === 0)
    const rows = isNew ? [] : rowsOf(path, header)
    try {
      // Only once it is known to be ours.
      if (!isNew && !endsWhole(path)) dropTornLine(path)
      const file = new RecordingFile(path, openSync(path, 'a'), rows)
      if (isNew) file.#write(header)
      return file
    } catch (error) {
      throw fileFailure(path, error, { doing: 'cannot be written' })
    }
  }

  append(row: RecordingRow): void {
    this.#write(row)
  }

  #write(value: object): void {
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at)
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/** @throws DataError for a file that is none, or was begun with other settings */
const rowsOf = (path: string, header: RecordingHeader): RecordingRow[] => {
  const { header: before, rows } = readRecording(path, { torn: true })
  for (const key of Object.keys(header) as (keyof RecordingHeader)[])
    if (canonicalJson(before[key]) !== canonicalJson(header[key]))
      throw new DataError(
        `${path}: expected to go on with the ${key} that it was begun with, got another: ${shortly(before[key])} then, ${shortly(header[key])} now`,
        { hint: 'give the same settings, or name another file' },
      )
  return rows
}

const SHOWN = 120

const shortly = (value: unknown): string => {
  const text = canonicalJson(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
