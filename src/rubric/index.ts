/** @file Rubrics: criteria, verdicts, trees, scoring rules, rubric files. */

export * from './aggregate.ts'
export * from './criterion.ts'
export * from './formats/index.ts'
export * from './graded-row.ts'
export * from './levels.ts'
export * from './linear.ts'
export * from './methods.ts'
export * from './rule-names.ts'
export * from './rules.ts'
export * from './score.ts'
export * from './tree.ts'
export * from './wrappers.ts'
