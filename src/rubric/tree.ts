/** @file Rubrics that are trees: a node's score is the weighted mean of its children's (PaperBench). */

import { z } from 'zod'
import { boundedNumber } from './levels.ts'

/** A node. One without children is a leaf: its id is that of the criterion that is judged. */
export interface RubricTree {
  id: string
  /** Against its siblings; the root's counts for nothing. A node of weight 0 is never judged. */
  weight: number
  /** What an inner node stands for; a leaf's text is its criterion's. */
  text?: string
  children?: RubricTree[]
  /** What the file it was read from says beyond this. */
  extra?: Record<string, unknown>
}

/** Shape of a tree in a file. */
export const treeSchema: z.ZodType<RubricTree> = z.lazy(() =>
  z.strictObject({
    id: z.string().min(1),
    weight: boundedNumber.min(0),
    text: z.string().optional(),
    children: z.array(treeSchema).optional(),
    extra: z.record(z.string(), z.unknown()).optional(),
  }),
)

export const isLeaf = (node: RubricTree): boolean => (node.children ?? []).length === 0

export interface Leaf {
  id: string
  /** Part of the root's score that this leaf decides when all leaves are judged; the shares of a tree sum to 1. */
  share: number
}

/** Leaves from left to right, with their shares. Below a node whose children all weigh 0 every share is 0. */
export const leavesOf = (tree: RubricTree, share = 1): Leaf[] => {
  if (isLeaf(tree)) return [{ id: tree.id, share }]
  const children = tree.children!
  const whole = children.reduce((sum, { weight }) => sum + weight, 0)
  return children.flatMap(child => leavesOf(child, whole > 0 ? (share * child.weight) / whole : 0))
}

/**
 * Score of a tree from the scores of its leaves, each in [0, 1] or null (PaperBench: weighted mean of children). A null
 * child leaves its siblings' mean; a node whose children are all null is null itself.
 * @param scoreOf called once for each leaf of weight above 0
 */
export const rollUp = (tree: RubricTree, scoreOf: (id: string) => number | null): number | null => {
  if (isLeaf(tree)) return scoreOf(tree.id)
  let earned = 0
  let whole = 0
  for (const child of tree.children!) {
    if (child.weight === 0) continue
    const score = rollUp(child, scoreOf)
    if (score === null) continue
    earned += child.weight * score
    whole += child.weight
  }
  return whole > 0 ? earned / whole : null
}

/** Nodes of a tree, each before its children. */
export const nodesOf = (tree: RubricTree): RubricTree[] => [tree, ...(tree.children ?? []).flatMap(nodesOf)]
