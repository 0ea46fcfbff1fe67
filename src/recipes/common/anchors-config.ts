/** @file Settings of anchors, labelled answers that proposed criteria have to tell apart: schema, check, and words for a plan. */

import { z } from 'zod'
import { chanceOfAdmission } from '../../grade/anchors.ts'
import { DataError } from '../../util/errors.ts'
import { formatInteger, percent, plural } from '../../util/format.ts'
import { jsonlLines, parseRow } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { refuse } from './refuse.ts'
import { mayBeMissing, type RunMode } from './run-mode.ts'

const anchorsSchema = z.strictObject({
  file: z
    .string()
    .min(1)
    .optional()
    .describe('Labelled answers: rows {prompt, response, good}. The same question may come several times.'),
  start: z
    .int()
    .min(2)
    .max(1000)
    .multipleOf(2)
    .optional()
    .describe(
      "In place of a file: so many answers of the starting policy to training questions, of each question one that is right and one that is wrong. For tasks that know their answers; they are kept in the run's `anchors.jsonl`.",
    ),
  minAgreement: z
    .number()
    .gt(0.5)
    .max(1)
    .default(0.7)
    .describe(
      'Least mean of what good answers earn on a criterion and of what bad ones do not (balanced accuracy). 0.5 is what a criterion has that is met by all.',
    ),
})
export type AnchorSettings = z.output<typeof anchorsSchema>

/** The setting of a recipe whose criteria are proposed while it trains. */
export const anchorsSetting = anchorsSchema
  .optional()
  .describe(
    'Labelled answers that a proposed criterion has to tell apart before it counts (arXiv 2610.11464); absent: none.',
  )

interface WithAnchors {
  anchors?: AnchorSettings
}

const text = z.string().refine(value => value.trim() !== '', 'text; write something')
const rowSchema = z.object({ prompt: text, response: text, good: z.boolean() })
export type AnchorRow = z.output<typeof rowSchema>

/** @throws DataError for an answer with two labels: whatever a criterion says of it, it is wrong once */
const refuseContradictions = (rows: readonly AnchorRow[], places: readonly string[]): void => {
  const known = new Map<string, number>()
  for (const [i, { prompt, response, good }] of rows.entries()) {
    const name = JSON.stringify([prompt.trim(), response.trim()])
    const first = known.get(name) ?? i
    known.set(name, first)
    if (rows[first].good !== good)
      throw new DataError(
        `${places[i]}: good: expected ${!good}, as ${places[first]} says of the same answer, got ${good}`,
        { hint: 'keep one of the two' },
      )
  }
}

/** @throws DataError naming file and line of what cannot be used, and for a file with answers of one kind alone */
export const readAnchorFile = (path: string): AnchorRow[] => {
  const lines = jsonlLines(path)
  const rows = lines.map(({ text, place }) =>
    parseRow(text, place, row => parseWith(rowSchema, row, '', DataError)),
  )
  refuseContradictions(
    rows,
    lines.map(({ place }) => place),
  )
  for (const side of [true, false])
    if (!rows.some(({ good }) => good === side))
      throw new DataError(
        `${path}: expected good answers and bad ones, got ${plural(rows.length, 'row')}, none with good ${side}`,
        { hint: 'label some of either kind: {"prompt": ..., "response": ..., "good": true or false}' },
      )
  return rows
}

/**
 * The rows of the file, where one is named that is there.
 * @param task `proposes`: whether criteria are proposed at all; `madeUp`: questions are made up while training, so that no text of one
 * can be judged
 * @throws ConfigError for settings that name no anchors, or two kinds; DataError for a file that cannot be used
 */
export const checkAnchors = (
  { anchors }: WithAnchors,
  { proposes, madeUp }: { proposes: boolean; madeUp: boolean },
  purpose: RunMode,
): readonly AnchorRow[] => {
  if (anchors === undefined) return []
  const { file, start } = anchors
  if (!proposes)
    refuse('anchors: expected nothing where no criterion is proposed, got settings', 'leave anchors out')
  if ((file === undefined) === (start === undefined))
    refuse(
      `anchors: expected either file or start, got ${file === undefined ? 'neither' : 'both'}`,
      'name a file of {prompt, response, good}, or set start to a number of answers that are made of the starting policy',
    )
  if (file !== undefined && madeUp)
    refuse(
      'anchors.file: expected nothing with a task whose questions are made up while it trains, got a file',
      'set anchors.start in its place, for example to 10',
    )
  return file === undefined || mayBeMissing(file, purpose) ? [] : readAnchorFile(file)
}

/** Criteria that one call is asked about at most: as many as a rubric has by default. */
export const TRIED_TOGETHER = 15

/** For a plan: how many anchors there are at most, ten where their file comes later. */
export const anchorCount = ({ anchors }: WithAnchors, rows: readonly AnchorRow[]): number => {
  if (anchors === undefined) return 0
  return anchors.start ?? (rows.length === 0 ? 10 : rows.length)
}

/**
 * For a plan: what anchors there are, and what a criterion needs; none without.
 * @param calls of the judge: how many a question, and a step, at most
 */
export const anchorLines = (
  settings: WithAnchors,
  rows: readonly AnchorRow[],
  calls: { question: number; step: number },
): string[] => {
  const { anchors } = settings
  if (anchors === undefined) return []
  const { file, minAgreement } = anchors
  const count = anchorCount(settings, rows)
  const good = rows.length === 0 ? count / 2 : rows.filter(own => own.good).length
  const from =
    file === undefined
      ? `${count} answers of the start, half of them right`
      : rows.length === 0
        ? `${file} (not there yet: ten answers are assumed)`
        : `${good} good and ${count - good} bad answers of ${file}`
  const chance = percent(chanceOfAdmission(good, count - good, minAgreement))
  return [
    `anchors      ${from}; criteria count from an agreement of ${percent(minAgreement)} on: one that is always met has 50%, one whose verdicts are coin tosses is admitted in ${chance} of cases`,
    `             at most ${formatInteger(calls.question)} calls a question besides, ${formatInteger(calls.step)} a step`,
  ]
}
