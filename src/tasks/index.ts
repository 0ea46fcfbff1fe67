/** @file Tasks: where problems come from and how they are put to a model. */

export * as arithmetic from './arithmetic/index.ts'
export * as checklist from './checklist/index.ts'
export * as conversation from './conversation/index.ts'
export * from './judge-verifier.ts'
export * from './logic/index.ts'
export * as openenv from './openenv/index.ts'
export * as questions from './questions/index.ts'
export * as research from './research/index.ts'
export * from './scored-response.ts'
export * from './task.ts'
export * from './thinking.ts'
