/** @file `gradus grade`: reads responses as a stream, grades so many at a time, prints them in order. */

import { FORMAL_CHECKS, FormalGrader } from '../../grade/formal-grader.ts'
import type { Grader } from '../../grade/grader.ts'
import { needsJudge, rubricGrader, validateVerifiers } from '../../grade/rubric-grader.ts'
import { COMMON_PARAMETERS, RULES, RuleGrader } from '../../grade/rules/index.ts'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { type RubricFile, type RubricItem, readRubricFile } from '../../rubric/formats/index.ts'
import { type NamedRule, ruleOf } from '../../rubric/rules.ts'
import type { NullHandling, RubricScore } from '../../rubric/score.ts'
import type { Columns } from '../../util/column-names.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { type JsonlLine, noRows } from '../../util/jsonl.ts'
import { streamRows } from '../../util/row-stream.ts'
import { StatusLine } from '../../util/status-line.ts'
import { stopThenQuit } from '../interrupts.ts'
import { EXIT, type Io } from '../io.ts'
import { refuseGiven } from '../option-values.ts'
import { bringFiles } from '../rows-option.ts'
import {
  type RuleCommandOptions,
  ruleSettingsOf,
  type SolverCommandOptions,
  solverOptionsOf,
} from '../rule-options.ts'
import { type JudgeCommandOptions, openCommandJudge } from './judge.ts'
import { type PriceOptions, planGrading, refuseStrayPrices } from './plan.ts'
import { gradeItemOf, parseResponseRow, RubricMatcher } from './rows.ts'
import { GradeTally, thresholdCode } from './tally.ts'

export interface GradeCommandOptions
  extends JudgeCommandOptions,
    PriceOptions,
    RuleCommandOptions,
    SolverCommandOptions {
  rubric?: string
  responses?: string
  /** Columns of the responses that have other names there. */
  columns?: Columns
  rule: string
  nulls: NullHandling
  withoutJudge: 'null' | 'error'
  minScore?: number
  maxNullRate?: number
  rules?: boolean
  json?: boolean
  /** All responses to a prompt in one call, scored relative to each other. */
  together?: boolean
  /** With `together`: what to go by, in words. */
  criterion?: string
  /** With `together`: calls a group, each in another order. */
  looks?: number
  /** With `together`: names the orders. */
  seed?: number
}

interface Graded {
  id: string | number
  item: RubricItem
  verdicts: Verdict[]
  result: RubricScore
}

interface Unusable {
  id: string | number | null
  error: string
}

/**
 * Grades every row. A row that cannot be used has a line with the reason, and the exit code becomes 1.
 * @throws UsageError, ConfigError, DataError before anything is graded; JudgeError when every call of the judge would fail.
 */
export const gradeCommand = async (options: GradeCommandOptions, io: Io): Promise<number> => {
  if (options.rules) return listRules(io)
  refuseGiven(
    options,
    ['criterion', 'looks', 'seed'],
    'expected --together with it',
    'give --together, or leave it out',
  )
  const { rubric, responses } = options
  if (rubric === undefined || responses === undefined)
    throw new UsageError(`--${rubric === undefined ? 'rubric' : 'responses'}: expected a file, got none`)
  const rule = ruleOf(options.rule)
  await bringFiles(rubric)
  const file = readRubricFile(rubric)
  if (file.items.length === 0) throw new DataError(`${rubric}: holds no rubric`)
  for (const item of file.items)
    validateVerifiers(item.rubric, file.items.length > 1 ? `${rubric}: ${item.id}` : rubric)
  if (options.dryRun) return planGrading(file, responses, options, io)
  refuseStrayPrices(options)
  const ruleSettings = ruleSettingsOf(options)
  const judge = openCommandJudge(options, io)
  if (!judge) checkWithoutJudge(file, options, io)
  const grader = rubricGrader({
    ...(judge && { judge: judge.grader }),
    rules: new RuleGrader(ruleSettings),
    formal: new FormalGrader({
      solver: solverOptionsOf(options),
      maxResponseChars: ruleSettings.maxResponseChars,
    }),
  })
  try {
    const { tally, interrupted, gaveUp } = await gradeStream({ file, responses, grader, rule, options, io })
    const lines = [...tally.summary(options.rule), ...(judge ? [judge.describe()] : [])]
    ;(options.json ? io.err : io.out).write(`${lines.join('\n')}\n`)
    if (interrupted)
      io.err.write(
        `interrupted: what was under way has been ${gaveUp ? 'given up' : 'finished'}, the rest was not read\n`,
      )
    const unanswered = judge?.neverAnswered() ?? false
    if (unanswered) io.err.write('the judge answered none of its calls; check --judge and --model\n')
    return exitCode(tally, { interrupted, unanswered }, options, io)
  } finally {
    await grader.close?.()
    await judge?.close()
  }
}

const checkWithoutJudge = (file: RubricFile, { withoutJudge }: GradeCommandOptions, io: Io): void => {
  const judged = file.items.filter(({ rubric }) => needsJudge(rubric)).length
  if (judged === 0) return
  const what =
    file.items.length === 1
      ? 'the rubric has criteria'
      : `${judged} of ${file.items.length} rubrics have criteria`
  if (withoutJudge === 'error')
    throw new UsageError(`--judge: ${what} that only a judge can grade`, {
      hint: 'give --judge URL and --model NAME',
    })
  io.err.write(`${what} that only a judge can grade; without --judge their verdicts are null\n`)
}

interface StreamJob {
  file: RubricFile
  responses: string
  grader: Grader
  rule: NamedRule
  options: GradeCommandOptions
  io: Io
}

const gradeStream = async ({ file, responses, grader, rule, options, io }: StreamJob) => {
  const matcher = new RubricMatcher(file)
  const tally = new GradeTally(!matcher.several)
  const { stop, quit, release } = stopThenQuit(io)
  const progress = progressOf(io)
  const work = async (line: JsonlLine): Promise<Graded | Unusable> => {
    let id: string | number | null = null
    try {
      const row = parseResponseRow(line)
      id = row.id ?? null
      const item = matcher.find(row, line.place)
      const verdicts = await grader.grade(gradeItemOf(row, item), item.rubric.criteria, {
        signal: quit,
      })
      const result = rule.score(item.rubric, verdicts, { nulls: options.nulls })
      return { id: id ?? (matcher.several ? item.id : lineNumber(line)), item, verdicts, result }
    } catch (error) {
      if (!(error instanceof DataError)) throw error
      return { id, error: error.message }
    }
  }
  try {
    const results = mapInOrder(streamRows(responses, { columns: options.columns }), work, {
      concurrency: options.concurrency,
      stop,
    })
    for await (const result of results) {
      if ('error' in result) {
        tally.unusable++
        io.err.write(`gradus: ${result.error}\n`)
      } else tally.add(result.item.rubric, result.verdicts, result.result)
      if (options.json) await writeLine(io, rowOf(result, matcher.several))
      progress.renew(() => `graded ${plural(tally.rows + tally.unusable, 'response')}`)
    }
  } catch (error) {
    if (!quit.aborted) throw error
  } finally {
    release()
    progress.close()
  }
  if (tally.rows + tally.unusable === 0 && !stop.aborted) throw noRows(responses, 'response')
  return { tally, interrupted: stop.aborted, gaveUp: quit.aborted }
}

/** Seconds that a command may be silent. */
const SILENT_S = 5

/** A line about what goes on, from a few seconds on. */
const progressOf = (io: Io) => {
  const status = new StatusLine(io.err)
  const startMs = performance.now()
  return {
    renew: (text: () => string) => {
      if (performance.now() - startMs > 1000 * SILENT_S) status.renew(text)
    },
    close: () => status.close(),
  }
}

const lineNumber = ({ place }: JsonlLine): number => Number(place.slice(place.lastIndexOf(':') + 1))

/** What `--json` prints of a response. */
const rowOf = (result: Graded | Unusable, several: boolean): object => {
  if ('error' in result) return { id: result.id, score: null, error: result.error }
  const { id, item, verdicts, result: score } = result
  return {
    id,
    ...(several && { rubric: item.id }),
    score: score.score,
    parts: score.parts,
    verdicts: withPoints(item.rubric, verdicts),
    nulls: score.nulls,
  }
}

/** Verdicts with the points of their criteria, so that a file of them can be read without the rubric. */
const withPoints = ({ criteria }: Rubric, verdicts: readonly Verdict[]) =>
  verdicts.map(({ criterionId, ...verdict }, index) => ({
    criterionId,
    points: criteria[index].points,
    ...verdict,
  }))

/** Writes a line no faster than lines are read, so that a slow reader does not fill the memory. */
const writeLine = async ({ out }: Io, value: object): Promise<void> => {
  const flowing = out.write(`${JSON.stringify(value)}\n`)
  if (flowing === false && process.stdout.writableNeedDrain)
    await new Promise<void>(resolve => process.stdout.once('drain', resolve))
}

const exitCode = (
  tally: GradeTally,
  { interrupted, unanswered }: { interrupted: boolean; unanswered: boolean },
  { minScore, maxNullRate }: GradeCommandOptions,
  io: Io,
): number => {
  if (interrupted) return EXIT.interrupted
  if (tally.unusable > 0 || unanswered) return EXIT.failed
  const rates = [tally.nullRate('positive') ?? 0, tally.nullRate('negative') ?? 0]
  const nullFault =
    maxNullRate !== undefined && Math.max(...rates) > maxNullRate
      ? `null verdicts: expected at most ${maxNullRate} of either sign, got ${rates.join(' and ')}`
      : null
  return thresholdCode({ mean: tally.mean(), minScore, nullFault }, io)
}

const listRules = (io: Io): number => {
  const entry = (name: string, about: string, parameters: readonly string[]) =>
    `${name}\n    ${about}\n    params: ${parameters.join(', ')}`
  const rules = [...RULES.values()].map(({ name, about, parameters }) => entry(name, about, parameters))
  const formal = Object.entries(FORMAL_CHECKS).map(([name, { about }]) =>
    entry(name, about, ['premises', 'conclusion', 'premisesKey', 'conclusionKey', 'noveltyDiscount']),
  )
  const text = [
    'verifier: {kind: rule, fn: NAME, params: {...}}',
    ...rules,
    `every rule also takes ${COMMON_PARAMETERS.join(', ')}`,
    '',
    'verifier: {kind: formal, fn: NAME, params: {...}}',
    ...formal,
  ]
  io.out.write(`${text.join('\n')}\n`)
  return EXIT.ok
}
