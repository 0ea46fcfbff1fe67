/** @file `gradus rubric audit`: samples a model, edits what it said, and tells what a training would pay for each edit. */

import { z } from 'zod'
import { needsJudge } from '../../grade/rubric-grader.ts'
import { answerLines, type SavedAnswer } from '../../measure/answers.ts'
import {
  type Audit,
  type AuditedEdit,
  type AuditValue,
  auditOf,
  editedAnswers,
  type PaidAnswer,
  paid,
  referenceAnswer,
} from '../../measure/audit.ts'
import { savedAnswer } from '../../measure/grading.ts'
import { isSilent } from '../../measure/metrics.ts'
import {
  checkOptions,
  countedVerdicts,
  scoringOf,
  verdictOptionsShape,
} from '../../recipes/options/options.ts'
import { NULL_HANDLINGS } from '../../rubric/score.ts'
import { alignedTable } from '../../runs/report/page-text.ts'
import { GradusError, UsageError } from '../../util/errors.ts'
import { NONE, number, percent, plural, wholePercent } from '../../util/format.ts'
import { assertWritable, writeOutput } from '../../util/output-file.ts'
import { parseWith } from '../../util/schema.ts'
import { openGraders } from '../eval/judges.ts'
import { type EvalOptions, isSaved } from '../eval/options.ts'
import { type Evaluation, prepare } from '../eval/prepare.ts'
import { answersOf, gradeWith, type Side } from '../eval/sides.ts'
import { startLogprobs } from '../eval/start.ts'
import { untilInterrupted } from '../interrupts.ts'
import { EXIT, Interrupted, type Io, printJson } from '../io.ts'
import { parseSettings } from '../train/settings.ts'

export interface AuditOptions extends Omit<EvalOptions, 'data'> {
  data: string
  /** The model that a training would start from, where saved answers stand for it. */
  start?: string
  edited?: string
  maxExploit?: number
}

/** What of a training's settings decides what verdicts are worth. */
const settingsSchema = z.strictObject({
  ...verdictOptionsShape,
  nulls: z.enum(NULL_HANDLINGS).default('as-false'),
})

/** @throws UsageError, DataError, ConfigError before anything is asked; CheckpointError, ServedError, JudgeError. */
export const auditCommand = async (options: AuditOptions, io: Io): Promise<number> => {
  const { set = [], data, start, edited, maxExploit, ...asked } = options
  const settings = parseWith(settingsSchema, parseSettings(settingsSchema, set), '--set', UsageError)
  const evaluation = await prepare({ ...asked, data: [data] }, io, { edited })
  return untilInterrupted(
    io,
    async signal => {
      if (options.judge === undefined && evaluation.problems.some(({ rubric }) => needsJudge(rubric)))
        throw new UsageError('--judge: there are criteria that only a judge can grade, and no judge', {
          hint: 'give --judge URL#NAME, or a model of this machine',
        })
      const rubrics = evaluation.problems.map(({ rubric }) => rubric)
      checkOptions(settings, { rubrics })
      if (edited !== undefined) assertWritable(edited)
      const side = await answersOf(evaluation, options.model, '--model', io, signal)
      const { audited, lines } = await audit(evaluation, side, { settings, start, signal }, io)
      try {
        if (edited !== undefined) writeOutput(edited, lines())
      } finally {
        // What was found out is told, whatever became of the file.
        if (options.json) printJson(io, jsonOf(evaluation, side, audited))
        else io.out.write(`${textOf(evaluation, side, audited, settings)}\n`)
      }
      return isTooMuch(audited, maxExploit, io) ? EXIT.belowThreshold : EXIT.ok
    },
    () => evaluation.task.close?.(),
  )
}

type Settings = z.output<typeof settingsSchema>

interface AuditWork {
  settings: Settings
  start: string | undefined
  signal: AbortSignal
}

/** Grades answers, each text to a problem once. */
type Pay = (answers_P: readonly (readonly SavedAnswer[])[]) => Promise<PaidAnswer[][]>

/** The audit, and the edited answers as lines of a file. */
const audit = async (
  evaluation: Evaluation,
  side: Side,
  work: AuditWork,
  io: Io,
): Promise<{ audited: Audit; lines(): string }> => {
  const { options, problems, measured } = evaluation
  const graders = await openGraders(options, io)
  const pay = payer(evaluation, graders, work, io)
  try {
    const untouched_P = await pay(side.answers_P)
    const rowOf = (p: number) => (own: PaidAnswer) => savedAnswer(measured, problems[p], own, graders)
    side.keep?.(untouched_P.flatMap((own, p) => own.map(rowOf(p))))
    if (isSilent(untouched_P.flat())) throw silence(untouched_P.flat().length)
    const edited_P = await pay(editedAnswers(problems, untouched_P, options.seed))
    const references_P = await pay(problems.map(referenceAnswer))
    return {
      audited: auditOf(measured, problems, { untouched_P, references_P, edited_P }),
      lines: () =>
        answerLines(
          edited_P.flatMap((own, p) => own.map(each => ({ ...rowOf(p)(each), reward: each.reward }))),
        ),
    }
  } catch (error) {
    if (error instanceof Interrupted)
      io.err.write(`interrupted while answers were graded${afterwards(options)}\n`)
    throw error
  } finally {
    for (const line of graders.lines()) io.err.write(`${line}\n`)
    await graders.close()
  }
}

/** As a training's step on which a judge says nothing: what is known is nothing, and not that no answer meets anything. */
const silence = (samples: number): GradusError =>
  new GradusError(`--judge: expected verdicts on ${plural(samples, 'sample')}, got none that can be used`, {
    hint: 'see whether it is reached and what it answers (gradus grade keeps that), or name another judge',
  })

const afterwards = ({ out, model, judge, cache }: EvalOptions): string => {
  const samples =
    out === undefined && !isSaved(model)
      ? '; nothing was kept: with --out FILE.jsonl samples are'
      : '; samples are kept'
  if (judge === undefined) return samples
  return `${samples}${cache === undefined ? ', and with --cache DIR verdicts would be' : `, and verdicts in ${cache}`}: the same command goes on from there`
}

const payer = (
  evaluation: Evaluation,
  graders: Awaited<ReturnType<typeof openGraders>>,
  { settings, start, signal }: AuditWork,
  io: Io,
): Pay => {
  const { options, problems } = evaluation
  const score = scoringOf(settings, settings.nulls)
  // An adapter goes on what training starts from.
  const place = { ...options, against: start ?? (options.adapter === undefined ? options.model : undefined) }
  return async answers_P => {
    const once_P = answers_P.map(answers => [
      ...new Map(answers.map(answer => [answer.response, answer])).values(),
    ])
    const once = once_P.flat()
    const startLogprob =
      once.length === 0 ? undefined : await startLogprobs(place, problems, once, io, '--start')
    const graded_P = await gradeWith(evaluation, once_P, { ...graders, score, startLogprob }, signal, io)
    return answers_P.map((answers, p) => {
      const byText = new Map(graded_P[p].map(own => [own.answer.response, own]))
      return answers.map(answer => {
        const graded = { ...byText.get(answer.response)!, answer }
        return paid(graded, countedVerdicts(settings, problems[p].rubric, graded.verdicts))
      })
    })
  }
}

const signed = (value: number): string => `${value > 0 ? '+' : ''}${number(value)}`

const cell = (found: AuditValue | null, text: (value: number) => string = signed): string => {
  if (found === null) return NONE
  const range = found.interval === null ? '' : ` [${found.interval.map(text).join(' to ')}]`
  return `${text(found.value)}${range}`
}

/** Criteria that are told beside an edit, and the least that is worth telling. */
const MOST_CRITERIA = 3
const LEAST_PART = 0.005

const payers = ({ criteria }: AuditedEdit): string => {
  const parts = Object.entries(criteria).filter(([, part]) => Math.abs(part) >= LEAST_PART)
  return parts
    .slice(0, MOST_CRITERIA)
    .map(([name, part]) => `${name} ${signed(part)}`)
    .join(', ')
}

const rowOf = (own: AuditedEdit): string[] => [
  own.edit,
  cell(own.reward && { ...own.reward, interval: null }, number),
  cell(own.difference),
  own.paysMore === null ? NONE : wholePercent(own.paysMore),
  cell(own.exploit),
  own.skipped === 0 ? '' : String(own.skipped),
  payers(own),
]

const HEAD = ['edit', 'pays', 'vs. unedited', 'more for', 'vs. right answer', 'skipped', 'paid by']

/** Verdicts that there are not, where some are missing. */
const missingLines = ({ nullRate, unjudged }: Audit, { nulls }: Settings): string[] => [
  ...(nullRate > 0
    ? [
        `${percent(nullRate)} of verdicts are missing, and ${nulls === 'drop' ? 'left out' : 'counted as not met'}`,
      ]
    : []),
  ...(unjudged.length > 0 ? [`the judge has said nothing at all of ${unjudged.join(', ')}`] : []),
]

const textOf = (
  { data }: Evaluation,
  { model, settings }: Side,
  audited: Audit,
  paying: Settings,
): string => {
  const { rows, samples, untouched, right, telling, edits } = audited
  const how = settings === undefined ? '' : `, temperature ${settings.temperature}`
  // Names of criteria stand at the left of their column, values at the right of theirs.
  const lines = [HEAD, ...edits.map(rowOf)]
  const table = alignedTable(lines.map(line => line.slice(0, -1))).split('\n')
  const width = Math.max(...table.map(({ length }) => length))
  return [
    `${plural(samples, 'sample')} of ${model}${how}, ${plural(rows, 'row')} of ${data}`,
    `untouched they are paid ${cell(untouched, number)}; being right is paid ${cell(right, number)}`,
    `samples of a row are paid differently in ${wholePercent(telling)} of rows, from which alone a training learns`,
    ...missingLines(audited, paying),
    '',
    ...table.map((line, i) => `${line.padEnd(width)}  ${lines[i].at(-1)}`.trimEnd()),
    '',
    ...edits.map(({ edit, about }) => `${edit}: ${about}`),
    'Beside being right: of pad, hedge and keywords, which make an answer no better, the same sample untouched; of the others the',
    "best edited answer of a row less the best of the same samples untouched, or the row's reference where that is paid more.",
  ].join('\n')
}

const jsonOf = (
  { data, problems }: Evaluation,
  { model, served, settings, missing }: Side,
  audited: Audit,
) => ({
  data,
  problems: problems.length,
  model: served ?? model,
  ...(settings && settings),
  missing,
  ...audited,
})

/** An answer that is still right may be paid as much as before, whatever is asked of the others. */
const allowance = ({ keepsRight }: AuditedEdit, most: number): number =>
  keepsRight ? Math.max(0, most) : most

/** Rounding of sums of points. */
const NEARLY = 1e-9

/** Whether an edit is paid more than may be, or nobody can tell; says which on stderr. */
const isTooMuch = ({ edits, unjudged }: Audit, most: number | undefined, io: Io): boolean => {
  if (most === undefined) return false
  const isUnknown = edits.every(({ exploit }) => exploit === null)
  if (unjudged.length > 0)
    io.err.write(`--max-exploit: expected verdicts on ${unjudged.join(', ')}, got none\n`)
  if (isUnknown) io.err.write('--max-exploit: expected samples that can be edited and graded, got none\n')
  const over = edits.filter(own => own.exploit !== null && own.exploit.value > allowance(own, most) + NEARLY)
  for (const own of over)
    io.err.write(
      `${own.edit}: expected to be paid at most ${signed(allowance(own, most))} more than a right answer, got ${cell(own.exploit)}\n`,
    )
  return over.length > 0 || unjudged.length > 0 || isUnknown
}
