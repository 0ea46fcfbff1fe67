/** @file `gradus rubric refine`: revises a rubric in rounds, from good and bad traces. */

import { z } from 'zod'
import { fitPoints, fittedPoints, heldOutOrder } from '../../eval/preferences.ts'
import { refineRubric } from '../../grade/author/index.ts'
import { type RubricFile, readRubricFile } from '../../rubric/formats/index.ts'
import { somePreferences } from '../../runs/preferences.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { points as inPoints, percent, pointsInterval } from '../../util/format.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { formatRate } from '../grade/judge.ts'
import { EXIT, type Io } from '../io.ts'
import { type ModelOptions, tellRound, WHY_STOPPED, withAuthor } from './model.ts'
import { writeRubrics } from './output.ts'

export interface RefineCommandOptions extends Omit<ModelOptions, 'judge'> {
  preferences?: string
  judge?: string
  task?: string
  dimensions?: string
  positives?: string
  negatives?: string
  subject: string
  rounds: number
}

/**
 * Writes the revised rubric and says on stderr what each round found. When the model's answers stop being usable after the
 * first round, the rubric of the rounds before is written and the exit code is 1.
 * @throws UsageError, ConfigError, DataError before any call, and for a first answer that cannot be used.
 */
export const refineCommand = async (
  path: string | undefined,
  options: RefineCommandOptions,
  io: Io,
): Promise<number> => {
  if (options.preferences !== undefined)
    return weightsCommand(path, { ...options, preferences: options.preferences }, io)
  const { judge, task, dimensions, subject, rounds } = options
  if (judge === undefined || task === undefined)
    throw new UsageError(`rubric refine: expected --${judge === undefined ? 'judge URL' : 'task TEXT'}`, {
      hint: 'or --preferences RUN, to fit points to what people chose',
    })
  const file = path === undefined ? null : readOne(path)
  const positives = tracesOf(options.positives)
  const negatives = tracesOf(options.negatives)
  if (positives.length + negatives.length === 0)
    throw new UsageError('rubric refine: expected traces to learn from, got none', {
      hint: 'give --positives FILE.jsonl, --negatives FILE.jsonl or both',
    })
  const { result } = await withAuthor({ ...options, judge }, io, author =>
    refineRubric(
      { task, dimensions, positives, negatives },
      {
        ...author,
        rubric: file?.items[0].rubric,
        subject,
        rounds,
        onRound: (round, index) => tellRound(round, index, io),
      },
    ),
  )
  if (result === null) return EXIT.interrupted
  const item = { ...(file?.items[0] ?? { id: 'rubric' }), rubric: result.rubric }
  const written: RubricFile = file
    ? { ...file, items: [item] }
    : { format: 'native', layout: 'single', items: [item] }
  writeRubrics(written, { out: options.out, like: path }, io)
  const why = { ...WHY_STOPPED, unusable: result.problem }
  io.err.write(`${result.rounds.length} rounds: ${why[result.stopped]}\n`)
  return result.stopped === 'unusable' ? EXIT.failed : EXIT.ok
}

const readOne = (path: string): RubricFile => {
  const file = readRubricFile(path)
  if (file.items.length !== 1)
    throw new DataError(`${path}: expected one rubric, got ${file.items.length}; refine them one by one`)
  return file
}

const traceSchema = z.union([
  z.string(),
  z.looseObject({ text: z.string() }).transform(({ text }) => text),
  z.looseObject({ response: z.string() }).transform(({ response }) => response),
])

const tracesOf = (file: string | undefined): string[] =>
  file === undefined
    ? []
    : someJsonlLines(file, 'trace').map(({ place, text }) =>
        parseRow(text, place, row => parseWith(traceSchema, row, '', DataError)),
      )

const digits = (value: number): number => Number(value.toPrecision(3))

/** Two standard deviations of a normal distribution to each side: 95%. */
const SIDES = 1.96

/**
 * Writes the rubric with fitted points, of the same sum of sizes, and says on stderr how each moved and how they order pairs of
 * prompts that did not teach them.
 * @throws UsageError without a rubric; DataError without choices, or where they are about none of its criteria
 */
const weightsCommand = (
  path: string | undefined,
  { preferences, out }: { preferences: string; out?: string },
  io: Io,
): number => {
  if (path === undefined)
    throw new UsageError('rubric refine: expected the FILE of the rubric whose points people decide')
  const file = readRubricFile(path)
  const [{ rubric }] = file.items
  const known = new Set(file.items.flatMap(item => item.rubric.criteria.map(({ id }) => id)))
  const labels = somePreferences(preferences).map(row => {
    const points =
      file.items.length > 1
        ? Object.entries(row.points)
        : rubric.criteria.map(own => [own.id, own.points] as const)
    return {
      ...row,
      points: Object.fromEntries(points.filter(([id]) => known.has(id) && Object.hasOwn(row.points, id))),
    }
  })
  if (labels.every(({ points }) => Object.keys(points).length === 0))
    throw new DataError(`${preferences}: expected choices about criteria of ${path} (by id), found none`)
  const fit = fitPoints(labels)
  const order = heldOutOrder(labels)
  const deviations = new Map(fit.ids.map((id, i) => [id, fit.deviations[i]]))
  const items = file.items.map(item => {
    const before = Object.fromEntries(item.rubric.criteria.map(({ id, points }) => [id, points]))
    const after = fittedPoints(before, fit)
    const size = (own: Record<string, number>) => Object.values(own).reduce((sum, p) => sum + Math.abs(p), 0)
    const factor = size(before) / size(after)
    const criteria = item.rubric.criteria.map(own => ({ ...own, points: digits(after[own.id] * factor) }))
    if (file.items.length === 1)
      for (const { id, points } of criteria) {
        const half = SIDES * (deviations.get(id) ?? 0) * factor
        const interval = half > 0 ? ` [${digits(points - half)}, ${digits(points + half)}]` : ''
        io.err.write(`${id}: ${before[id]} -> ${points}${interval}\n`)
      }
    return { ...item, rubric: { ...item.rubric, criteria } }
  })
  const said = labels.filter(({ choice }) => choice !== 'unsure').length
  io.err.write(
    `${said} choices: people weigh otherwise than the rubric with a chance of ${percent(fit.moved)}\n`,
  )
  io.err.write(
    order === null
      ? 'not checked on other prompts: five with decided pairs are needed\n'
      : `held-out pairs (${order.pairs}) ordered as people do: ${formatRate(order.fitted)} by fitted points, ${formatRate(order.present)} by the present ones; difference ${inPoints(order.gain.estimate)} [${pointsInterval([order.gain.low, order.gain.high])}]\n`,
  )
  writeRubrics({ ...file, items }, { out, like: path }, io)
  return EXIT.ok
}
