/** @file The pieces of text that a rubricator of a small model writes its JSON with, one token each. */

import { type Predicate, THINKING_CATEGORIES, type ThinkingCategory } from './grammar.ts'

/** What a rubricator calls the categories of its criteria (RLCER Fig. 9). */
const CATEGORY_NAMES: Readonly<Record<ThinkingCategory, string>> = {
  planning: 'problem decomposition and planning',
  validation: 'backtracking, self-validation and error handling',
  clarity: 'reasoning clarity and flow',
  efficiency: 'reasoning focus and efficiency',
  other: 'other question-specific aspects',
}

/** Points that a criterion may have. */
export const POINTS = [1, 2, 3, 4, 5, -1, -2, -3, -4, -5] as const

/** Largest sum of points that 15 criteria can have. */
export const MOST_POINTS = 75

/** Before a hint that is to be met or avoided, and before a rubric. */
export const HINT_PIECES = { do: '\ndo ', avoid: '\navoid ', rubric: '\n<rubric>' } as const

/** Between the criteria and after them. */
export const RUBRIC_PIECES = {
  comma: ',',
  maximum: '],"maximum_score":',
  minimum: ',"minimum_score":',
  current: ',"current_score":',
  close: '}',
} as const

/** `{"question_domain":"...","rubrics":[` */
export const openPiece = (domain: string): string =>
  `{"question_domain":${JSON.stringify(domain)},"rubrics":[`

/** `{"category":"...","criterion":"` */
export const itemPiece = (category: ThinkingCategory): string =>
  `{"category":${JSON.stringify(CATEGORY_NAMES[category])},"criterion":"`

/**
 * `","points":3,"so_far":`. The sum of the points of one sign so far follows: a small model adds one number at a time, and the
 * format asks for sums that are right.
 */
export const pointsPiece = (points: number): string => `","points":${points},"so_far":`

/** Numbers from one to another, both included. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** What criteria are written with, around their sentences: categories, points, sums. */
export const CRITERION_PIECES: readonly string[] = [
  ...THINKING_CATEGORIES.map(itemPiece),
  ...POINTS.map(pointsPiece),
  ...range(-MOST_POINTS, MOST_POINTS).map(String),
]

/** A sentence between its places, and the places; what comes before a place ends without a blank. */
export const sentenceParts = (sentence: string): string[] =>
  sentence.split(/ ?(\{[a-z]+\})/).filter(part => part !== '')

/** The parts of sentences between their places, each once. */
export const sentencePieces = (predicates: readonly Predicate<never>[]): string[] => [
  ...new Set(
    predicates.flatMap(({ sentence }) => sentenceParts(sentence).filter(part => !part.startsWith('{'))),
  ),
]
