/**
 * @file Going back to an earlier checkpoint while a run goes on: what came after it is set aside in the run's folder `given-up`,
 * its last checkpoint and the rows, from where it can be taken up again until the next time that the run goes back.
 */

import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { temporaryPath, writeFileAtomic } from '../util/atomic.ts'
import { type CheckedCheckpoint, checkCheckpoint, rowProblems } from './checkpoints.ts'
import { guardWrite } from './errors.ts'
import { cutBackTo, type RowExtent } from './row-extent.ts'
import type { EventRow } from './rows.ts'
import { NO_ROWS, type RunFolder } from './run-folder.ts'
import { ROW_FILES, type RowFile } from './run-rows.ts'
import { checkpointName, checkpointSteps, type RunState, removeFolder, stepOfName } from './run-state.ts'

/** The folder of a run with what it went back from. */
const GIVEN_UP = 'given-up'
const NOTE = 'note.json'

const noteSchema = z.strictObject({
  /** Where the run was, and the checkpoint that it went back to. */
  step: z.int(),
  backTo: z.int(),
  /** By file: bytes that came before what is set aside. */
  bytes: z.record(z.string(), z.int()),
})
type Note = z.output<typeof noteSchema>

/** A checkpoint that is whole, with the run's rows of then. */
export interface SoundCheckpoint {
  step: number
  dir: string
  state: RunState
  rows: Record<string, RowExtent>
}

export type RemoveFolder = (dir: string) => void

/**
 * The newest checkpoint at or before a step that is whole and whose rows are there; null where none is.
 * @param every only those of every so many steps
 */
export const soundCheckpoint = (runDir: string, through: number, every = 1): SoundCheckpoint | null => {
  const root = join(runDir, 'checkpoints')
  for (const step of checkpointSteps(root).reverse()) {
    if (step > through || step % every !== 0) continue
    const sound = asSound(runDir, checkCheckpoint(join(root, checkpointName(step))))
    if (sound !== null) return sound
  }
  return null
}

const asSound = (runDir: string, { step, dir, problems, state, moment }: CheckedCheckpoint) =>
  problems.length === 0 && state !== null && moment !== null && rowProblems(runDir, moment).length === 0
    ? { step, dir, state, rows: moment.rows }
    : null

/**
 * Goes back to a checkpoint. Its rows are those of then, and beside them the events that tell what monitors did and people asked for.
 * @param step where the run is, with a checkpoint
 * @param onRemove called with each checkpoint's folder before it goes
 * @throws RunError for a failed write
 */
export const giveUp = (
  run: RunFolder,
  target: SoundCheckpoint,
  step: number,
  onRemove: RemoveFolder = () => {},
): void => {
  const folder = run.path(GIVEN_UP)
  dropGivenUp(run, onRemove)
  const extent = (file: RowFile) => target.rows[file] ?? NO_ROWS
  const tails = ROW_FILES.map(file => [file, tailOf(run.path(file), extent(file).bytes)] as const)
  const note: Note = {
    ...{ step, backTo: target.step },
    bytes: Object.fromEntries(ROW_FILES.map(file => [file, extent(file).bytes])),
  }
  const events = linesOf(tailOf(run.path('events.jsonl'), extent('events.jsonl').bytes))
  guardWrite(folder, () => {
    mkdirSync(folder, { recursive: true })
    for (const [file, bytes] of tails) if (bytes.length > 0) writeFileSync(join(folder, file), bytes)
    writeFileAtomic(join(folder, NOTE), `${JSON.stringify(note)}\n`)
    renameSync(run.path('checkpoints', checkpointName(step)), join(folder, checkpointName(step)))
  })
  // Checkpoints first: rows that one of them lacks would be damage to whoever resumes after a kill.
  removeAfter(run, target.step, onRemove)
  run.turnTo(target.dir, (path, file) => cutBackTo(path, extent(file)))
  for (const event of events) if (isDeed(event)) run.appendEvent(event)
}

/** What a monitor did, or what became of what somebody asked for. */
const isDeed = ({ action, control }: EventRow): boolean => action !== undefined || control !== undefined

const tailOf = (path: string, bytes: number): Buffer =>
  existsSync(path) ? readFileSync(path).subarray(bytes) : Buffer.alloc(0)

const linesOf = (bytes: Buffer): EventRow[] =>
  bytes
    .toString('utf8')
    .split('\n')
    .flatMap(text => (text.trim() === '' ? [] : [JSON.parse(text) as EventRow]))

const removeAfter = (run: RunFolder, last: number, onRemove: RemoveFolder): void => {
  for (const step of checkpointSteps(run.path('checkpoints'))) {
    if (step <= last) continue
    const dir = run.path('checkpoints', checkpointName(step))
    onRemove(dir)
    removeFolder(dir)
  }
}

const checkpointIn = (folder: string): string | undefined =>
  existsSync(folder) ? readdirSync(folder).find(name => stepOfName(name) !== null) : undefined

const dropGivenUp = (run: RunFolder, onRemove: RemoveFolder): void => {
  const folder = run.path(GIVEN_UP)
  const name = checkpointIn(folder)
  if (name !== undefined) onRemove(join(folder, name))
  if (existsSync(folder)) guardWrite(folder, () => rmSync(folder, { recursive: true, force: true }))
}

/** Whether a run still has what it went back from last. */
export const hasGivenUp = (runDir: string): boolean => {
  const folder = join(runDir, GIVEN_UP)
  return existsSync(join(folder, NOTE)) && checkpointIn(folder) !== undefined
}

/**
 * Takes up again what the run went back from; what was trained since then goes. The folder stays, so that a kill finds it whole, until
 * `dropTakenUp` removes it.
 * @returns its checkpoint; null where that is gone or damaged: nothing has changed then
 * @throws RunError for a failed write
 */
export const takeUpAgain = (run: RunFolder, onRemove: RemoveFolder = () => {}): SoundCheckpoint | null => {
  const folder = run.path(GIVEN_UP)
  const name = checkpointIn(folder)
  const note = name === undefined ? null : noteIn(folder)
  if (name === undefined || note === null) return null
  const { problems, state, moment } = checkCheckpoint(join(folder, name))
  const whole = new Map(
    ROW_FILES.map(file => {
      const own = tailOf(run.path(file), 0).subarray(0, note.bytes[file] ?? 0)
      return [file, Buffer.concat([own, tailOf(join(folder, file), 0)])] as const
    }),
  )
  const isThere = ([file, bytes]: readonly [RowFile, Buffer]) =>
    beginsAs(bytes, moment?.rows[file] ?? NO_ROWS)
  if (problems.length > 0 || state === null || moment === null || ![...whole].every(isThere)) return null
  removeAfter(run, note.backTo, onRemove)
  // What the checkpoint that the run went back to vouches for stays as it is: a kill finds that one whole, and the folder.
  const back = soundCheckpoint(run.dir, note.backTo)
  const isThereStill = back?.step === note.backTo
  const keptBytes = (isThereStill ? back.rows['events.jsonl']?.bytes : note.bytes['events.jsonl']) ?? 0
  const events = tailOf(run.path('events.jsonl'), 0)
  const tail = tailOf(join(folder, 'events.jsonl'), 0)
  // Among the events there are those of what monitors did and people asked for already.
  const isKnown = (event: EventRow) => isThereStill && isDeed(event)
  const rest = linesOf(tail).filter(event => !isKnown(event))
  const restText = rest.map(event => `${JSON.stringify(event)}\n`).join('')
  whole.set('events.jsonl', Buffer.concat([events.subarray(0, keptBytes), Buffer.from(restText)]))
  const dir = isThereStill ? join(folder, name) : copyInto(run, join(folder, name))
  run.turnTo(isThereStill ? back.dir : dir, (path, file) => {
    const bytes = whole.get(file)!
    if (bytes.length > 0 || existsSync(path)) guardWrite(path, () => writeFileAtomic(path, bytes))
  })
  const asked = new Set(rest.map(({ request }) => request))
  for (const event of linesOf(events.subarray(keptBytes))) {
    const isAsked = event.request !== undefined && !asked.has(event.request)
    if (event.action === 'rollback' || event.undone === 'rollback' || isAsked) run.appendEvent(event)
  }
  return { step: note.step, dir, state, rows: moment.rows }
}

/** A checkpoint's folder among those of the run. */
const copyInto = (run: RunFolder, from: string): string => {
  const dir = run.path('checkpoints', basename(from))
  const temporary = temporaryPath(dir)
  guardWrite(dir, () => {
    cpSync(from, temporary, { recursive: true })
    renameSync(temporary, dir)
  })
  return dir
}

/** Removes the folder of what was taken up again, whose checkpoint the run has by now: the policy keeps what that names. */
export const dropTakenUp = (run: RunFolder): void => dropGivenUp(run, () => {})

const noteIn = (folder: string): Note | null => {
  try {
    return noteSchema.parse(JSON.parse(readFileSync(join(folder, NOTE), 'utf8')))
  } catch {
    return null
  }
}

const beginsAs = (held: Buffer, { bytes, sha256 }: RowExtent): boolean =>
  held.length >= bytes &&
  (bytes === 0 || createHash('sha256').update(held.subarray(0, bytes)).digest('hex') === sha256)
