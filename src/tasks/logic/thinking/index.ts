/** @file Thinking on the logic task: how it is read, and a grammar of criteria about it. */

export * from './closure.ts'
export * from './cold-start.ts'
export * from './predicates.ts'
export * from './steps.ts'
export { logicThinkingTask } from './task.ts'
export * from './text.ts'
