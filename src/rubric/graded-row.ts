/** @file A row of graded data, flat or a tree, as a rubric with its verdicts. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { describeValue, parseWith } from '../util/schema.ts'
import { type Criterion, criterionSchema, pointsSchema, type Rubric, type Verdict } from './criterion.ts'
import { leavesOf, type RubricTree } from './tree.ts'
import { uniqueNames } from './unique.ts'

export interface GradedRow {
  id?: string | number
  rubric: Rubric
  verdicts: Verdict[]
}

export interface GradedRowOptions {
  /** A bare number as a verdict is a level 0, 1, 2; otherwise a credit in [0, 1]. Default false. */
  levels?: boolean
}

/**
 * Reads one row:
 * - flat: `{criteria: [{points, id?, category?, critical?, ...}], verdicts: [...]}`, verdicts in the order of the criteria;
 * - a graded tree: a node `{weight, sub_tasks: [...]}` (or `children`), alone or as `tree`, each leaf with a `score` in
 *   [0, 1], `verdict` or `met`; PaperBench's `valid_score: false` is a null. Or the leaves' verdicts are in `verdicts`, as
 *   a list in their order or by id. Scores of inner nodes are not read: they are what is computed.
 *
 * A verdict is true, false, null, a number, or an object `{met, credit?, level?}`. Fields beyond these are left alone.
 * @throws DataError naming the field that is wrong; also when verdicts and criteria differ in number: a short list is
 * never aligned by guess.
 */
export const parseGradedRow = (value: unknown, options: GradedRowOptions = {}): GradedRow => {
  const row = parseWith(rowSchema, value, '', DataError)
  if (row.criteria !== undefined) return flatRow(row as FlatRow, options)
  const root = row.tree ?? ((row.sub_tasks ?? row.children) === undefined ? undefined : value)
  if (root === undefined)
    throw new DataError(
      `expected criteria and verdicts, or a tree with sub_tasks, got ${Object.keys(row).join(', ') || 'an empty object'}; see gradus score --help`,
    )
  return treeRow(row, root, options)
}

const id = z.union([z.string(), z.number()])

/** A criterion of outside data: points are enough, keys of their own are left alone. */
const gradedCriterion = criterionSchema.partial().extend({ id: id.optional(), points: pointsSchema }).loose()

const rowSchema = z.looseObject({
  id: id.optional(),
  criteria: z.array(gradedCriterion).optional(),
  verdicts: z.unknown().optional(),
  tree: z.unknown().optional(),
})

type Row = z.output<typeof rowSchema>
type FlatRow = Row & { criteria: z.output<typeof gradedCriterion>[] }

const withId = (row: Row) => (row.id === undefined ? {} : { id: row.id })

const flatRow = (row: FlatRow, options: GradedRowOptions): GradedRow => {
  const unique = uniqueNames()
  const criteria = row.criteria.map(
    (criterion, index): Criterion => ({
      ...criterion,
      id: unique(String(criterion.id ?? `c${index}`)),
      text: criterion.text ?? '',
    }),
  )
  const ids = criteria.map(criterion => criterion.id)
  return { ...withId(row), rubric: { criteria }, verdicts: verdictList(row.verdicts, ids, options) }
}

const verdictList = (value: unknown, ids: readonly string[], options: GradedRowOptions): Verdict[] => {
  if (!Array.isArray(value))
    throw new DataError(
      `verdicts: expected a list, got ${describeValue(value)}; give true, false or null for each criterion`,
    )
  if (value.length !== ids.length)
    throw new DataError(
      `verdicts: expected ${ids.length}, one a criterion, got ${value.length}; write null where there is none`,
    )
  return value.map((entry, index) => readVerdict(entry, ids[index], `verdicts[${index}]`, options))
}

const verdictObject = z.looseObject({
  criterionId: z.string().optional(),
  met: z.boolean().nullable(),
  credit: z.number().min(0).max(1).optional(),
  level: z.literal([0, 1, 2]).optional(),
})

const readVerdict = (
  value: unknown,
  criterionId: string,
  place: string,
  { levels = false }: GradedRowOptions,
): Verdict => {
  const common = { criterionId, source: 'llm' } as const
  if (value === null || typeof value === 'boolean') return { ...common, met: value }
  if (typeof value === 'number') return { ...common, ...readNumber(value, place, levels) }
  if (typeof value !== 'object')
    throw new DataError(
      `${place}: expected true, false, null, a number or an object with met, got ${describeValue(value)}; a verdict is no text`,
    )
  const {
    met,
    credit,
    level,
    criterionId: named = criterionId,
  } = parseWith(verdictObject, value, place, DataError)
  if (named !== criterionId)
    throw new DataError(
      `${place}.criterionId: expected ${JSON.stringify(criterionId)}, got ${JSON.stringify(named)}; order verdicts as the criteria are`,
    )
  return {
    ...common,
    met,
    ...(credit === undefined ? {} : { credit }),
    ...(level === undefined ? {} : { level }),
  }
}

const readNumber = (
  value: number,
  place: string,
  levels: boolean,
): Pick<Verdict, 'met' | 'credit' | 'level'> => {
  if (levels && (value === 0 || value === 1 || value === 2)) return { met: value === 2, level: value }
  if (levels) throw new DataError(`${place}: expected level 0, 1 or 2, got ${value}; this rule reads levels`)
  if (!(value >= 0 && value <= 1))
    throw new DataError(`${place}: expected a credit from 0 to 1, got ${value}; rule levels reads 0, 1, 2`)
  return { met: value === 1, credit: value }
}

const nodeSchema = z.looseObject({
  id: id.optional(),
  weight: z.number().min(0).optional(),
  sub_tasks: z.array(z.unknown()).optional(),
  children: z.array(z.unknown()).optional(),
  valid_score: z.boolean().nullish(),
})

type Node = z.output<typeof nodeSchema>

const treeRow = (row: Row, root: unknown, options: GradedRowOptions): GradedRow => {
  const unique = uniqueNames()
  const leaves: { node: Node; id: string; place: string }[] = []
  const build = (value: unknown, place: string, name: string): RubricTree => {
    const node = parseWith(nodeSchema, value, place, DataError)
    const subtasks = node.sub_tasks ?? node.children ?? []
    const key = node.sub_tasks ? 'sub_tasks' : 'children'
    const weight = node.weight ?? (name === '' ? 1 : undefined)
    if (weight === undefined)
      throw new DataError(
        `${place}.weight: expected a number, got nothing; give it its weight among its siblings`,
      )
    const leaf = subtasks.length === 0
    const own = unique(String(node.id ?? (name || 'root')))
    if (leaf) leaves.push({ node, id: own, place })
    const children = subtasks.map((child, i) =>
      build(child, `${place ? `${place}.` : ''}${key}[${i}]`, name === '' ? `${i}` : `${name}.${i}`),
    )
    return { id: own, weight, ...(leaf ? {} : { children }) }
  }
  const tree = build(root, row.tree === undefined ? '' : 'tree', '')
  const shares = new Map(leavesOf(tree).map(leaf => [leaf.id, leaf.share]))
  const judged = leaves.filter(leaf => shares.get(leaf.id)! > 0)
  const criteria = judged.map(leaf => ({ id: leaf.id, text: '', points: shares.get(leaf.id)! }))
  const verdicts =
    row.verdicts === undefined
      ? judged.map(leaf => leafVerdict(leaf.node, leaf.id, leaf.place, options))
      : outerVerdicts(row.verdicts, leaves, options).filter(verdict => shares.get(verdict.criterionId)! > 0)
  return { ...withId(row), rubric: { criteria, tree }, verdicts }
}

const LEAF_KEYS = ['verdict', 'met', 'score'] as const

const leafVerdict = (node: Node, leafId: string, place: string, options: GradedRowOptions): Verdict => {
  if (node.valid_score === false) return { criterionId: leafId, met: null, source: 'llm' }
  const key = LEAF_KEYS.find(name => node[name] !== undefined)
  if (key === undefined)
    throw new DataError(
      `${place || 'tree'}: expected a leaf with score, verdict or met, got ${Object.keys(node).join(', ')}; write null where there is none`,
    )
  return readVerdict(node[key], leafId, place ? `${place}.${key}` : key, options)
}

const outerVerdicts = (
  value: unknown,
  leaves: readonly { node: Node; id: string }[],
  options: GradedRowOptions,
): Verdict[] => {
  const ids = leaves.map(leaf => leaf.id)
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return verdictList(value, ids, options)
  const byId = new Map(Object.entries(value))
  const names = leaves.map(leaf => String(leaf.node.id ?? leaf.id))
  const stranger = [...byId.keys()].find(name => !names.includes(name))
  if (stranger !== undefined)
    throw new DataError(`verdicts.${stranger}: expected the id of a leaf, got none of the tree's; correct it`)
  return leaves.flatMap((leaf, i) => {
    const entry = byId.get(names[i])
    return entry === undefined ? [] : [readVerdict(entry, leaf.id, `verdicts.${names[i]}`, options)]
  })
}
