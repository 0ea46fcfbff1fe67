/** @file Mathematical answers: extraction from responses, and equality. */

export { type MathOptions, mathEqual } from './equal.ts'
export { type ExtractOptions, extractAnswer } from './extract.ts'
export { gradeMath, type MathGrade } from './grade.ts'
export { verifyMathRow } from './verify-row.ts'
