/** @file What tasks with a grammar of criteria about thinking share: sentences, rubrics as pieces, a scripted rubricator. */

export * from './grammar.ts'
export * from './hints.ts'
export * from './piece-text.ts'
export * from './predicate.ts'
export * from './rubric-automaton.ts'
export * from './rubric-pieces.ts'
export * from './rubricator.ts'
export * from './verifier.ts'
