/** @file Attempts of a teacher, as the commands that record them have in common: options, endpoint, the loop, how to go on. */

import { setMaxListeners } from 'node:events'
import { type FleetOptions, fleetSchema, type JudgeFleet, judgeFleet } from '../../chat/index.ts'
import { type RunLock, takeFileLock } from '../../runs/lock.ts'
import { DataError, JudgeError, UsageError } from '../../util/errors.ts'
import { formatInteger, plural } from '../../util/format.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { commandLineOf } from '../../util/invocation.ts'
import { attemptKey, type RecordingFile } from '../../util/recording-file.ts'
import { parseWith } from '../../util/schema.ts'
import { readText } from '../../util/text-file.ts'
import { parseYaml } from '../../util/yaml.ts'
import { namedEndpoint } from '../endpoint.ts'
import { onInterrupts } from '../interrupts.ts'
import { EXIT, type Io } from '../io.ts'
import { refuseGiven } from '../option-values.ts'

export interface TeachingOptions {
  out: string
  teacher?: string
  model?: string
  fleet?: string
  apiKeyEnv?: string
  attempts: number
  concurrency: number
  temperature: number
  topP?: number
  maxTokens: number
  /** Seconds. */
  timeout: number
  retries: number
  seed?: number
  json?: boolean
}

export const TEACHER_FLAGS = [
  ...(['teacher', 'model', 'fleet', 'apiKeyEnv', 'attempts', 'concurrency'] as const),
  ...(['temperature', 'topP', 'maxTokens', 'timeout', 'retries', 'seed'] as const),
]

/** @throws UsageError for options that do not go together; ConfigError for a file or an endpoint that cannot be used */
export const openTeacher = (options: TeachingOptions, io: Io): JudgeFleet => {
  const { teacher, model, fleet, apiKeyEnv, concurrency, timeout, retries } = options
  const runtime = { onWarning: (message: string) => void io.err.write(`gradus: ${message}\n`) }
  if ((fleet === undefined) === (teacher === undefined))
    throw new UsageError(
      `trajectories: expected --teacher URL with --model NAME, or --fleet FILE, got ${fleet === undefined ? 'neither' : 'both'}`,
    )
  if (fleet !== undefined) {
    refuseGiven(options, ['model', 'apiKeyEnv'], 'expected nothing beside --fleet, which names it')
    return judgeFleet(parseWith(fleetSchema, parseYaml(readText(fleet), fleet), fleet), runtime)
  }
  const named = namedEndpoint(teacher!, model, '--teacher')
  const attemptTimeoutMs = timeout * 1000
  const settings: FleetOptions = {
    endpoints: [{ ...named, concurrency, attemptTimeoutMs, apiKeyEnv }],
    retries,
    deadlineMs: Math.max(600_000, (retries + 1) * attemptTimeoutMs),
  }
  return judgeFleet(parseWith(fleetSchema, settings, '--teacher'), runtime)
}

/** Two processes would make every attempt twice. @throws RunError where another one records into the file */
export const lockRecording = (path: string): RunLock =>
  takeFileLock(path, {
    ...{ noun: 'recording', place: 'file' },
    whenTaken: 'leave the file to that process, or stop it and run this command again',
    whenGone: 'run this command again: it makes the attempts that are missing',
  })

/** What is asked about. */
interface Asked {
  id: string
  question: string
}

interface Row extends Asked {
  attempt: number
}

export interface RecordProgress {
  tally: { recorded: number; answered: number; failed: number }
  left: number
  /** Attempts that were there. */
  before: number
}

interface Recorder<Item extends Asked, Done extends Row> {
  items: readonly Item[]
  attempts: number
  concurrency: number
  seed: number | undefined
  file: RecordingFile<Done>
  io: Io
  /** @throws JudgeError where the teacher fails on it */
  make(job: Item & { attempt: number }, own: { seed?: number; signal: AbortSignal }): Promise<Done>
  isGood(row: Done): boolean
  /** What an attempt that was recorded before no longer fits of an item; null: it fits. */
  changed?(item: Item, row: Done): string | null
  tell(progress: RecordProgress): void
  /** The command line that goes on, after `trajectories`. */
  again(): string[]
}

/** Attempts that are still to be made, the first ones of all questions first; made one by one, as they may be any number. */
const jobsOf = <Item extends Asked, Done extends Row>({
  items: questions,
  attempts,
  file,
  changed,
}: Recorder<Item, Done>): { count: number; jobs: Iterable<Item & { attempt: number }> } => {
  const items = new Map(questions.map(question => [question.id, question]))
  for (const row of file.rows) {
    const item = items.get(row.id)
    if (item === undefined) continue
    const got = item.question === row.question ? (changed?.(item, row) ?? null) : 'another text'
    if (got !== null)
      throw new DataError(
        `${file.path}: expected the question ${JSON.stringify(row.id)} as it was, got ${got}`,
        { hint: 'name another --out for other questions, or remove its lines from the file' },
      )
  }
  const done = new Set(file.rows.map(attemptKey))
  const made = file.rows.filter(({ id, attempt }) => items.has(id) && attempt <= attempts).length
  const jobs = function* (): Generator<Item & { attempt: number }> {
    for (let attempt = 1; attempt <= attempts; attempt++)
      for (const question of questions)
        if (!done.has(attemptKey({ ...question, attempt }))) yield { ...question, attempt }
  }
  return { count: attempts * questions.length - made, jobs: jobs() }
}

/** Records what is missing of every item's attempts. Ctrl+C finishes those under way; again it gives them up. */
export const recordAttempts = async <Item extends Asked, Done extends Row>(
  recorder: Recorder<Item, Done>,
): Promise<number> => {
  const { concurrency, seed, file, io } = recorder
  const stop = new AbortController()
  const quit = new AbortController()
  setMaxListeners(0, quit.signal)
  const first = () => {
    io.err.write('gradus: finishing the attempts under way; Ctrl+C again gives them up\n')
    stop.abort()
  }
  const stopListening = onInterrupts(io, first, () => quit.abort())
  const tally = { recorded: 0, answered: 0, failed: 0 }
  try {
    const { count, jobs } = jobsOf(recorder)
    if (file.rows.length > 0)
      io.err.write(`gradus: ${plural(file.rows.length, 'attempt')} recorded before, ${count} to make\n`)
    const attempt = async (job: Item & { attempt: number }): Promise<void> => {
      const own = { signal: quit.signal, ...(seed !== undefined && { seed: seed + job.attempt - 1 }) }
      try {
        const row = await recorder.make(job, own)
        if (quit.signal.aborted) return
        file.append(row)
        tally.recorded++
        if (recorder.isGood(row)) tally.answered++
      } catch (error) {
        if (quit.signal.aborted) return
        if (!(error instanceof JudgeError) || error.fatal) throw error
        tally.failed++
        io.err.write(`gradus: ${job.id}, attempt ${job.attempt}: ${error.message}\n`)
      }
      io.err.write(`gradus: ${tally.recorded + tally.failed} of ${count}\n`)
    }
    for await (const _ of mapInOrder(jobs, attempt, { concurrency, stop: stop.signal }));
    const left = count - tally.recorded
    recorder.tell({ tally, left, before: file.rows.length })
    if (left > 0)
      io.err.write(
        `gradus: ${left} left; go on with:\n  ${commandLineOf(['trajectories', ...recorder.again()])}\n`,
      )
  } finally {
    stopListening()
    // Where every call would fail the others are given up, before the file is closed under them.
    quit.abort()
    file.close()
  }
  if (stop.signal.aborted) return EXIT.interrupted
  return tally.failed > 0 ? EXIT.failed : EXIT.ok
}

/** What the teacher took. */
export const ledgerLine = ({
  calls,
  attempts,
  promptTokens,
  completionTokens,
  cost,
}: ReturnType<JudgeFleet['stats']>['ledger']): string =>
  `teacher   ${plural(calls, 'call')} (${attempts} tries), ${formatInteger(promptTokens)} tokens in, ${formatInteger(completionTokens)} out; cost ${cost === null ? 'unknown' : cost.toFixed(4)}`
