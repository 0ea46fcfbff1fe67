/** @file PaperBench trees: `{id, requirements, weight, sub_tasks, task_category, ...}` (openai/frontier-evals). */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { Criterion } from '../criterion.ts'
import { leavesOf, type RubricTree } from '../tree.ts'
import { uniqueNames } from '../unique.ts'
import {
  checkHolds,
  extraOf,
  type Fields,
  needsKeys,
  ownExtra,
  ownPart,
  type RubricFormat,
  type RubricItem,
} from './item.ts'

const name = 'paperbench'

interface Node extends Fields {
  id: string
  requirements: string
  weight: number
  sub_tasks: Node[]
}

const schema: z.ZodType<Node> = z.lazy(() =>
  z.looseObject({
    id: z.string().min(1),
    requirements: z.string(),
    weight: z.number().min(0),
    sub_tasks: z.array(schema),
  }),
)

const KNOWN = ['id', 'requirements', 'weight', 'sub_tasks']

/** Builds the tree; `leaves` receives every leaf of the file under its unique id. Some published trees repeat ids. */
const build = (node: Node, unique: (id: string) => string, leaves: Map<string, Node>): RubricTree => {
  const id = unique(node.id)
  if (node.sub_tasks.length === 0) {
    leaves.set(id, node)
    return { id, weight: node.weight }
  }
  const children = node.sub_tasks.map(child => build(child, unique, leaves))
  const extra = { ...(id === node.id ? {} : { id: node.id }), ...extraOf(node, KNOWN).extra }
  return { id, weight: node.weight, text: node.requirements, children, extra }
}

const readLeaf = (node: Node, id: string, share: number): Criterion => {
  const { task_category: category } = node
  const extra = { ...(id === node.id ? {} : { id: node.id }), ...extraOf(node, KNOWN).extra }
  return {
    id,
    text: node.requirements,
    points: share,
    ...(typeof category === 'string' ? { category } : {}),
    extra,
  }
}

/** A leaf that weighs nothing is judged by nobody: it stays in the tree and is no criterion. */
const keepUnjudged = (tree: RubricTree, unjudged: Map<string, Node>): RubricTree => {
  const node = unjudged.get(tree.id)
  if (node) return { ...tree, text: node.requirements, extra: { id: node.id, ...extraOf(node, KNOWN).extra } }
  return tree.children
    ? { ...tree, children: tree.children.map(child => keepUnjudged(child, unjudged)) }
    : tree
}

const writeNode = (tree: RubricTree, criteria: ReadonlyMap<string, Criterion>, item: RubricItem): Node => {
  const leaf = criteria.get(tree.id)
  const category = leaf?.category === undefined ? {} : { task_category: leaf.category }
  return {
    id: tree.id,
    requirements: leaf?.text ?? tree.text ?? '',
    weight: tree.weight,
    sub_tasks: (tree.children ?? []).map(child => writeNode(child, criteria, item)),
    ...ownPart(item, leaf ?? tree, name),
    ...category,
  }
}

const treeOf = ({ id, rubric }: RubricItem): RubricTree =>
  rubric.tree ?? {
    id,
    weight: 1,
    text: rubric.title ?? '',
    children: rubric.criteria.map(criterion => ({ id: criterion.id, weight: criterion.points })),
  }

/**
 * Leaves are the criteria; their points are the share of the root's score that each decides, so that the points of a tree
 * sum to 1. Weights are in the tree, which is what is written back. A file is one tree.
 */
export const paperbench: RubricFormat = {
  name,
  mismatch: row => needsKeys(row, ['requirements', 'sub_tasks']),

  read: (value, place) => {
    const root = parseWith(schema, value, place, DataError)
    const leaves = new Map<string, Node>()
    const tree = build(root, uniqueNames(), leaves)
    const criteria: Criterion[] = []
    for (const { id, share } of leavesOf(tree)) {
      if (share === 0) continue
      criteria.push(readLeaf(leaves.get(id)!, id, share))
      leaves.delete(id)
    }
    const rubric = { title: root.requirements, criteria, tree: keepUnjudged(tree, leaves) }
    return { id: root.id, rubric, source: name }
  },

  write: item => {
    checkHolds(item, name, { trees: true })
    const criteria = new Map(item.rubric.criteria.map(criterion => [criterion.id, criterion]))
    return { ...writeNode(treeOf(item), criteria, item), ...ownExtra(item, name) }
  },
}
