/** @file Rubrics: criteria, verdicts, scores. */

export * from './criterion.ts'
export * from './score.ts'
