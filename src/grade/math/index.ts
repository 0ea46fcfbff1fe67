/** @file Mathematical answers: extraction from responses, and equality. */

export { type MathOptions, mathEqual } from './compare/equal.ts'
export { gradeMath, type MathGrade } from './grade.ts'
export { type ExtractOptions, extractAnswer } from './read/extract.ts'
export { verifyMathRow } from './verify-row.ts'
