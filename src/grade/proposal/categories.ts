/** @file The aspects of reasoning that a proposed rubric sorts its criteria into. */

/** The closed list (RLCER Fig. 9; spec 2.2). */
export const PROPOSAL_CATEGORIES = [
  'problem decomposition and planning',
  'backtracking, self-validation and error handling',
  'reasoning clarity and flow',
  'reasoning focus and efficiency',
  'other question-specific aspects',
] as const

/** Longest name that is looked at. */
const LONGEST_NAME = 200

/**
 * A category's name as names are compared: case, punctuation and `effectiveness of` before it say nothing, and `&` is `and`;
 * the paper itself spells its categories in three ways.
 */
export const plainCategory = (name: string): string =>
  name
    .slice(0, LONGEST_NAME)
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replace(/[^a-z]+/g, ' ')
    .trim()
    .replace(/^effectiveness of /, '')
