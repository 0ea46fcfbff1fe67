/** @file TODO */
export const THOUGHT_VERIFIER = 'packing_thought'
