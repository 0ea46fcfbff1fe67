/** @file Judging by a language model. */

export * from './chat-model.ts'
