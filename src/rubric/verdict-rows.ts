/** @file Verdicts of a run as a file has them: a line a response, with its group, its outcome, and repeated judgements. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import type { Rubric } from './criterion.ts'

/** Credits of one judgement of a response, by criterion id; null where the judge gave none. */
type Judgement = Readonly<Record<string, number | null>>

/** What is known about one response. */
export interface VerdictRow {
  /** Of the response. */
  id?: string
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
const name = z.union([z.string(), z.number()]).transform(String)
const rowSchema = z.looseObject({
  id: name.nullable().optional(),
  rubric: z.string().optional(),
  group: name.optional(),
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
 * Reads a row `{verdicts, id?, rubric?, group?, outcome?, repeats?}`; other keys are left alone. `verdicts` is a list as
 * `gradus grade` prints it, or a map from criterion id to true, false, null or a credit; `repeats` holds further
 * judgements of the same response. Rows without a group are one group.
 * @throws DataError naming what is wrong.
 */
export const parseVerdictRow = (value: unknown, source = 'row'): VerdictRow => {
  const row = parseWith(rowSchema, value, source, DataError)
  return {
    ...(row.id != null && { id: row.id }),
    ...(row.rubric !== undefined && { rubric: row.rubric }),
    group: row.group ?? '',
    ...(row.outcome !== undefined && { outcome: Number(row.outcome) }),
    judgements: [toJudgement(row.verdicts), ...(row.repeats ?? []).map(toJudgement)],
  }
}

const outcomeSchema = z.looseObject({
  id: name,
  group: name.optional(),
  outcome: z.union([z.boolean(), z.number()]).optional(),
})

/** What is known of a response apart from its verdicts. */
export type ResponseOutcome = Pick<VerdictRow, 'outcome'> & { id: string; group?: string }

/** Reads a row `{id, outcome?, group?}`; other keys are left alone. @throws DataError naming what is wrong. */
export const parseOutcome = (value: unknown, source = 'row'): ResponseOutcome => {
  const { id, group, outcome } = parseWith(outcomeSchema, value, source, DataError)
  return {
    id,
    ...(group !== undefined && { group }),
    ...(outcome !== undefined && { outcome: Number(outcome) }),
  }
}

/**
 * Judgements of several runs over the same responses, put together: rows of later runs become repeats of the first run's
 * rows with the same rubric and id; where several responses share both, they are taken in order.
 * @throws DataError for a response of a later run that the first one does not have.
 */
export const joinRuns = ([first, ...later]: readonly (readonly VerdictRow[])[]): VerdictRow[] => {
  const joined = [...first]
  const places = new Map(keysOf(first).map((key, place) => [key, place]))
  for (const run of later)
    for (const [i, key] of keysOf(run).entries()) {
      const place = places.get(key)
      if (place === undefined)
        throw new DataError(
          `verdicts: response ${run[i].id ?? i + 1} of a later file: expected a response of the first one, got another; grade the same responses again`,
        )
      const row = joined[place]
      joined[place] = { ...row, judgements: [...row.judgements, ...run[i].judgements] }
    }
  return joined
}

const keysOf = (rows: readonly VerdictRow[]): string[] => {
  const seen = new Map<string, number>()
  return rows.map(({ rubric = '', id = '' }) => {
    const name = JSON.stringify([rubric, id])
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return `${name} ${count}`
  })
}

/**
 * Rows with what a second file knows about their responses.
 * @throws DataError where an id occurs twice in it.
 */
export const withOutcomes = (
  rows: readonly VerdictRow[],
  outcomes: readonly ResponseOutcome[],
): VerdictRow[] => {
  const byId = new Map<string, ResponseOutcome>()
  for (const outcome of outcomes) {
    if (byId.has(outcome.id))
      throw new DataError(
        `outcomes: expected ids of their own, got ${outcome.id} twice; number the responses`,
      )
    byId.set(outcome.id, outcome)
  }
  return rows.map(row => {
    const { id: _, ...known } = byId.get(row.id ?? '') ?? { id: '' }
    return { ...row, ...known }
  })
}

/**
 * Ids of the rows' verdicts that are no criteria of the rubric, each with how many verdicts are on it: rows of a run have criteria
 * of their own beside those of the rubric for all.
 * @throws DataError where no verdict is on any of the rubric's criteria: rows and rubric do not belong together.
 */
export const verdictsOnOthers = (rubric: Rubric, rows: readonly VerdictRow[]): Map<string, number> => {
  const known = new Set(rubric.criteria.map(({ id }) => id))
  const others = new Map<string, number>()
  let own = 0
  for (const id of rows.flatMap(({ judgements }) => judgements.flatMap(Object.keys)))
    if (known.has(id)) own++
    else others.set(id, (others.get(id) ?? 0) + 1)
  if (own === 0 && others.size > 0)
    throw new DataError(
      `verdicts: expected some on ${[...known].join(', ')}, got only others, such as ${[...others.keys()].slice(0, 3).join(', ')}; use the rubric that judged them`,
    )
  return others
}
