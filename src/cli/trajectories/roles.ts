/**
 * @file `gradus trajectories roles`: a teacher answers questions and writes rubrics for its thinking, and verifies such rubrics; every
 * attempt is kept as soon as it is over.
 */

import type { JudgeFleet } from '../../chat/index.ts'
import { verifierPrompt } from '../../grade/thinking/index.ts'
import {
  askedQuestion,
  askForVerdicts,
  askInTwoRoles,
  distinctRows,
  isOtherwiseJudged,
  pairsToVerify,
  QUESTION_FORMATS,
  type Question,
  type QuestionFormat,
  questionText,
  readQuestions,
  rolePromptsSchema,
  TWO_ROLES,
  type TwoRolesRow,
  VERDICT_LISTS,
  type VerdictListRow,
  type VerifiedPair,
} from '../../tasks/questions/index.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { RecordingFile, readRecorded } from '../../util/recording-file.ts'
import { parseWith } from '../../util/schema.ts'
import { type Io, printJson } from '../io.ts'
import { optionWords, refuseGiven } from '../option-values.ts'
import {
  ledgerLine,
  lockRecording,
  openTeacher,
  type RecordProgress,
  recordAttempts,
  TEACHER_FLAGS,
  type TeachingOptions,
} from './teacher.ts'

export interface RolesOptions extends TeachingOptions {
  format: QuestionFormat
  askToThink?: boolean
  /** Paths, or prompts. */
  reasonerPrompt?: string
  rubricatorPrompt?: string
  verifierPrompt?: string
  verify?: boolean
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

const FLAGS = [
  ...(['verify', 'askToThink', 'reasonerPrompt', 'rubricatorPrompt', 'verifierPrompt'] as const),
  ...(['out', 'format', ...TEACHER_FLAGS] as const),
]

/** What recordings of both kinds have in common. @param good what a good attempt is, for people */
const recording = (path: string, options: RolesOptions, teacher: JudgeFleet, io: Io, good: string) => {
  const { temperature, topP, maxTokens, seed, attempts, concurrency } = options
  const sampling = { temperature, maxTokens, ...(topP !== undefined && { topP }) }
  return {
    sampling,
    header: { teacher: teacher.name, sampling: { ...sampling, ...(seed !== undefined && { seed }) } },
    recorder: {
      ...{ attempts, concurrency, seed, io },
      again: () => ['roles', path, ...optionWords(options, FLAGS)],
      tell({ tally, left, before }: RecordProgress) {
        const { ledger } = teacher.stats()
        if (options.json) printJson(io, { out: options.out, ...tally, before, left, ledger })
        else
          io.out.write(
            `recorded  ${plural(tally.recorded, 'attempt')} in ${options.out}, ${tally.answered} ${good}, ${tally.failed} failed\n${ledgerLine(ledger)}\n`,
          )
      },
    },
  }
}

type Recording = (path: string, options: RolesOptions, teacher: JudgeFleet, io: Io) => Promise<number>

const recordRoles: Recording = (path, options, teacher, io) => {
  refuseGiven(options, ['verifierPrompt'], 'expected --verify beside it')
  const { out, format, askToThink = false, reasonerPrompt: reasoner, rubricatorPrompt: rubricator } = options
  if (!QUESTION_FORMATS.includes(format))
    throw new UsageError(`--format: expected one of ${QUESTION_FORMATS.join(', ')}, got ${format}`)
  const prompts =
    (reasoner ?? rubricator) === undefined
      ? undefined
      : parseWith(rolePromptsSchema, { reasoner, rubricator }, '--reasoner-prompt, --rubricator-prompt')
  const { sampling, header, recorder } = recording(path, options, teacher, io, 'right')
  const whole = { ...({ gradus: 'two-roles', version: 1 } as const), ...header, askToThink, prompts }
  return recordAttempts<ReturnType<typeof askedQuestion>, TwoRolesRow>({
    ...recorder,
    items: closedQuestions(path, format, io).map(askedQuestion),
    file: RecordingFile.open(TWO_ROLES, out, whole, lockRecording),
    make: async ({ of, ...job }, own) => ({
      ...job,
      ...(await askInTwoRoles(of, teacher, { ...sampling, askToThink, prompts }, own)),
    }),
    isGood: ({ reasoner: { rejected } }) => rejected === null,
    changed: ({ of }, row) => (isOtherwiseJudged(of, row) ? 'another right answer' : null),
  })
}

const recordVerdicts: Recording = (path, options, teacher, io) => {
  const notAsked = 'expected nothing with --verify, which asks about what was recorded'
  refuseGiven(options, ['askToThink', 'reasonerPrompt', 'rubricatorPrompt'], notAsked)
  const { out, verifierPrompt: given } = options
  const prompt = given === undefined ? given : parseWith(verifierPrompt, given, '--verifier-prompt')
  const { sampling, header, recorder } = recording(path, options, teacher, io, 'that can be read')
  const whole = { ...({ gradus: 'verdict-lists', version: 1 } as const), ...header, prompt }
  return recordAttempts<VerifiedPair, VerdictListRow>({
    ...recorder,
    items: pairsToVerify(readRecorded(TWO_ROLES, path, { torn: true }).rows),
    file: RecordingFile.open(VERDICT_LISTS, out, whole, lockRecording),
    make: async (pair, own) => ({
      ...pair,
      ...(await askForVerdicts(pair, teacher, { ...sampling, prompt }, own)),
    }),
    isGood: ({ verdicts }) => verdicts !== null,
    changed: ({ response, criteria }, row) =>
      canonicalJson([response, criteria]) === canonicalJson([row.response, row.criteria])
        ? null
        : 'another response or rubric',
  })
}

/** Records what is missing of every attempt, or pass of the verifier. @throws UsageError, ConfigError, DataError, JudgeError */
export const rolesCommand = async (path: string, options: RolesOptions, io: Io): Promise<number> => {
  const teacher = openTeacher(options, io)
  try {
    return await (options.verify ? recordVerdicts : recordRoles)(path, options, teacher, io)
  } finally {
    await teacher.close?.()
  }
}
