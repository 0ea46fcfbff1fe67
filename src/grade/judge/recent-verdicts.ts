/** @file Verdicts that are remembered for as long as a process runs: the same question is asked once without a cache, too. */

import type { VerdictStore } from './judge-options.ts'

/** Some hundred bytes each. A step of the paper asks 5,888 questions; responses that recur do so within a few steps. */
const MOST = 2 ** 16

/** Characters of all of them: a judge that answers at length must not fill the memory. */
const MOST_CHARACTERS = 2 ** 26

/** Characters of all texts of a JSON value, and one for each of its parts. */
const charactersOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length + 1
  if (value === null || typeof value !== 'object') return 1
  return Object.values(value).reduce((sum: number, part) => sum + charactersOf(part), 1)
}

/** The latest so many, of at most so many characters in all; the oldest is forgotten first. */
export const recentVerdicts = (most = MOST, mostCharacters = MOST_CHARACTERS): VerdictStore => {
  const known = new Map<string, { value: unknown; characters: number }>()
  let characters = 0
  const forget = (key: string) => {
    characters -= known.get(key)?.characters ?? 0
    known.delete(key)
  }
  return {
    get: key => known.get(key)?.value,
    put: (key, value) => {
      forget(key)
      const own = charactersOf(value)
      known.set(key, { value, characters: own })
      characters += own
      for (const oldest of known.keys()) {
        if (known.size <= most && characters <= mostCharacters) break
        forget(oldest)
      }
    },
  }
}
