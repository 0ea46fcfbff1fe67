/** @file What a relative judge is told to go by: a rubric as a list, a line in words, or what is good in general. */

import type { Rubric } from '../../rubric/criterion.ts'

/** A rubric, a criterion in words, or null: what is good in general. */
export type Standards = Pick<Rubric, 'criteria'> | string | null

/** RULER's points in our words: whoever reaches the goal first, detours cost, part of the way earns part of the score. */
const GENERAL = [
  'What the request is after decides: whoever reaches it stands clearly above whoever does not.',
  'Of those that reach it, the more direct and the more correct way is the better one.',
  'Whoever does not reach it is the better the further they came.',
].join('\n')

const points = (worth: number): string =>
  worth > 0 ? `merit, ${worth} points` : `flaw, ${-worth} points off`

/** The text that a call shows. */
export const standardsText = (by: Standards): string => {
  if (by === null) return GENERAL
  if (typeof by === 'string') return by
  return by.criteria.map(({ text, points: worth }, i) => `${i + 1}. (${points(worth)}) ${text}`).join('\n')
}
