/**
 * @file TensorBoard's event files. The file follows from the rows alone, so that writing it again gives the same bytes: what is
 * there already and right stays, and is added to; what is not is put in the place of a file under a new name, which a
 * TensorBoard that looks on takes for what it is.
 */

import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { writeFileAtomic } from '../../util/atomic.ts'
import { shortHash } from '../../util/canonical.ts'
import { wordsOfCode } from '../../util/file-failure.ts'
import { scalarsEvent, textEvent, versionEvent } from './event.ts'
import { tfRecord } from './tfrecord.ts'
import {
  type EndStatus,
  type Opened,
  type RunFacts,
  type TrackedPoint,
  type Tracker,
  TrackerError,
} from './tracker.ts'

/** `events.out.tfevents.<seconds>.gradus-<run>.<nth>`: a name as TensorBoard looks for, of which run, and which writing of it. */
const OURS = /^(events\.out\.tfevents\.\d+\.gradus-[0-9a-f]+)\.(\d+)$/

export class TensorBoard implements Tracker {
  readonly where: string
  readonly exportOptions: readonly string[]
  readonly takesOnce = 'row'
  readonly mostPoints = 500
  readonly #folder: string
  #path = ''
  /** What stands in the file beyond what was found to be right; null once it was all compared. */
  #expected: Buffer | null = null
  #bytes = 0

  /** @param folder of this run's files @param logdir that TensorBoard is given, for the export */
  constructor(folder: string, logdir: string) {
    this.#folder = resolve(folder)
    this.where = `TensorBoard's files in ${folder}`
    this.exportOptions = ['--tensorboard', logdir]
  }

  async open(run: RunFacts, _identity: string): Promise<Opened> {
    this.#guarded(() => {
      mkdirSync(this.#folder, { recursive: true })
      const base = `events.out.tfevents.${Math.floor(run.createdAtMs / 1000)}.gradus-${shortHash([run.createdAtMs, run.tags]).slice(0, 8)}`
      const [newest, ...older] = this.#ours(base)
      for (const name of older) rmSync(join(this.#folder, name))
      this.#path = join(this.#folder, newest ?? `${base}.1`)
      this.#expected = existsSync(this.#path) ? readFileSync(this.#path) : Buffer.alloc(0)
      this.#bytes = 0
      this.#write([
        versionEvent(run.createdAtMs / 1000),
        textEvent(run.createdAtMs / 1000, 'settings/text_summary', settingsTable(run)),
      ])
    })
    return 'new'
  }

  async log(points: readonly TrackedPoint[]): Promise<void> {
    this.#guarded(() =>
      this.#write(
        points
          .filter(({ metrics }) => Object.keys(metrics).length > 0)
          .map(({ atMs, step, metrics }) => scalarsEvent(atMs / 1000, step, metrics)),
      ),
    )
  }

  async end(_status: EndStatus): Promise<void> {
    // Rows that the file has and the run has no more.
    if (this.#expected !== null && this.#expected.length > this.#bytes)
      this.#guarded(() => this.#replaceFile(Buffer.alloc(0)))
  }

  async replace(): Promise<void> {}

  /** Names of the run's files, the newest first. @throws TrackerError where another run has files */
  #ours(base: string): string[] {
    const names = readdirSync(this.#folder).filter(name => OURS.test(name))
    const other = names.find(name => OURS.exec(name)![1] !== base)
    if (other !== undefined)
      throw new TrackerError(
        `${this.#folder}: expected a folder of this run alone, found ${other}, which is another run's`,
        {
          hint: 'TensorBoard would show both as one: choose another folder',
          lasting: true,
        },
      )
    return names.sort((a, b) => nthOf(b) - nthOf(a))
  }

  #write(events: readonly Uint8Array[]): void {
    const bytes = Buffer.concat(events.map(tfRecord))
    const expected = this.#expected
    if (expected === null) appendWhole(this.#path, this.#bytes, bytes)
    else {
      const there = expected.subarray(this.#bytes, this.#bytes + bytes.length)
      if (!bytes.subarray(0, there.length).equals(there)) {
        this.#replaceFile(bytes)
        return
      }
      if (there.length < bytes.length) {
        // The file ends here: all of it was right, or a kill has cut its last record.
        appendWhole(this.#path, this.#bytes + there.length, bytes.subarray(there.length))
        this.#expected = null
      }
    }
    this.#bytes += bytes.length
  }

  /** What was found to be right, and some bytes after it, as a new file. */
  #replaceFile(bytes: Buffer): void {
    const before = this.#path
    const path = before.replace(/\d+$/, String(nthOf(before) + 1))
    writeFileAtomic(path, [this.#expected!.subarray(0, this.#bytes), bytes])
    rmSync(before, { force: true })
    this.#path = path
    this.#expected = null
    this.#bytes += bytes.length
  }

  #guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === undefined) throw error
      const { what, hint } = wordsOfCode(code)
      throw new TrackerError(`${this.#folder}: could not be written: ${what}`, { hint, cause: error })
    }
  }
}

const nthOf = (path: string): number => Number(/\.(\d+)$/.exec(path)?.[1] ?? 0)

/**
 * Appends all of it; after a failure the next try appends what is missing, because the file is opened and compared again.
 * @param size of the file as it was left
 * @throws TrackerError where it is another: an export writes there as well, or somebody has removed it
 */
const appendWhole = (path: string, size: number, bytes: Uint8Array): void => {
  const fd = openSync(path, 'a')
  try {
    const found = fstatSync(fd).size
    if (found !== size)
      throw new TrackerError(`${path}: expected ${size} bytes, got ${found}: something else writes there`)
    for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset)
  } finally {
    closeSync(fd)
  }
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ')

const settingsTable = ({ tags, settings }: RunFacts): string =>
  [
    '| setting | value |',
    '|---|---|',
    ...Object.entries({ ...tags, ...settings }).map(([name, value]) => `| ${cell(name)} | ${cell(value)} |`),
  ].join('\n')
