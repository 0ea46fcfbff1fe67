/** @file The records task: questions that need look-ups which depend on each other, lessons that help with the next one. */

export { type RecordsTeacher, recordsDemonstrations } from './cold-start.ts'
export * from './lessons.ts'
export * from './reflector.ts'
export * from './research.ts'
export * from './stage-criteria.ts'
export * from './stage-judge.ts'
export * from './task.ts'
export * from './trajectory.ts'
export * from './vocabulary.ts'
export * from './world.ts'
