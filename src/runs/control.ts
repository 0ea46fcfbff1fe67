/**
 * @file What a person asks of a run while it goes on: lines of `control.jsonl` in its folder, which the process that trains reads
 * between steps. Whoever may write to the folder may ask; what became of a request is among the run's events.
 */

import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { guardWrite, RunError } from './errors.ts'
import { FILE_START, type RowPosition, readLinesFrom } from './row-files.ts'

export const CONTROL_FILE = 'control.jsonl'

const stamp = { id: z.string().min(1).max(64), at: z.string().max(40) }

export const controlSchema = z.discriminatedUnion('action', [
  z.strictObject({ ...stamp, action: z.literal('pause') }),
  z.strictObject({ ...stamp, action: z.literal('go-on') }),
  z.strictObject({ ...stamp, action: z.literal('save') }),
  z.strictObject({ ...stamp, action: z.literal('stop') }),
  z.strictObject({
    ...stamp,
    action: z.literal('undo'),
    /** The latest of these that a monitor did; a pause is undone by `go-on`. */
    of: z.enum(['rollback', 'raise-kl']),
  }),
  z.strictObject({
    ...stamp,
    action: z.literal('threshold'),
    /** Its name in the settings `monitors`. */
    monitor: z.string().max(80),
    /** All thresholds of the monitor, its action left out; null switches it off. */
    thresholds: z.record(z.string(), z.number()).nullable(),
  }),
])

/** A request, as it stands in the file. */
export type ControlRequest = z.output<typeof controlSchema>

/** More is not read: nobody asks so much by hand. */
const MOST_BYTES = 1024 ** 2

/**
 * Adds a line that somebody asked for. One that was cut off before it, by a kill or a full disk, stays a line of its own.
 * @throws RunError when the file cannot be written, is a link or another thing than a file, or is too long
 */
export const appendAsked = (path: string, row: object, mostBytes: number): void => {
  const there = lstatSync(path, { throwIfNoEntry: false })
  // A pipe would be waited at for ever.
  if (there && !there.isFile())
    throw new RunError(`${path}: expected a file, found a link, a folder or a pipe`, { hint: 'remove it' })
  if (existsSync(path) && statSync(path).size > mostBytes)
    throw new RunError(`${path}: it is longer than ${mostBytes} bytes, and nothing further is read`, {
      hint: 'remove it',
    })
  guardWrite(path, () => appendFileSync(path, `${endsLine(path) ? '' : '\n'}${JSON.stringify(row)}\n`))
}

const endsLine = (path: string): boolean => {
  if (!existsSync(path)) return true
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const last = Buffer.alloc(1)
    return size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === 0x0a)
  } finally {
    closeSync(fd)
  }
}

/**
 * Adds a request to a run's file.
 * @throws RunError when the file cannot be written, is a link, or is too long
 */
export const appendControl = (dir: string, request: ControlRequest): void =>
  appendAsked(join(dir, CONTROL_FILE), request, MOST_BYTES)

/** The requests that come in while a process trains; those that were there before it are not its own. */
export class ControlReader {
  readonly #path: string
  #position: RowPosition

  constructor(dir: string) {
    this.#path = join(dir, CONTROL_FILE)
    this.#position = this.#read().position
  }

  /** Reading must never end a training: a file that cannot be read holds nothing. */
  #read(from?: RowPosition) {
    try {
      if (existsSync(this.#path) && statSync(this.#path).size <= MOST_BYTES)
        return readLinesFrom(this.#path, from)
    } catch {}
    return { lines: [], position: from ?? FILE_START, restarted: false }
  }

  /** New requests in their order; a line that is none is told by its text. */
  next(): (ControlRequest | { refused: string })[] {
    const { lines, position, restarted } = this.#read(this.#position)
    this.#position = position
    // A file that was put in place of the other may repeat what was done already.
    if (restarted) return []
    return lines.map(({ text }) => {
      try {
        const parsed = controlSchema.safeParse(JSON.parse(text))
        if (parsed.success) return parsed.data
      } catch {}
      return { refused: text.slice(0, 120) }
    })
  }
}
