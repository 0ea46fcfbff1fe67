/** @file A verifier that is learnt from labelled verdicts, and the grader that it becomes. */

export { learnedVerifier } from './entry.ts'
export { LearnedVerifier, type LearnedVerifierOptions } from './grader.ts'
export { type LabelledRow, readLabels } from './labels.ts'
