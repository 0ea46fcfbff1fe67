/** @file Graders: what a response earns, criterion by criterion. */

export * from './author/index.ts'
export * from './evolving/index.ts'
export { FORMAL_CHECKS, FormalGrader, type FormalGraderOptions, validateFormal } from './formal-grader.ts'
export * from './grader.ts'
export * from './group/index.ts'
export * from './instructions/index.ts'
export * from './judge/index.ts'
export * from './logic/index.ts'
export {
  extractAnswer as extractMathAnswer,
  gradeMath,
  type MathGrade,
  type MathOptions,
  mathEqual,
  verifyMathRow,
} from './math/index.ts'
export * from './proposal/index.ts'
export * from './rubric-grader.ts'
export * from './rules/index.ts'
export * from './thinking/index.ts'
