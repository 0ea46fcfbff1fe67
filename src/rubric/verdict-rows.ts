/** @file Verdicts of a run as a file has them: a line a response, with its group, its outcome, and repeated judgements. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import type { Rubric } from './criterion.ts'

/** Credits of one judgement of a response, by criterion id; null where the judge gave none. */
export type Judgement = Readonly<Record<string, number | null>>

/** What is known about one response. */
export interface VerdictRow {
  /** Which rubric of the file judged it; absent where there is only one. */
  rubric?: string
  /** Responses to the same prompt share a group: only inside it can verdicts tell good from bad. */
  group: string
  /** Whether the answer was right, or how good it was by a measure that is not this rubric. */
  outcome?: number
  /** One judgement, or several of the same response by the same judge. */
  judgements: readonly [Judgement, ...Judgement[]]
}

const met = z.union([z.boolean(), z.number().min(0).max(1), z.null()])
// Loose where commands and graders write more than is needed here.
const verdict = z.looseObject({
  criterionId: z.string(),
  met: z.boolean().nullable(),
  credit: z.number().min(0).max(1).optional(),
  level: z.literal([0, 1, 2]).optional(),
})
const judgement = z.union([z.array(verdict), z.record(z.string(), met)])
const rowSchema = z.looseObject({
  rubric: z.string().optional(),
  group: z.union([z.string(), z.number()]).optional(),
  outcome: z.union([z.boolean(), z.number()]).optional(),
  verdicts: judgement,
  repeats: z.array(judgement).optional(),
})

type RawJudgement = z.output<typeof judgement>

/** As `creditOf` of score.ts, from a file. */
const credit = ({ met: value, credit: given, level }: z.output<typeof verdict>): number | null =>
  given ?? (level === undefined ? (value === null ? null : Number(value)) : level / 2)

const toJudgement = (raw: RawJudgement): Judgement =>
  Array.isArray(raw)
    ? Object.fromEntries(raw.map(entry => [entry.criterionId, credit(entry)]))
    : Object.fromEntries(
        Object.entries(raw).map(([id, value]) => [id, value === null ? null : Number(value)]),
      )

/**
 * Reads a row `{verdicts, rubric?, group?, outcome?, repeats?}`; other keys are left alone. `verdicts` is a list as
 * `gradus grade` prints it, or a map from criterion id to true, false, null or a credit; `repeats` holds further
 * judgements of the same response. Rows without a group are one group.
 * @throws DataError naming what is wrong.
 */
export const parseVerdictRow = (value: unknown, source = 'row'): VerdictRow => {
  const row = parseWith(rowSchema, value, source, DataError)
  return {
    rubric: row.rubric,
    group: String(row.group ?? ''),
    outcome: row.outcome === undefined ? undefined : Number(row.outcome),
    judgements: [toJudgement(row.verdicts), ...(row.repeats ?? []).map(toJudgement)],
  }
}

/**
 * @throws DataError for a verdict about no criterion of the rubric: rows and rubric do not belong together.
 */
export const checkKnown = (rubric: Rubric, rows: readonly VerdictRow[]): void => {
  const known = new Set(rubric.criteria.map(({ id }) => id))
  for (const [index, row] of rows.entries()) {
    const stranger = row.judgements.flatMap(Object.keys).find(id => !known.has(id))
    if (stranger !== undefined)
      throw new DataError(
        `verdicts of response ${index + 1}: expected ids among ${[...known].join(', ')}, got ${stranger}; use the rubric that judged them`,
      )
  }
}
