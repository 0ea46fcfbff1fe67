/** @file Graders: what a response earns, criterion by criterion. */

export * from './grader.ts'
export * from './judge/index.ts'
export * from './logic/index.ts'
