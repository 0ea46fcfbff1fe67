/** @file `gradus eval` on rows and on public benchmarks: answers, their figures, a comparison, a gate. */

import { FormalGrader } from '../../grade/formal-grader.ts'
import { needsJudge } from '../../grade/rubric-grader.ts'
import { RuleGrader } from '../../grade/rules/index.ts'
import {
  type Answer,
  AnswerFile,
  type AskSettings,
  askAll,
  compare,
  type FigureName,
  figureNames,
  figureTable,
  type GradedAnswer,
  gradeAll,
  type Measured,
  type MeasuredProblem,
  type MeasuredTask,
  measure,
  type NamedJudge,
  type PairedFigure,
  SavedAnswers,
  savedAnswer,
} from '../../measure/index.ts'
import { Progress } from '../../runs/progress.ts'
import { table } from '../../runs/report/compare.ts'
import { shortHash } from '../../util/canonical.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { percent, plural } from '../../util/format.ts'
import { writeOutput } from '../../util/output-file.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { bringFiles } from '../rows-option.ts'
import type { ServedIdentity } from '../train/served.ts'
import { openTalking, type TalkingOptions } from './answering.ts'
import { gatesOf, heldBack } from './gate.ts'
import { openJudges } from './judges.ts'
import type { EvalOptions } from './options.ts'
import { taskNamed } from './tasks.ts'

/** Ctrl+C. */
class Interrupted extends Error {}

/** @throws UsageError, DataError, ConfigError before anything is asked; CheckpointError, ServedError, JudgeError. */
export const measuredCommand = async (options: EvalOptions, io: Io): Promise<number> => {
  const evaluation = await prepare(options)
  const { names, gates } = evaluation
  const stop = new AbortController()
  let asked = 0
  const release = io.onInterrupt(() => {
    if (asked++ > 0) process.exit(EXIT.interrupted)
    stop.abort(new Interrupted())
  })
  try {
    const sides = [
      await answersOf(evaluation, options.model, '--model', io, stop.signal),
      ...(options.against === undefined
        ? []
        : [await answersOf(evaluation, options.against, '--against', io, stop.signal)]),
    ]
    const [a, b = null] = await graded(evaluation, sides, io)
    const paired = b && compare(a.measured, b.measured, names)
    const result = { ...evaluation, a, b, paired }
    if (options.json) printJson(io, jsonOf(result))
    else io.out.write(textOf(result))
    if (options.html !== undefined) await writePage(options.html, result, io)
    return heldBack(gates, a.measured, paired, io) ? EXIT.belowThreshold : EXIT.ok
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    return EXIT.interrupted
  } finally {
    release()
  }
}

interface Evaluation {
  options: EvalOptions
  task: MeasuredTask
  file: string
  problems: readonly MeasuredProblem[]
  names: readonly FigureName[]
  gates: ReturnType<typeof gatesOf>
  settings: AskSettings
}

const isSaved = (place: string): boolean => /\.(jsonl|ndjson)(\.gz)?$/i.test(place)

/** All that can be known before a model is opened. */
const prepare = async (options: EvalOptions): Promise<Evaluation> => {
  const { rubric, limit, temperature, samples, maxTokens, seed, against, model, data = [] } = options
  if (samples > 1 && temperature === 0)
    throw new UsageError('--samples: greedy samples are all alike', { hint: 'give a --temperature above 0' })
  if (data.length !== 1)
    throw new UsageError(
      `--data: expected one file of problems, got ${data.length === 0 ? 'none' : data.length}`,
    )
  const needsAgainst = {
    'against-out': options.againstOut,
    'no-worse': options.noWorse,
    'against-api-key-env': options.againstApiKeyEnv,
  }
  const stray = Object.entries(needsAgainst).find(([, value]) => value !== undefined)
  if (against === undefined && stray)
    throw new UsageError(`--${stray[0]}: there is nothing to compare with`, {
      hint: 'give --against MODEL too',
    })
  const [file] = data
  const saved = [model, against].filter(place => place !== undefined && isSaved(place))
  await bringFiles(file, rubric, ...saved)
  const task = await taskNamed(options)
  const problems = task.problems(file).slice(0, limit)
  const isJudged = problems.some(problem => needsJudge(problem.rubric))
  if (isJudged && options.judge === undefined && saved.length === 0)
    throw new UsageError('--judge: there are criteria that only a judge can grade, and no judge', {
      hint: 'give --judge URL#NAME',
    })
  const idle = (['judge', 'heldOutJudge'] as const).find(key => !isJudged && options[key] !== undefined)
  if (idle !== undefined)
    throw new UsageError(
      `--${idle === 'judge' ? 'judge' : 'held-out-judge'}: every criterion has a rule, and nothing is left to a judge`,
      { hint: 'leave it out' },
    )
  const names = figureNames(task, problems, { heldOut: options.heldOutJudge !== undefined })
  const gates = gatesOf(options, names)
  return {
    options,
    task,
    file,
    problems,
    names,
    gates,
    settings: { temperature, maxTokens: maxTokens ?? task.maxTokens, seed },
  }
}

/** Answers of a model, or of a file in its place. */
interface Side {
  model: string
  served?: ServedIdentity
  settings?: AskSettings
  answers_P: Answer[][]
  /** Problems without an answer, with the reason. */
  missing: { id: string; reason: string }[]
  /** Keeps the answers with their verdicts. */
  keep?(answers: readonly Answer[]): void
}

type Setting = '--model' | '--against'

const answersOf = async (
  evaluation: Evaluation,
  place: string,
  setting: Setting,
  io: Io,
  signal: AbortSignal,
): Promise<Side> => {
  const { options } = evaluation
  const out = setting === '--model' ? options.out : options.againstOut
  const side = isSaved(place)
    ? savedSide(evaluation, place, out)
    : await askedSide(evaluation, { place, setting, out }, io, signal)
  const { missing, answers_P } = side
  if (missing.length > 0)
    io.err.write(
      `${setting}: ${plural(missing.length, 'problem')} without an answer: ${missing
        .slice(0, 5)
        .map(({ id, reason }) => `${id} (${reason})`)
        .join('; ')}${missing.length > 5 ? '; ...' : ''}\n`,
    )
  if (answers_P.every(own => own.length === 0))
    throw new DataError(
      `${setting}: expected answers to some of ${plural(evaluation.problems.length, 'problem')}, got none`,
    )
  return side
}

const savedSide = ({ problems }: Evaluation, place: string, out: string | undefined): Side => {
  const saved = new SavedAnswers(place)
  const answers_P = problems.map(problem => saved.to(problem))
  const missing = problems
    .filter((_, p) => answers_P[p].length === 0)
    .map(({ id }) => ({ id, reason: `not in ${place}` }))
  return {
    model: saved.model,
    ...(saved.settings && { settings: saved.settings }),
    answers_P,
    missing,
    ...(out !== undefined && {
      keep: answers => writeOutput(out, answers.map(answer => `${JSON.stringify(answer)}\n`).join('')),
    }),
  }
}

const talkingOptions = (options: EvalOptions, place: string, setting: Setting): TalkingOptions => {
  const { adapter, threads, dialect, concurrency, modelApiKeyEnv, againstApiKeyEnv } = options
  const apiKeyEnv = setting === '--model' ? modelApiKeyEnv : againstApiKeyEnv
  return {
    model: place,
    threads,
    ...(adapter !== undefined && setting === '--model' && { adapter }),
    ...(dialect !== undefined && setting === '--model' && { dialect }),
    ...(concurrency !== undefined && { concurrency }),
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
  }
}

interface AskedPlace {
  place: string
  setting: Setting
  out: string | undefined
}

const askedSide = async (
  { options, problems, settings }: Evaluation,
  { place, setting, out }: AskedPlace,
  io: Io,
  signal: AbortSignal,
): Promise<Side> => {
  const talking = await openTalking(talkingOptions(options, place, setting), setting, io)
  const { chat, concurrency, served } = talking
  const model =
    setting === '--model' && options.adapter !== undefined ? `${place} with ${options.adapter}` : place
  const by = shortHash([chat.name, chat.variant, served?.server, settings])
  const total = problems.length * options.samples
  const progress = new Progress({
    total,
    label: 'answers',
    unit: 'answer',
    quiet: options.json,
    stream: io.err,
  })
  let done = 0
  try {
    const file = out === undefined ? undefined : new AnswerFile(out, by)
    const onAnswer = (count: number) => {
      done = count
      progress.update(count)
    }
    const asked = { chat, model, by, settings, samples: options.samples, concurrency }
    const { answers_P, refused } = await askAll(asked, problems, { onAnswer, signal }, file)
    progress.close()
    await talking.close()
    return {
      model,
      served,
      settings,
      answers_P,
      missing: refused,
      ...(file && { keep: answers => file.finish(answers) }),
    }
  } catch (error) {
    progress.close()
    // What is being sampled in this process ends for nobody.
    if (error instanceof Interrupted)
      io.err.write(`interrupted after ${done} of ${plural(total, 'answer')}${afterwards(setting, out)}\n`)
    else await talking.close()
    throw error
  }
}

const afterwards = (setting: Setting, out: string | undefined): string =>
  out === undefined
    ? `; nothing was kept: with ${setting === '--model' ? '--out' : '--against-out'} FILE.jsonl answers are, and the same command goes on from there`
    : `; they are kept in ${out}.partial: the same command goes on from there`

/** A model's answers with their figures. */
interface MeasuredSide extends Omit<Side, 'answers_P'> {
  measured: Measured
}

const graded = async (evaluation: Evaluation, sides: readonly Side[], io: Io): Promise<MeasuredSide[]> => {
  const { options, task, problems, names } = evaluation
  const judges = await openJudges(options, io)
  const parts = {
    rules: new RuleGrader(),
    formal: new FormalGrader(),
    judge: judges.judge,
    heldOut: judges.heldOut,
  }
  try {
    const measured: MeasuredSide[] = []
    for (const { answers_P, keep, ...side } of sides) {
      const total = answers_P.flat().length
      const progress = new Progress({
        total,
        label: 'graded',
        unit: 'answer',
        quiet: options.json || judges.judge === null,
        stream: io.err,
      })
      const graded_P = await gradeAll(task, problems, answers_P, parts, done => progress.update(done))
      progress.close()
      keep?.(rowsOf(evaluation, graded_P, parts))
      measured.push({ ...side, measured: measure(side.model, task, problems, graded_P, names) })
    }
    for (const line of judges.lines()) io.err.write(`${line}\n`)
    return measured
  } finally {
    await parts.formal.close()
    await judges.close()
  }
}

const rowsOf = (
  { task, problems }: Evaluation,
  graded_P: readonly (readonly GradedAnswer[])[],
  judges: { judge: NamedJudge | null; heldOut: NamedJudge | null },
): Answer[] =>
  problems.flatMap((problem, p) => graded_P[p].map(own => savedAnswer(task, problem, own, judges)))

interface Result extends Evaluation {
  a: MeasuredSide
  b: MeasuredSide | null
  paired: Record<string, PairedFigure | null> | null
}

const howAsked = ({ settings }: Pick<Side, 'settings'>, measured: Measured): string => {
  if (settings === undefined) return 'saved answers'
  const { temperature, maxTokens } = settings
  const most = Math.max(...measured.items.map(({ graded }) => graded.length))
  const sampled = `${plural(most, 'sample')} at temperature ${temperature}`
  return `${temperature === 0 ? 'greedy' : sampled}, at most ${maxTokens} tokens`
}

const factsOf = ({ task, file, problems, a, b, options }: Result): string[] => [
  `${task.name}: ${plural(problems.length, 'problem')} of ${file}`,
  ...[a, ...(b ? [b] : [])].map(
    side =>
      `${side.model}: ${plural(side.measured.items.length, 'problem')} answered, ${howAsked(side, side.measured)}${side.measured.nullRate > 0 ? `, ${percent(side.measured.nullRate)} of verdicts missing` : ''}`,
  ),
  task.about,
  ...(options.judge === undefined ? [] : [`judge: ${options.judge}`]),
  ...(options.heldOutJudge === undefined
    ? []
    : [`held-out judge: ${options.heldOutJudge}; no part of the score`]),
]

const tableOf = ({ names, a, b, paired }: Result) =>
  figureTable(names, a.measured, b && { b: b.measured, paired: paired! })

const textOf = (result: Result): string => {
  const { head, rows } = tableOf(result)
  return `${factsOf(result).join('\n')}\n\n${table([head, ...rows])}\n`
}

const sideJson = (
  { model, served, settings, missing, measured }: MeasuredSide,
  names: readonly FigureName[],
) => {
  const { figures, items, nullRate, nullRates } = measured
  const of = (group: FigureName['group']) =>
    Object.fromEntries(
      names.flatMap(({ name, ...own }) =>
        own.group === group
          ? [[name, { ...figures[name], ...(name in nullRates && { nullRate: nullRates[name] }) }]]
          : [],
      ),
    )
  return {
    model: served ?? model,
    n: items.length,
    ...(settings && settings),
    scores: of('score'),
    criteria: of('rate'),
    response: of('response'),
    ...(names.some(({ group }) => group === 'held-out judge') && { heldOutJudge: of('held-out judge') }),
    nullRate,
    missing,
  }
}

const jsonOf = ({ task, file, problems, names, options, a, b, paired }: Result) => ({
  task: task.name,
  data: file,
  problems: problems.length,
  samples: options.samples,
  primary: task.primary,
  ...sideJson(a, names),
  ...(b && { against: sideJson(b, names), comparison: paired }),
})

const writePage = async (path: string, result: Result, io: Io): Promise<void> => {
  const { answerPage } = await import('../../measure/page.tsx')
  const { task, problems, a, b, paired } = result
  const { primary } = task
  const title = b ? `${a.model} against ${b.model}` : a.model
  const own = { title, facts: factsOf(result), table: tableOf(result), problems, primary }
  writeOutput(
    path,
    answerPage({ ...own, a: a.measured, b: b?.measured ?? null, paired: paired?.[primary] ?? null }),
  )
  io.err.write(`written to ${path}\n`)
}
