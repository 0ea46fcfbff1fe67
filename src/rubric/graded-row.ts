/** @file A row of graded data, flat or a tree, as a rubric with its verdicts. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { describeKeys, describeValue, parseWith } from '../util/schema.ts'
import { type Criterion, pointsSchema, type Rubric, type Verdict } from './criterion.ts'
import { readGradedTree } from './graded-tree.ts'
import { type GradedRowOptions, verdictList } from './graded-verdict.ts'
import { uniqueNames } from './unique.ts'

export type { GradedRowOptions } from './graded-verdict.ts'

export interface GradedRow {
  id?: string | number
  rubric: Rubric
  verdicts: Verdict[]
}

const id = z.union([z.string(), z.number()])

/** A criterion of outside data: what scores depend on; the rest is left alone. */
const criterionSchema = z.looseObject({
  id: id.optional(),
  points: pointsSchema,
  category: z.string().nullish(),
  critical: z.boolean().optional(),
})

const rowSchema = z.looseObject({
  id: id.optional(),
  criteria: z.array(criterionSchema).optional(),
  verdicts: z.unknown().optional(),
  tree: z.unknown().optional(),
})

/**
 * Reads one row:
 * - flat: `{criteria: [{points, id?, category?, critical?, ...}], verdicts: [...]}`, verdicts in the order of the criteria;
 * - a graded tree: a node `{weight, sub_tasks: [...]}` (or `children`), alone or as `tree`, each leaf with a `score` in
 *   [0, 1], `verdict` or `met`; PaperBench's `valid_score: false` is a null. Or the leaves' verdicts are in `verdicts`, as
 *   a list in their order or by id. Scores of inner nodes are not read: they are what is computed.
 *
 * A verdict is true, false, null, a number, or an object `{met, credit?, level?}`. Fields beyond these are left alone.
 * @throws DataError naming the field that is wrong; also when verdicts and criteria differ in number.
 */
export const parseGradedRow = (value: unknown, options: GradedRowOptions = {}): GradedRow => {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new DataError(`expected an object, got ${describeValue(value)}; write one row a line`)
  const row = parseWith(rowSchema, value, '', DataError)
  const named = row.id === undefined ? {} : { id: row.id }
  if (row.criteria !== undefined) return { ...named, ...flatRow(row.criteria, row.verdicts, options) }
  if (row.tree !== undefined) return { ...named, ...readGradedTree(row.tree, 'tree', row.verdicts, options) }
  if (row.sub_tasks !== undefined || row.children !== undefined)
    return { ...named, ...readGradedTree(value, '', row.verdicts, options) }
  throw new DataError(
    `expected criteria and verdicts, or a tree with sub_tasks, got ${describeKeys(row)}; see gradus score --help`,
  )
}

const flatRow = (
  rows: readonly z.output<typeof criterionSchema>[],
  verdicts: unknown,
  options: GradedRowOptions,
) => {
  const unique = uniqueNames()
  const criteria = rows.map(
    ({ id, points, category, critical }, index): Criterion => ({
      id: unique(String(id ?? `c${index}`)),
      text: '',
      points,
      ...(category ? { category } : {}),
      ...(critical ? { critical } : {}),
    }),
  )
  const ids = criteria.map(criterion => criterion.id)
  return { rubric: { criteria }, verdicts: verdictList(verdicts, ids, options) }
}
