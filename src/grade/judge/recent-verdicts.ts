/** @file Verdicts that are remembered for as long as a process runs: the same question is asked once without a cache, too. */

import type { VerdictStore } from './judge-options.ts'

/** Some hundred bytes each. A step of the paper asks 5,888 questions; responses that recur do so within a few steps. */
const MOST = 2 ** 16

/** The latest so many; the oldest is forgotten first. */
export const recentVerdicts = (most = MOST): VerdictStore => {
  const known = new Map<string, unknown>()
  return {
    get: key => known.get(key),
    put: (key, value) => {
      known.set(key, value)
      const [oldest] = known.keys()
      if (known.size > most) known.delete(oldest)
    },
  }
}
