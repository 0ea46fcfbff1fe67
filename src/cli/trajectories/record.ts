/** @file `gradus trajectories record`: a teacher researches questions with tools; every attempt is kept as soon as it is over. */

import { setMaxListeners } from 'node:events'
import { z } from 'zod'
import { type FleetOptions, fleetSchema, type JudgeFleet, judgeFleet } from '../../chat/index.ts'
import {
  askTeacher,
  attemptKey,
  RecordingFile,
  type RecordingHeader,
  type RecordingRow,
  ToolBox,
  turnRulesSchema,
} from '../../tasks/research/index.ts'
import { openTools, toolsSchema } from '../../tools/index.ts'
import { DataError, JudgeError, UsageError } from '../../util/errors.ts'
import { formatInteger, plural } from '../../util/format.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { commandLineOf } from '../../util/invocation.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { readText } from '../../util/text-file.ts'
import { parseYaml } from '../../util/yaml.ts'
import { endpointOf } from '../endpoint.ts'
import { optionName } from '../eval/options.ts'
import { EXIT, type Io, printJson } from '../io.ts'

export interface RecordOptions {
  tools: string
  out: string
  teacher?: string
  model?: string
  fleet?: string
  apiKeyEnv?: string
  attempts: number
  concurrency: number
  maxCalls: number
  temperature: number
  topP?: number
  maxTokens: number
  /** Seconds. */
  timeout: number
  retries: number
  toolTimeout: number
  seed?: number
  /** ReAct, in place of the scaffold. */
  plain?: boolean
  json?: boolean
}

const oneAnswer = z
  .union([z.string(), z.number()], { error: 'an answer as text or as a number' })
  .transform(String)
/** As in the files that `rubricem` trains on: one answer, or several of which each is right. */
const answer = z.union([oneAnswer, z.array(oneAnswer).min(1)])

const questionSchema = z
  .looseObject({
    id: z.union([z.string(), z.number()]).optional(),
    question: z.string().min(1).optional(),
    prompt: z.string().min(1).optional(),
    answer: answer.optional(),
    reference: answer.optional(),
  })
  .refine(row => row.question !== undefined || row.prompt !== undefined, 'a question')

interface Question {
  id: string
  question: string
  reference?: RecordingRow['reference']
}

interface Job extends Question {
  attempt: number
}

/** @throws DataError naming the line of a row without a question, or with the id of another */
const readQuestions = (path: string): Question[] => {
  const seen = new Set<string>()
  return someJsonlLines(path, 'question').map(({ text, place }, i) => {
    const row = parseWith(
      questionSchema,
      parseRow(text, place, value => value),
      place,
      DataError,
    )
    const id = String(row.id ?? i + 1)
    if (seen.has(id))
      throw new DataError(`${place}: expected ids that are all different, got ${JSON.stringify(id)} again`)
    seen.add(id)
    const reference = row.reference ?? row.answer
    return { id, question: (row.question ?? row.prompt)!, ...(reference !== undefined && { reference }) }
  })
}

/** @throws UsageError for options that do not go together; ConfigError for a file or an endpoint that cannot be used */
const openTeacher = (options: RecordOptions, io: Io): JudgeFleet => {
  const { teacher, model: named, fleet, apiKeyEnv, concurrency, timeout, retries } = options
  const runtime = { onWarning: (message: string) => void io.err.write(`gradus: ${message}\n`) }
  if ((fleet === undefined) === (teacher === undefined))
    throw new UsageError(
      `trajectories record: expected --teacher URL with --model NAME, or --fleet FILE, got ${fleet === undefined ? 'neither' : 'both'}`,
    )
  if (fleet !== undefined) {
    const stray = named !== undefined ? 'model' : apiKeyEnv !== undefined ? 'api-key-env' : null
    if (stray !== null) throw new UsageError(`--${stray}: expected nothing beside --fleet, which names it`)
    return judgeFleet(parseWith(fleetSchema, parseYaml(readText(fleet), fleet), fleet), runtime)
  }
  const { url, model } = endpointOf(teacher!, named, { url: '--teacher', model: '--model' })
  if (model === undefined)
    throw new UsageError(
      '--teacher: expected --model NAME beside it, or --teacher URL#NAME, got no name of a model',
    )
  const attemptTimeoutMs = timeout * 1000
  const endpoint = {
    url,
    model,
    concurrency,
    attemptTimeoutMs,
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
  }
  const settings: FleetOptions = {
    endpoints: [endpoint],
    retries,
    deadlineMs: Math.max(600_000, (retries + 1) * attemptTimeoutMs),
  }
  return judgeFleet(parseWith(fleetSchema, settings, '--teacher'), runtime)
}

const readTools = (path: string) => {
  const value = parseYaml(readText(path), path)
  const isMap = value !== null && typeof value === 'object' && 'tools' in value
  return parseWith(toolsSchema, isMap ? value.tools : value, path)
}

/** Attempts that are still to be made, the first ones of all questions first; made one by one, as they may be any number. */
const jobsOf = (
  questions: readonly Question[],
  attempts: number,
  file: RecordingFile,
): { count: number; jobs: Iterable<Job> } => {
  const textOf = new Map(questions.map(({ id, question }) => [id, question]))
  for (const { id, question } of file.rows)
    if (textOf.has(id) && textOf.get(id) !== question)
      throw new DataError(
        `${file.path}: expected the question ${JSON.stringify(id)} as it was, got another text`,
        {
          hint: 'name another --out for other questions',
        },
      )
  const done = new Set(file.rows.map(attemptKey))
  const made = file.rows.filter(({ id, attempt }) => textOf.has(id) && attempt <= attempts).length
  const jobs = function* (): Generator<Job> {
    for (let attempt = 1; attempt <= attempts; attempt++)
      for (const question of questions)
        if (!done.has(attemptKey({ ...question, attempt }))) yield { ...question, attempt }
  }
  return { count: attempts * questions.length - made, jobs: jobs() }
}

interface Tally {
  recorded: number
  answered: number
  failed: number
}

/**
 * Records what is missing of every question's attempts.
 * @throws UsageError, ConfigError, DataError before anything is asked; JudgeError when every call would fail
 */
export const recordCommand = async (path: string, options: RecordOptions, io: Io): Promise<number> => {
  const questions = readQuestions(path)
  const tools = readTools(options.tools)
  const teacher = openTeacher(options, io)
  try {
    const opened = await openTools(tools)
    const box = new ToolBox(opened.tools, { timeoutMs: options.toolTimeout * 1000 })
    try {
      return await recordAll({ path, questions, options, teacher, box, io })
    } finally {
      await box.close()
      await opened.close()
    }
  } finally {
    await teacher.close?.()
  }
}

interface Work {
  path: string
  questions: readonly Question[]
  options: RecordOptions
  teacher: JudgeFleet
  box: ToolBox
  io: Io
}

const headerOf = ({ options, teacher, box }: Work): RecordingHeader => {
  const { temperature, topP, maxTokens, seed, maxCalls } = options
  return {
    gradus: 'trajectories',
    version: 1,
    teacher: teacher.name,
    sampling: {
      ...{ temperature, maxTokens },
      ...(topP !== undefined && { topP }),
      ...(seed !== undefined && { seed }),
    },
    rules: turnRulesSchema.parse({ maxCalls }),
    scaffold: !options.plain,
    tools: box.tools.map(({ name, description, parameters }) => ({
      ...{ name, description },
      parameters: { ...parameters },
    })),
  }
}

const recordAll = async (work: Work): Promise<number> => {
  const { path, questions, options, teacher, box, io } = work
  const header = headerOf(work)
  const file = RecordingFile.open(options.out, header)
  const stop = new AbortController()
  const quit = new AbortController()
  setMaxListeners(0, quit.signal)
  const stopListening = io.onInterrupt(() => {
    if (!stop.signal.aborted)
      io.err.write('gradus: finishing the attempts under way; Ctrl+C again gives them up\n')
    ;(stop.signal.aborted ? quit : stop).abort()
  })
  const tally: Tally = { recorded: 0, answered: 0, failed: 0 }
  try {
    const { count, jobs } = jobsOf(questions, options.attempts, file)
    if (file.rows.length > 0)
      io.err.write(`gradus: ${plural(file.rows.length, 'attempt')} recorded before, ${count} to make\n`)
    const { temperature, topP, maxTokens, seed } = options
    const { rules, scaffold } = header
    const teaching = { model: teacher, box, rules, scaffold, temperature, topP, maxTokens }
    const attempt = async (job: Job): Promise<void> => {
      const own = { signal: quit.signal, ...(seed !== undefined && { seed: seed + job.attempt - 1 }) }
      try {
        const done = await askTeacher(job.question, teaching, own)
        if (quit.signal.aborted) return
        file.append({ ...job, ...done, rounds: [...done.rounds] })
        tally.recorded++
        if (done.ended === 'answered') tally.answered++
      } catch (error) {
        if (quit.signal.aborted) return
        if (!(error instanceof JudgeError) || error.fatal) throw error
        tally.failed++
        io.err.write(`gradus: ${job.id}, attempt ${job.attempt}: ${error.message}\n`)
      }
      io.err.write(`gradus: ${tally.recorded + tally.failed} of ${count}\n`)
    }
    const all = mapInOrder(jobs, attempt, { concurrency: options.concurrency, stop: stop.signal })
    for await (const _ of all);
    const left = count - tally.recorded
    tell(work, { tally, left, before: file.rows.length })
    if (left > 0) io.err.write(`gradus: ${left} left; go on with:\n  ${sameCommand(path, options)}\n`)
  } finally {
    stopListening()
    // Where every call would fail the others are given up, before the file is closed under them.
    quit.abort()
    file.close()
  }
  if (stop.signal.aborted) return EXIT.interrupted
  return tally.failed > 0 ? EXIT.failed : EXIT.ok
}

const tell = (
  { options, teacher, box, io }: Work,
  { tally, left, before }: { tally: Tally; left: number; before: number },
): void => {
  const { ledger } = teacher.stats()
  const { total, unknownTools, unreadable } = box.counts
  const summary = { ...tally, before, left, ledger, tools: { ...total, unknownTools, unreadable } }
  if (options.json) {
    printJson(io, { out: options.out, ...summary })
    return
  }
  const { calls, attempts, promptTokens, completionTokens, cost } = ledger
  const failures = total.failures + total.timeouts + total.badArguments + unknownTools + unreadable
  io.out.write(
    [
      `recorded  ${plural(tally.recorded, 'attempt')} in ${options.out}, ${tally.answered} answered, ${tally.failed} failed`,
      `teacher   ${plural(calls, 'call')} (${attempts} tries), ${formatInteger(promptTokens)} tokens in, ${formatInteger(completionTokens)} out; cost ${cost === null ? 'unknown' : cost.toFixed(4)}`,
      `tools     ${plural(total.calls, 'call')}, ${failures} failed or unusable`,
      '',
    ].join('\n'),
  )
}

const FLAGS = [
  ...(['tools', 'out', 'teacher', 'model', 'fleet', 'apiKeyEnv', 'attempts', 'concurrency'] as const),
  ...(['maxCalls', 'temperature', 'topP', 'maxTokens', 'timeout', 'retries', 'toolTimeout', 'seed'] as const),
]

/** The command line that goes on. */
const sameCommand = (path: string, options: RecordOptions): string =>
  commandLineOf([
    ...['trajectories', 'record', path],
    ...(options.plain ? ['--plain'] : []),
    ...FLAGS.flatMap(key => (options[key] === undefined ? [] : [optionName(key), String(options[key])])),
  ])
