/** @file Logic by its name, to be measured: problems of files or generated ones, in words of the small model or for any chat model. */

import { z } from 'zod'
import type { GradeItem } from '../../grade/grader.ts'
import { LOGIC_RUBRIC } from '../../grade/logic/rubric.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { tokenizerFolder } from '../../model/lora-files.ts'
import { hasTokenizer } from '../../model/tokenizer.ts'
import type { Criterion } from '../../rubric/index.ts'
import { uniqueNames } from '../../rubric/unique.ts'
import { decideRows } from '../../tasks/logic/decided.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { MAX_HOPS } from '../../tasks/logic/generator.ts'
import {
  formatOfFile,
  type LeftOutRow,
  LOGIC_FILE_FORMATS,
  readLogicFile,
} from '../../tasks/logic/loaders.ts'
import { chatLogicFormat, type LogicFormat, miniatureFormat } from '../../tasks/logic/prompts.ts'
import { type LogicVerdicts, logicTask } from '../../tasks/logic/task.ts'
import { GENERATED_TEST_SETS } from '../../tasks/logic/testset-names.ts'
import { hopsTitle, logicTestSet, shuffleSentences } from '../../tasks/logic/testsets.ts'
import { LONG_LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { assertLogicVocabulary, hasLogicTokenizer, logicTokensOf } from '../common/starting-model.ts'
import type { Breakdown, TaskKind, TaskParts } from '../common/task-kind.ts'
import { baselineRows, nothingLeft } from './evaluate.ts'
import { formatFor } from './format.ts'
import { breakdownScores, LOGIC_SCORE_NAMES, LOGIC_SCORES } from './scores.ts'

/** What the judge is asked; it may give half credit. */
const SOFT_CRITERIA: readonly Criterion[] = [
  {
    id: 'judged.C4',
    text: 'The reasoning uses the given premises that the conclusion depends on. Partly: it uses some of them and leaves out others.',
    points: 1,
  },
  {
    id: 'judged.C5',
    text: 'The steps that are written down are enough, by themselves, to settle the conclusion as the answer says. Partly: most of the chain is there and a link is missing.',
    points: 1,
  },
]

/** A response as the judge sees it. */
const softItem = ({ id, context, question }: LogicTaskExample, response: string): GradeItem => ({
  id,
  prompt: [{ role: 'user', content: `${context}\n${question}` }],
  response,
})

const settings = z.strictObject({
  generated: z.enum(GENERATED_TEST_SETS).optional(),
  hops: z.int().min(1).max(MAX_HOPS).optional(),
  format: z.enum(LOGIC_FILE_FORMATS).optional(),
  formulas: z.enum(['hidden', 'shown']).optional(),
  shuffle: z.union([z.string(), z.int()]).optional(),
  solverTimeoutMs: z.int().min(1).optional(),
  uniqueNames: z.boolean().optional(),
})
type LogicSettings = z.output<typeof settings>

/** A model that has the task's words alone. */
const isSmall = (folder: string): boolean =>
  !hasTokenizer(tokenizerFolder(folder)) || hasLogicTokenizer(folder)

const formatOf = ({ formulas }: LogicSettings, { asked, folder, format }: TaskParts): LogicFormat => {
  if (asked === 'words') return chatLogicFormat(format, { formulas })
  if (folder !== '' && !isSmall(folder)) return formatFor('chat', folder, { formulas })
  if (formulas === 'shown')
    throw new UsageError('--formulas: the small model reads sentences alone', {
      hint: 'leave --formulas out',
    })
  return folder === '' ? miniatureFormat(LONG_LOGIC_VOCABULARY.length) : formatFor('miniature', folder)
}

interface ReadRows {
  name: string
  rows: LogicTaskExample[]
  leftOut: readonly LeftOutRow[]
}

const reasons = (rows: readonly LeftOutRow[]): string =>
  rows.map(({ id, reason }) => `${id} (${reason})`).join('; ')

const readRows = (path: string, { format = formatOfFile(path) }: LogicSettings, limit: number): ReadRows => {
  const { problems, unread } = readLogicFile(path, format)
  const rows = problems.slice(0, limit)
  if (rows.length > 0) return { name: path, rows, leftOut: unread }
  throw new DataError(
    `${path}: holds no problems${unread.length > 0 ? ` that can be read: ${reasons(unread)}` : ''}`,
  )
}

/** @throws UsageError for settings of files beside generated problems, and the other way round; DataError for a file */
const sourcesOf = (own: LogicSettings, { files, tests }: TaskParts): ReadRows[] => {
  const { generated, hops, format } = own
  if (generated === undefined) {
    if (files.length === 0)
      throw new UsageError('--data: expected a file of problems, got none', {
        hint: 'or --generated shortcut-free',
      })
    if (hops !== undefined)
      throw new UsageError('--hops: has no effect on the problems of a file', { hint: 'leave it out' })
    return files.map(path => readRows(path, own, tests))
  }
  const other = files.length > 0 ? '--data' : format !== undefined ? '--format' : null
  if (other !== null)
    throw new UsageError(`${other}: expected a file or generated problems, got both`, {
      hint: `leave ${other} or --generated out`,
    })
  const rows = logicTestSet(generated, { hops, count: tests })
  return [{ name: `${generated}, ${hopsTitle(hops ?? 5)}`, rows, leftOut: [] }]
}

/** Rows that can be used, each with its file as its source where there are several; what is left out is reported. */
const decided = async (sources: readonly ReadRows[], { shuffle }: LogicSettings, solver: LogicSolver) => {
  const problems: LogicTaskExample[] = []
  const notes: string[] = []
  const unique = uniqueNames()
  for (const { name, rows, leftOut } of sources) {
    const shuffled = shuffle === undefined ? rows : rows.map(row => shuffleSentences(row, shuffle))
    const { problems: own, faulty, doubted } = await decideRows(shuffled, solver)
    const missing = [...leftOut, ...faulty]
    if (missing.length > 0)
      notes.push(`${name}: ${plural(missing.length, 'row')} left out: ${reasons(missing)}`)
    if (doubted.length > 0)
      notes.push(
        `${name}: ${plural(doubted.length, 'row')} whose formulas do not give the label; the answer counts, proofs are not judged: ${reasons(doubted)}`,
      )
    const isOne = sources.length === 1
    for (const row of own)
      problems.push({
        ...row,
        id: unique(isOne ? row.id : `${name}/${row.id}`),
        ...(!isOne && { source: name }),
      })
  }
  return { problems, notes }
}

const open = async (own: LogicSettings, parts: TaskParts) => {
  const format = formatOf(own, parts)
  const sources = sourcesOf(own, parts)
  const { shuffle, solverTimeoutMs: timeoutMs, uniqueNames } = own
  const solver = await LogicSolver.start({ timeoutMs, uniqueNames })
  const { problems, notes } = await decided(sources, own, solver).catch(async error => {
    await solver.close()
    throw error
  })
  const { grade, ...task } = logicTask(format, solver, { truth: 'only' })
  const judged = parts.judged ? SOFT_CRITERIA : []
  const rubric = { ...LOGIC_RUBRIC, criteria: [...LOGIC_RUBRIC.criteria, ...judged] }
  const name = `${sources.map(source => source.name).join(', ')}${shuffle === undefined ? '' : `, sentences shuffled by ${shuffle}`}`
  const withJudge: typeof grade = async items => {
    const said = await grade(items)
    return Promise.all(
      said.map(async (own, i) => {
        // Nothing is known of an answer that cannot be judged by its problem.
        const { excluded } = own
        if (excluded !== null)
          return { ...own, verdicts: own.verdicts.map(({ credit: _, ...rest }) => ({ ...rest, met: null })) }
        if (judged.length === 0) return own
        const asked = softItem(items[i].problem, own.response.text)
        return { ...own, verdicts: [...own.verdicts, ...(await parts.grader.grade(asked, judged))] }
      }),
    )
  }
  return {
    ...{ ...task, grade: withJudge, rubric: () => rubric, notes },
    tests: { [name]: problems },
    close: async () => solver.close(),
  }
}

type Answered = readonly { problem: LogicTaskExample; said: readonly LogicVerdicts[] }[]

const breakdown = (answered: Answered): Breakdown => {
  const kept = answered.flatMap(({ problem, said }) => {
    const known = said.filter(({ excluded }) => excluded === null)
    return known.length > 0 ? [{ problem, said: known }] : []
  })
  if (kept.length === 0) throw nothingLeft('logic', answered.length)
  const baselines = baselineRows(kept.map(({ problem }) => problem))
  return { scoreNames: LOGIC_SCORE_NAMES, ...breakdownScores(kept), baselines }
}

export const LOGIC_KIND: TaskKind<LogicSettings, LogicTaskExample> = {
  settings,
  about:
    'Problems with one right label; proved is an answer whose steps prove it, without a leap. Criteria: C1 answer, C2 step validity, C3 format, C4 premise use, C5 completeness, the last two by proof.',
  ...{ asked: 'words', maxTokens: 1024, reads: 'files' },
  putTo(folder) {
    if (folder === null || !isSmall(folder)) return { asked: 'words', maxTokens: 1024 }
    assertLogicVocabulary(folder)
    return { asked: 'tokens', maxTokens: 112, vocabulary: logicTokensOf(folder) }
  },
  judge: () => ({ calls: 'rubric', levels: 'levels', needed: false }),
  scores: LOGIC_SCORES,
  // Nothing is proved where no conclusion has a formula.
  primary: rows => (rows.some(own => own.conclusionFol !== null) ? 'correctAndProved' : 'accuracy'),
  breakdown: answered => breakdown(answered as Answered),
  open,
}
