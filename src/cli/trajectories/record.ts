/** @file `gradus trajectories record`: a teacher researches questions with tools; every attempt is kept as soon as it is over. */

import { z } from 'zod'
import type { JudgeFleet } from '../../chat/index.ts'
import {
  askTeacher,
  type RecordingHeader,
  type RecordingRow,
  ToolBox,
  TRAJECTORIES,
  turnRulesSchema,
} from '../../tasks/research/index.ts'
import { openTools, toolsSchema } from '../../tools/index.ts'
import { DataError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { RecordingFile } from '../../util/recording-file.ts'
import { parseWith } from '../../util/schema.ts'
import { readText } from '../../util/text-file.ts'
import { parseYaml } from '../../util/yaml.ts'
import { type Io, printJson } from '../io.ts'
import { optionWords } from '../option-values.ts'
import {
  ledgerLine,
  lockRecording,
  openTeacher,
  type RecordProgress,
  recordAttempts,
  TEACHER_FLAGS,
  type TeachingOptions,
} from './teacher.ts'

export interface RecordOptions extends TeachingOptions {
  tools: string
  maxCalls: number
  /** Seconds. */
  toolTimeout: number
  /** ReAct, in place of the scaffold. */
  plain?: boolean
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

/** @throws DataError naming the line of a row without a question, or with the id of another */
const readQuestions = (path: string): Question[] => {
  const seen = new Set<string>()
  return someJsonlLines(path, 'question').map(({ text, place }, i) => {
    const row = parseWith(questionSchema, parseRow(text, place), place, DataError)
    const id = String(row.id ?? i + 1)
    if (seen.has(id))
      throw new DataError(`${place}: expected ids that are all different, got ${JSON.stringify(id)} again`)
    seen.add(id)
    const reference = row.reference ?? row.answer
    return { id, question: (row.question ?? row.prompt)!, ...(reference !== undefined && { reference }) }
  })
}

const readTools = (path: string) => {
  const value = parseYaml(readText(path), path)
  const isMap = value !== null && typeof value === 'object' && 'tools' in value
  return parseWith(toolsSchema, isMap ? value.tools : value, path)
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
  const { temperature, topP, maxTokens, attempts, concurrency, seed } = options
  const { rules, scaffold } = header
  const teaching = { model: teacher, box, rules, scaffold, temperature, topP, maxTokens }
  return recordAttempts<Question, RecordingRow>({
    ...{ items: questions, attempts, concurrency, seed, io },
    file: RecordingFile.open(TRAJECTORIES, options.out, header, lockRecording),
    again: () => ['record', path, ...optionWords(options, FLAGS)],
    async make(job, own) {
      const done = await askTeacher(job.question, teaching, own)
      return { ...job, ...done, rounds: [...done.rounds] }
    },
    isGood: row => row.ended === 'answered',
    tell: progress => tell(work, progress),
  })
}

const tell = ({ options, teacher, box, io }: Work, { tally, left, before }: RecordProgress): void => {
  const { ledger } = teacher.stats()
  const { total, unknownTools, unreadable } = box.counts
  const summary = { ...tally, before, left, ledger, tools: { ...total, unknownTools, unreadable } }
  if (options.json) {
    printJson(io, { out: options.out, ...summary })
    return
  }
  const failures = total.failures + total.timeouts + total.badArguments + unknownTools + unreadable
  io.out.write(
    [
      `recorded  ${plural(tally.recorded, 'attempt')} in ${options.out}, ${tally.answered} answered, ${tally.failed} failed`,
      ledgerLine(ledger),
      `tools     ${plural(total.calls, 'call')}, ${failures} failed or unusable`,
      '',
    ].join('\n'),
  )
}

const FLAGS = ['plain', 'tools', 'out', ...TEACHER_FLAGS, 'maxCalls', 'toolTimeout'] as const
