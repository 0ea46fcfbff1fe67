/** @file Packing lists with thinking before them: statements, predicates about them, demonstrations, the task. */

export * from './demonstrations.ts'
export * from './predicates.ts'
export { thinkingPackingTask, thoughtVerifier } from './task.ts'
export * from './thought.ts'
