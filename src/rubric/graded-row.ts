/** @file A row of graded data, flat or a tree, as a rubric with its verdicts. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { describeKeys, describeValue, parseWith } from '../util/schema.ts'
import { type Criterion, pointsSchema, type Rubric, type Verdict } from './criterion.ts'
import { type GradedRowOptions, readVerdict, verdictList } from './graded-verdict.ts'
import { leavesOf, type RubricTree } from './tree.ts'
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

const nodeSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  weight: z.number().min(0).optional(),
  sub_tasks: z.array(z.unknown()).optional(),
  children: z.array(z.unknown()).optional(),
  valid_score: z.boolean().nullish(),
})

type Node = z.output<typeof nodeSchema>

interface GradedLeaf {
  node: Node
  /** Unique in the tree; the node's own id where it has one and no other leaf had it before. */
  id: string
  place: string
}

/** Reads nodes into a tree, and gathers the leaves on the way, from left to right. */
class TreeReader {
  readonly leaves: GradedLeaf[] = []
  private readonly unique = uniqueNames()

  /** @param position `0.2` is the third child of the first child of the root, '' the root. */
  read(value: unknown, place: string, position = ''): RubricTree {
    const node = parseWith(nodeSchema, value, place, DataError)
    const id = this.unique(String(node.id ?? (position || 'root')))
    const weight = position === '' ? 1 : weightOf(node, place)
    const key = node.sub_tasks ? 'sub_tasks' : 'children'
    const below = node[key] ?? []
    if (below.length === 0) {
      this.leaves.push({ node, id, place })
      return { id, weight }
    }
    const at = (index: number) => `${place === '' ? '' : `${place}.`}${key}[${index}]`
    const under = (index: number) => (position === '' ? `${index}` : `${position}.${index}`)
    const children = below.map((child, index) => this.read(child, at(index), under(index)))
    return { id, weight, children }
  }
}

const weightOf = ({ weight }: Node, place: string): number => {
  if (weight !== undefined) return weight
  throw new DataError(
    `${place}.weight: expected a number, got nothing; give it its weight among its siblings`,
  )
}

/**
 * Reads a graded tree. Its criteria are the leaves that weigh something, their points the share of the whole that each
 * decides.
 * @param place of the root in its row, named in errors; '' for the row itself
 * @param given verdicts beside the tree, as a list in the order of the leaves or by their ids; otherwise each leaf has its
 * own
 * @throws DataError naming the node that is wrong.
 */
const readGradedTree = (
  root: unknown,
  place: string,
  given: unknown,
  options: GradedRowOptions,
): { rubric: Rubric; verdicts: Verdict[] } => {
  const reader = new TreeReader()
  const tree = reader.read(root, place)
  const shares = new Map(leavesOf(tree).map(({ id, share }) => [id, share]))
  const weighs = (id: string) => shares.get(id)! > 0
  const judged = reader.leaves.filter(({ id }) => weighs(id))
  const criteria = judged.map(({ id }) => ({ id, text: '', points: shares.get(id)! }))
  const verdicts =
    given === undefined
      ? judged.map(leaf => ownVerdict(leaf, options))
      : givenVerdicts(given, reader.leaves, options).filter(({ criterionId }) => weighs(criterionId))
  return { rubric: { criteria, tree }, verdicts }
}

const GRADES = ['verdict', 'met', 'score'] as const

const ownVerdict = ({ node, id, place }: GradedLeaf, options: GradedRowOptions): Verdict => {
  // PaperBench marks a judge's failure so, and leaves a score of 0 beside it.
  if (node.valid_score === false) return { criterionId: id, met: null, source: 'llm' }
  const key = GRADES.find(name => node[name] !== undefined)
  if (key === undefined)
    throw new DataError(
      `${place || 'tree'}: expected a leaf with score, verdict or met, got ${describeKeys(node)}; write null where there is none`,
    )
  return readVerdict(node[key], id, place === '' ? key : `${place}.${key}`, options)
}

const givenVerdicts = (
  given: unknown,
  leaves: readonly GradedLeaf[],
  options: GradedRowOptions,
): Verdict[] => {
  const ids = leaves.map(({ id }) => id)
  if (given === null || typeof given !== 'object' || Array.isArray(given))
    return verdictList(given, ids, options)
  // A leaf goes by the id that the file gives it: two leaves of one id have one verdict.
  const names = leaves.map(({ node, id }) => String(node.id ?? id))
  const byName = new Map(Object.entries(given))
  const stranger = [...byName.keys()].find(name => !names.includes(name))
  if (stranger !== undefined)
    throw new DataError(`verdicts.${stranger}: expected the id of a leaf, got another; correct it`)
  return ids.flatMap((id, i) => {
    if (!byName.has(names[i])) return []
    return [readVerdict(byName.get(names[i]), id, `verdicts.${names[i]}`, options)]
  })
}
