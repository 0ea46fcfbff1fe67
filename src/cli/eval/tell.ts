/** @file What an evaluation tells: text for a terminal, JSON for machines, a page for reading. */

import { type FigureName, type Measured, measureTable, type PairedFigure } from '../../measure/index.ts'
import type { Breakdown } from '../../recipes/common/task-kind.ts'
import { comparisonTable } from '../../runs/report/compare.ts'
import { largestOf } from '../../util/descriptive.ts'
import { percent, plural } from '../../util/format.ts'
import { writeOutput } from '../../util/output-file.ts'
import { type Io, printJson } from '../io.ts'
import { breakdownLines } from './breakdown.ts'
import type { Evaluation } from './prepare.ts'
import type { Side } from './sides.ts'

/** A model's answers with their figures. */
export interface MeasuredSide extends Omit<Side, 'answers_P'> {
  measured: Measured
  /** By label, by source, beside shallow baselines. */
  breakdown: Breakdown
}

interface Result extends Evaluation {
  a: MeasuredSide
  b: MeasuredSide | null
  paired: Record<string, PairedFigure | null> | null
}

const howAsked = ({ settings }: Pick<Side, 'settings'>, measured: Measured): string => {
  if (settings === undefined) return 'saved answers'
  const { temperature, maxTokens } = settings
  const most = largestOf(measured.items.map(({ graded }) => graded.length))
  const sampled = `${plural(most, 'sample')} at temperature ${temperature}`
  const byTurn = measured.items.some(({ graded }) => graded.some(({ answer }) => answer.episode))
  return `${temperature === 0 ? 'greedy' : sampled}, at most ${maxTokens} tokens${byTurn ? ' a turn' : ''}`
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
  return `${factsOf(result).join('\n')}\n\n${[comparisonTable([head, ...rows]), ...breakdown].join('\n')}\n`
}

const sideJson = (
  { model, served, settings, missing, measured, breakdown: { scoreNames: _, ...breakdown } }: MeasuredSide,
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
export const tell = async (result: Result, io: Io): Promise<void> => {
  const { json, html } = result.options
  if (json) printJson(io, jsonOf(result))
  else io.out.write(textOf(result))
  if (html !== undefined) await writePage(html, result, io)
}
