/** @file All statistics in one import: descriptive, intervals, tests and power. */

export * from './descriptive.ts'
export * from './intervals.ts'
export * from './significance.ts'
export * from './special.ts'
