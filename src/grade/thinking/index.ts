/** @file Judging thinking: whole rubrics on it, step by step, and against the thinking of others. */

export * from './judges.ts'
export * from './steps.ts'
export * from './winner.ts'
