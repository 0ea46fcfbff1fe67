/** @file Judging by a language model. */

export * from '../../chat/index.ts'
export * from './cache/index.ts'
export * from './calibration.ts'
export * from './escalation.ts'
export * from './judge.ts'
export * from './judge-options.ts'
export * from './panel.ts'
export * from './parse.ts'
export * from './synthetic-graders.ts'
export * from './untrusted.ts'
export type { JudgeSampling } from './verdict-key.ts'
export type { JudgedVerdict } from './verdicts.ts'
