/** @file Mathematical answers: extraction from responses, and equality. */

export { type MathOptions, mathEqual } from './compare/equal.ts'
export { extractAnswer } from './read/extract.ts'
export { afterThinking, behindHashes, lastBox, lastTagged } from './read/places.ts'
export { withoutTextCommands } from './read/words.ts'
export { gradeMath, type MathGrade, verifyMathRow } from './verify.ts'
