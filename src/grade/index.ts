/** @file Graders: what a response earns, criterion by criterion. */

export * from './logic/index.ts'
