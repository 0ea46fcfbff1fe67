/** @file The logic task: generator, files, text format of the small model, test sets, baselines, cold start. */

export * from './baselines.ts'
export * from './coldstart.ts'
export * from './example.ts'
export * from './format.ts'
export * from './generator.ts'
export * from './loaders.ts'
export * from './settled.ts'
export * from './statistics.ts'
export * from './testsets.ts'
export * from './tokenizer-json.ts'
export { LOGIC_TOKENS, LOGIC_VOCABULARY } from './vocabulary.ts'
export * from './wording.ts'
