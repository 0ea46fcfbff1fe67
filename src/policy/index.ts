/** @file Policies: sample, score, update, save; in this process, its engine in a worker thread. */

export { createEngine, type Engine, type EngineOptions } from './local/engine.ts'
export { LocalPolicy } from './local/local-policy.ts'
export type { ModelSource } from './local/parameters.ts'
export type * from './policy.ts'
