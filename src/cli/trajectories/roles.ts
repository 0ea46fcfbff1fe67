/** @file `gradus trajectories roles`: a teacher answers questions and writes rubrics for its thinking; every attempt is kept as soon as it is over. */

import {
  askedQuestion,
  askInTwoRoles,
  distinctRows,
  isOtherwiseJudged,
  QUESTION_FORMATS,
  type Question,
  type QuestionFormat,
  questionText,
  readQuestions,
  TWO_ROLES,
  type TwoRolesRow,
} from '../../tasks/questions/index.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { RecordingFile } from '../../util/recording-file.ts'
import { type Io, printJson } from '../io.ts'
import { optionWords } from '../option-values.ts'
import {
  ledgerLine,
  lockRecording,
  openTeacher,
  recordAttempts,
  TEACHER_FLAGS,
  type TeachingOptions,
} from './teacher.ts'

export interface RolesOptions extends TeachingOptions {
  format: QuestionFormat
  askToThink?: boolean
}

/** Each question once. @throws DataError where an open one stands among the others: nothing says of it which answer is right */
const closedQuestions = (path: string, format: QuestionFormat, io: Io): Question[] => {
  const read = readQuestions(path, format)
  for (const note of read.notes) io.err.write(`${note}\n`)
  const questions = distinctRows(read.questions, questionText)
  const open = questions.find(({ kind }) => kind === 'open')
  if (open !== undefined)
    throw new DataError(
      `${path}: expected questions with one right answer, got an open one: ${JSON.stringify(open.id)}`,
      { hint: 'answers are rejected by what is right; leave it out' },
    )
  return questions
}

/** Records what is missing of every question's attempts. @throws UsageError, ConfigError, DataError, JudgeError */
export const rolesCommand = async (path: string, options: RolesOptions, io: Io): Promise<number> => {
  if (!QUESTION_FORMATS.includes(options.format))
    throw new UsageError(`--format: expected one of ${QUESTION_FORMATS.join(', ')}, got ${options.format}`)
  const questions = closedQuestions(path, options.format, io)
  const teacher = openTeacher(options, io)
  const { temperature, topP, maxTokens, seed, attempts, concurrency, askToThink = false } = options
  const sampling = { temperature, maxTokens, ...(topP !== undefined && { topP }) }
  const header = {
    ...({ gradus: 'two-roles', version: 1, teacher: teacher.name, askToThink } as const),
    sampling: { ...sampling, ...(seed !== undefined && { seed }) },
  }
  try {
    return await recordAttempts<ReturnType<typeof askedQuestion>, TwoRolesRow>({
      ...{ items: questions.map(askedQuestion), attempts, concurrency, seed, io },
      file: RecordingFile.open(TWO_ROLES, options.out, header, lockRecording),
      again: () => [
        'roles',
        path,
        ...optionWords(options, ['askToThink', 'out', 'format', ...TEACHER_FLAGS]),
      ],
      make: async ({ of, ...job }, own) => ({
        ...job,
        ...(await askInTwoRoles(of, teacher, { ...sampling, askToThink }, own)),
      }),
      isGood: ({ reasoner }) => reasoner.rejected === null,
      changed: ({ of }, row) => (isOtherwiseJudged(of, row) ? 'another right answer' : null),
      tell({ tally, left, before }) {
        const { ledger } = teacher.stats()
        if (options.json) printJson(io, { out: options.out, ...tally, before, left, ledger })
        else
          io.out.write(
            `recorded  ${plural(tally.recorded, 'attempt')} in ${options.out}, ${tally.answered} right, ${tally.failed} failed\n${ledgerLine(ledger)}\n`,
          )
      },
    })
  } finally {
    await teacher.close?.()
  }
}
