/** @file How much memory this process may have. */

import { totalmem } from 'node:os'

/** Bytes that this process may have: those of the machine, or of the container that it is in. */
export const memoryHere = (): number => {
  // 0 or beyond the machine: no limit is set.
  const constrained = process.constrainedMemory?.() ?? 0
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}
