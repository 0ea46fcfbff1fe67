/** @file The logic task: generator, text format of the small model. */

export * from './baselines.ts'
export * from './coldstart.ts'
export * from './example.ts'
export * from './format.ts'
export * from './generator.ts'
export * from './rules.ts'
export * from './statistics.ts'
export * from './tokenizer-json.ts'
export { LOGIC_TOKENS, LOGIC_VOCABULARY } from './vocabulary.ts'
