/**
 * @file What people chose: lines of `preferences.jsonl` in a run's folder, each a pair of answers with a choice, or the undoing of
 * one. A line holds all that it is learnt from, so that the file is of use without the run.
 */

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { withFile } from '../util/file-failure.ts'
import { appendAsked } from './control.ts'

export const PREFERENCES_FILE = 'preferences.jsonl'

const stamp = { at: z.string().max(40), who: z.string().max(80) }

const answer = z.object({
  step: z.number(),
  role: z.string().optional(),
  sample: z.number().optional(),
  /** Of an evaluation: its set. */
  set: z.string().optional(),
  response: z.string(),
  /** Credit in [0, 1] by criterion; null where it had no verdict. */
  credits: z.record(z.string(), z.number().min(0).max(1).nullable()),
})

export const preferenceChoice = z.enum(['a', 'b', 'alike', 'unsure'])

const chosen = z.object({
  id: z.string().min(1).max(64),
  ...stamp,
  /** Names the two answers, whichever stands first. */
  pair: z.string().max(64),
  problemId: z.string(),
  prompt: z.string(),
  /** The answer that was shown first, and the other. */
  a: answer,
  b: answer,
  /** What the criteria weighed then. */
  points: z.record(z.string(), z.number()),
  choice: preferenceChoice,
})

const undone = z.object({ undo: z.string().min(1).max(64), ...stamp })

/** A pair and what somebody said of it. */
export type Preference = z.output<typeof chosen>

/** More is not read: nobody chooses so often by hand. */
const MOST_BYTES = 256 * 1024 ** 2

/**
 * Adds a choice, or the undoing of one, to a run's file.
 * @throws RunError when the file cannot be written, is a link, or is too long
 */
export const appendPreference = (dir: string, row: Preference | z.output<typeof undone>): void =>
  appendAsked(join(dir, PREFERENCES_FILE), row, MOST_BYTES)

export interface Preferences {
  /** In their order, without those that were undone; of one person's choices about a pair the last. */
  standing: Preference[]
  /** Lines that are none: the end of a write that was cut off. */
  broken: number
}

/**
 * Choices of a file, or of the run in a folder; none where there is no file.
 * @throws DataError for a file that is too long or cannot be read
 */
export const readPreferences = (path: string): Preferences => {
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, PREFERENCES_FILE) : path
  if (!existsSync(file)) return { standing: [], broken: 0 }
  if (statSync(file).size > MOST_BYTES) throw new DataError(`${file}: expected at most ${MOST_BYTES} bytes`)
  const standing = new Map<string, Preference>()
  let broken = 0
  for (const line of withFile(file, () => readFileSync(file, 'utf8')).split('\n')) {
    if (line.trim() === '') continue
    const row = rowOf(line)
    if (row === null) broken++
    else if ('undo' in row) standing.delete(row.undo)
    else {
      for (const [id, { pair, who }] of standing)
        if (pair === row.pair && who === row.who) standing.delete(id)
      standing.set(row.id, row)
    }
  }
  return { standing: [...standing.values()], broken }
}

/** Choices that stand in a file or run. @throws DataError where there are none */
export const somePreferences = (path: string): Preference[] => {
  const { standing } = readPreferences(path)
  if (standing.length > 0) return standing
  throw new DataError(`${path}: expected choices between pairs, found none`, {
    hint: `name a run in which people chose (gradus dashboard, page Pairs), or its ${PREFERENCES_FILE}`,
  })
}

const anyRow = z.union([undone, chosen])

const rowOf = (line: string): z.output<typeof anyRow> | null => {
  try {
    return anyRow.safeParse(JSON.parse(line)).data ?? null
  } catch {
    return null
  }
}
