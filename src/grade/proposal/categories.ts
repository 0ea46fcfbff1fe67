/** @file The aspects of reasoning that a proposed rubric sorts its criteria into. */

/** The closed list (RLCER Fig. 9). */
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
 * A category's name as names are compared: case, punctuation, `effectiveness of` before it, and whether a comma, a slash, `&` or
 * `and` stands between its parts say nothing: the paper spells one of them otherwise in its prompt (Fig. 9) and its sample (Fig. 11).
 */
export const plainCategory = (name: string): string =>
  name
    .slice(0, LONGEST_NAME)
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
    .trim()
    .replace(/^effectiveness of /, '')
    .replace(/ and(?= )/g, '')
