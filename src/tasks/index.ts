/** @file Tasks: where problems come from and how they are put to a model. */

export * from './logic/index.ts'
