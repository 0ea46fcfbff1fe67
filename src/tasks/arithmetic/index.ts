/** @file The arithmetic task: chains of operations with shown steps, and a grammar of criteria about such thinking. */

export { arithmeticStart } from './cold-start.ts'
export * from './demonstrations.ts'
export * from './format.ts'
export * from './lines.ts'
export * from './population.ts'
export * from './predicates.ts'
export * from './problem.ts'
export * from './rubricator.ts'
export { arithmeticTask, arithmeticVerifier } from './task.ts'
export * from './vocabulary.ts'
