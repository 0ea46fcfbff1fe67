/** @file Judging by a language model. */

export * from './chat-model.ts'
export * from './parse.ts'
export * from './untrusted.ts'
