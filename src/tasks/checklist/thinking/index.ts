/** @file Packing lists with thinking before them: statements, predicates about them, demonstrations, the task. */

export * from './demonstrations.ts'
export { PackingThinkingTask } from './task.ts'
export * from './thought.ts'
export { thoughtTokenizer } from './tokenizer-json.ts'
export { THOUGHT_VOCABULARY, thoughtToken } from './vocabulary.ts'
