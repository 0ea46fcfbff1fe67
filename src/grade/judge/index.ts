/** @file Judging by a language model. */

export * from './cache/index.ts'
export * from './chat-model.ts'
export * from './endpoint/index.ts'
export * from './judge.ts'
export * from './judge-options.ts'
export * from './parse.ts'
export { type Script, scriptedModel } from './scripted-model.ts'
export * from './untrusted.ts'
export type { JudgeSampling } from './verdict-key.ts'
export type { JudgedVerdict } from './verdicts.ts'
