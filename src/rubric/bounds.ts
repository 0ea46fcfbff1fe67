/** @file How large numbers and how deep trees of a rubric may be: what lies beyond makes sums infinite and stacks overflow. */

import { z } from 'zod'

/** Far beyond any use, and so small that sums and products of a rubric's numbers stay finite. */
const MOST = 1e100

/** A number of a rubric. */
export const boundedNumber = z.number().min(-MOST).max(MOST)

/** Levels that a tree may have. */
export const MOST_TREE_LEVELS = 200

/** Levels of what should be a tree, counted without recursion; never more than `most` + 1. */
export const levelsOf = (root: unknown, most: number): number => {
  let level = [root]
  let count = 0
  while (level.length > 0 && count <= most) {
    count += 1
    level = level.flatMap(node => {
      const children = (node as { children?: unknown } | null)?.children
      return Array.isArray(children) ? children : []
    })
  }
  return count
}
