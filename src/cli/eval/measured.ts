/** @file `gradus eval` on rows and on public benchmarks: answers, their metrics, a comparison, a gate. */

import type { SavedAnswer } from '../../measure/answers.ts'
import { type PairedMetric, pairedDifferences } from '../../measure/compare.ts'
import { type NamedJudge, savedAnswer } from '../../measure/grading.ts'
import { type GradedAnswer, type Measured, type MetricName, measure } from '../../measure/metrics.ts'
import { measureTable } from '../../measure/words.ts'
import type { Breakdown } from '../../recipes/common/task-kind.ts'
import { alignedTable } from '../../runs/report/page-text.ts'
import type { EvalRow, SourceScore } from '../../runs/rows.ts'
import { describeScore, headlineScores } from '../../runs/scores.ts'
import { largestOf } from '../../util/descriptive.ts'
import { UsageError } from '../../util/errors.ts'
import { NONE, percent, percentNumber, plural } from '../../util/format.ts'
import { writeOutput } from '../../util/output-file.ts'
import { untilInterrupted } from '../interrupts.ts'
import { EXIT, Interrupted, type Io, printJson } from '../io.ts'
import { heldBack } from './gate.ts'
import { openGraders } from './judges.ts'
import type { EvalOptions } from './options.ts'
import { type Evaluation, prepare } from './prepare.ts'
import { answersOf, gradeWith, type Side } from './sides.ts'
import { startLogprobs } from './start.ts'

const share = (value: number | null | undefined): string =>
  value == null ? NONE : percent(value).padStart(6)

const balanceLines = ({ balance }: Breakdown): string[] => {
  if (!balance) return []
  const { macroRecall, minClassRecall, predicted, trueBias } = balance
  const said = Object.entries(predicted).filter(([, value]) => value > 0)
  return [
    `  recall over labels   mean ${percent(macroRecall)}, lowest ${percent(minClassRecall)}`,
    `  answers given        ${said.map(([label, value]) => `${label} ${percent(value)}`).join(', ')}`,
    ...(trueBias === null ? [] : [`  True-bias            ${percentNumber(trueBias)} points`]),
  ]
}

type TellingRow = Pick<EvalRow, 'scores' | 'primary' | 'scoreNames' | 'bySource'>

const linesOf = (
  name: string,
  row: TellingRow,
  { n, scores, byLabel = {}, criteria = {} }: SourceScore,
): string[] => {
  const values = headlineScores([row]).map(
    score => `${describeScore(score, [row])} ${percent(scores[score]?.value)}`,
  )
  const labels = Object.entries(byLabel).map(
    ([label, own]) => `${label} ${percent(own.scores.accuracy)} of ${own.n}`,
  )
  const met = Object.entries(criteria).map(([id, value]) => `${id} ${percent(value)}`)
  return [
    `    ${name}, ${plural(n, 'problem')}: ${values.join(', ')}`,
    `      criteria        ${met.join(', ')}`,
    `      answers to      ${labels.join(', ')}`,
  ]
}

/** Lines about each source of a row; none where there is one source alone. */
const sourceScoreLines = (row: TellingRow): string[] => {
  const entries = Object.entries(row.bySource ?? {})
  return entries.length === 0
    ? []
    : ['  by source:', ...entries.flatMap(([name, own]) => linesOf(name, row, own))]
}

/** @param primary the score that sources are told by, beside right answers */
const breakdownLines = (breakdown: Breakdown, primary: string): string[] => {
  const { byLabel = {}, baselines, scoreNames = {} } = breakdown
  const scores = Object.fromEntries(Object.keys(scoreNames).map(name => [name, { value: null }]))
  return [
    ...Object.entries(byLabel).map(
      ([label, { n, scores }]) => `  ${`answers to ${label}`.padEnd(20)} ${share(scores.accuracy)} of ${n}`,
    ),
    ...balanceLines(breakdown),
    ...sourceScoreLines({ scores, primary, ...breakdown }),
    ...(baselines ? ['  shallow baselines, answers right:'] : []),
    ...Object.entries(baselines ?? {}).map(
      ([name, { scores }]) => `    ${share(scores.accuracy?.value)}  ${name}`,
    ),
  ]
}

/** A model's answers with their metrics. */
interface MeasuredSide extends Omit<Side, 'answers_P'> {
  measured: Measured
  /** By label, by source, beside shallow baselines. */
  breakdown: Breakdown
}

interface Result extends Evaluation {
  a: MeasuredSide
  b: MeasuredSide | null
  paired: Record<string, PairedMetric | null> | null
}

const howAsked = ({ settings }: Pick<Side, 'settings'>, measured: Measured): string => {
  if (settings === undefined) return 'saved answers'
  const { temperature, maxTokens } = settings
  const most = largestOf(measured.items.map(({ graded }) => graded.length))
  const spread = most > 1 ? ' (±: standard deviation between their means)' : ''
  const sampled = temperature === 0 ? 'greedy' : `${plural(most, 'sample')} at temperature ${temperature}`
  const byTurn = measured.items.some(({ graded }) => graded.some(({ answer }) => answer.episode))
  return `${sampled}${spread}, at most ${maxTokens} tokens${byTurn ? ' a turn' : ''}`
}

const ASKED = {
  tokens: 'prompts in tokens of the local tokenizer',
  text: 'prompts in words',
  chat: "prompts in words, by the server's own template",
}

const servedWords = ({ model, served }: MeasuredSide): string =>
  served ? `model ${served.name} at ${served.server} (${served.dialect}); ${ASKED[served.asked]}` : model

const describeSide = (side: MeasuredSide): string => {
  const { items, nullRate } = side.measured
  const nulls = nullRate > 0 ? `, ${percent(nullRate)} of verdicts missing` : ''
  return `${servedWords(side)}: ${plural(items.length, 'problem')} answered, ${howAsked(side, side.measured)}${nulls}`
}

const factsOf = ({ measured, data, problems, a, b, options }: Result): string[] => [
  `${measured.name}: ${plural(problems.length, 'problem')} of ${data}`,
  ...(b ? [`A: ${describeSide(a)}`, `B: ${describeSide(b)}`] : [describeSide(a)]),
  measured.about,
  ...(options.judge === undefined ? [] : [`judge: ${options.judge}`]),
  ...(options.heldOutJudge === undefined
    ? []
    : [`held-out judge: ${options.heldOutJudge}; no part of the score`]),
]

const tableOf = ({ names, a, b, paired }: Result) =>
  measureTable(names, a.measured, b && { b: b.measured, paired: paired! })

const textOf = (result: Result): string => {
  const { head, rows } = tableOf(result)
  const breakdown = [result.a, ...(result.b ? [result.b] : [])].flatMap((side, i) => {
    const lines = breakdownLines(side.breakdown, result.measured.primary)
    return lines.length === 0 ? [] : ['', ...(result.b ? [`${'AB'[i]}:`] : []), ...lines]
  })
  return `${factsOf(result).join('\n')}\n\n${[alignedTable([head, ...rows]), ...breakdown].join('\n')}\n`
}

const sideJson = (
  { model, served, settings, missing, measured, breakdown: { scoreNames: _, ...breakdown } }: MeasuredSide,
  names: readonly MetricName[],
) => {
  const { metrics, items, nullRate, nullRates } = measured
  const of = (group: MetricName['group']) =>
    Object.fromEntries(
      names.flatMap(({ name, ...own }) =>
        own.group === group
          ? [[name, { ...metrics[name], ...(name in nullRates && { nullRate: nullRates[name] }) }]]
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
    ...breakdown,
  }
}

const jsonOf = ({ measured, data, problems, names, options, a, b, paired }: Result) => ({
  task: measured.name,
  data,
  problems: problems.length,
  samples: options.samples,
  primary: measured.primary,
  ...sideJson(a, names),
  ...(b && { against: sideJson(b, names), comparison: paired }),
})

const writePage = async (path: string, result: Result, io: Io): Promise<void> => {
  const { answerPage } = await import('../../measure/page.tsx')
  const { measured, problems, a, b, paired } = result
  const { primary } = measured
  const title = b ? `${a.model} against ${b.model}` : a.model
  const own = { title, facts: factsOf(result), table: tableOf(result), problems, primary }
  writeOutput(
    path,
    answerPage({ ...own, a: a.measured, b: b?.measured ?? null, paired: paired?.[primary] ?? null }),
  )
  io.err.write(`written to ${path}\n`)
}

/** Prints the result, and writes the page where one is asked for. @throws DataError where it cannot be written */
const tell = async (result: Result, io: Io): Promise<void> => {
  const { json, html } = result.options
  if (json) printJson(io, jsonOf(result))
  else io.out.write(textOf(result))
  if (html !== undefined) await writePage(html, result, io)
}

/** @throws UsageError, DataError, ConfigError before anything is asked; CheckpointError, ServedError, JudgeError. */
export const measuredCommand = async (options: EvalOptions, io: Io): Promise<number> => {
  const evaluation = await prepare(options, io)
  const { names, gates } = evaluation
  return untilInterrupted(
    io,
    async signal => {
      const sides = [
        await answersOf(evaluation, options.model, '--model', io, signal),
        ...(options.against === undefined
          ? []
          : [await answersOf(evaluation, options.against, '--against', io, signal)]),
      ]
      const [a, b = null] = await graded(evaluation, sides, io, signal)
      const paired = b && pairedDifferences(a.measured, b.measured, names)
      await tell({ ...evaluation, a, b, paired }, io)
      const compared = { names, a: a.measured, b: b?.measured ?? null, paired }
      return heldBack(gates, compared, io) ? EXIT.belowThreshold : EXIT.ok
    },
    () => evaluation.task.close?.(),
  )
}

/** Without a judge, verdicts that saved answers have are taken as they are. @throws UsageError where two judges gave them */
const refuseTwoJudges = ({ judge }: EvalOptions, sides: readonly Side[]): void => {
  const judged = sides.flatMap(({ answers_P }) => answers_P.flat()).filter(own => own.judge !== undefined)
  const names = [...new Set(judged.map(own => own.judge))]
  const ways = new Set(judged.map(own => JSON.stringify([own.judge, own.judgeDigest])))
  if (judge === undefined && ways.size > 1)
    throw new UsageError(
      `--against: expected verdicts of one judge, asked in one way, got those of ${names.join(' and ')}${names.length > 1 ? '' : ', asked in several'}`,
      {
        hint: 'give --judge, which is then asked about all of them',
      },
    )
}

const graded = async (
  evaluation: Evaluation,
  sides: readonly Side[],
  io: Io,
  signal: AbortSignal,
): Promise<MeasuredSide[]> => {
  const { options, kind, measured: own, problems, names, way } = evaluation
  refuseTwoJudges(options, sides)
  const answers = sides.flatMap(({ answers_P }) => answers_P.flat())
  const startLogprob = await startLogprobs(options, problems, answers, io)
  const graders = await openGraders({ ...options, way }, io)
  try {
    const measured: MeasuredSide[] = []
    for (const { answers_P, keep, ...side } of sides) {
      const graded_P = await gradeWith(evaluation, answers_P, { ...graders, startLogprob }, signal, io)
      keep?.(rowsOf(evaluation, graded_P, graders))
      const answered = problems.flatMap(({ problem }, p) => {
        const said = graded_P[p].flatMap(graded => graded.said ?? [])
        return said.length > 0 ? [{ problem, said }] : []
      })
      measured.push({
        ...{ ...side, measured: measure(side.model, own, problems, graded_P, names) },
        breakdown: kind.breakdown?.(answered) ?? {},
      })
    }
    for (const line of graders.lines()) io.err.write(`${line}\n`)
    return measured
  } catch (error) {
    if (error instanceof Interrupted)
      io.err.write('interrupted while answers were graded; those of --out and --against-out are kept\n')
    throw error
  } finally {
    await graders.close()
  }
}

const rowsOf = (
  { measured, problems }: Evaluation,
  graded_P: readonly (readonly GradedAnswer[])[],
  judges: { judge: NamedJudge | null; heldOut: NamedJudge | null },
): SavedAnswer[] =>
  problems.flatMap((problem, p) => graded_P[p].map(own => savedAnswer(measured, problem, own, judges)))
