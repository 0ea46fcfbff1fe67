/** @file Research agents: the protocol of their texts, stages, tools, and the world that they act in. */

export * from './agent-format.ts'
export { CallFault, readCall, type WrittenCall, writeCall } from './calls.ts'
export * from './demonstration-tokens.ts'
export * from './demonstrations.ts'
export * from './elements.ts'
export * from './environment.ts'
export { clip, safeText, showResult, writeObservation } from './observation.ts'
export { reachedTool, type SaidKind, saidKind, type ToolCallOutcome, type ToolOutput } from './outcome.ts'
export { type ProblemKind, problemText, type ResearchProblem } from './problems.ts'
export * from './prompt.ts'
export * from './protocol.ts'
export * from './questions.ts'
export { reflectorMessages } from './reflector.ts'
export * from './rejection.ts'
export * from './session.ts'
export { type ResearchSettings, researchTaskSchema } from './settings.ts'
export { givenAnswer, normaliseShort, shortAnswerScores, wordF1 } from './short-answer.ts'
export {
  DEFAULT_MAX_CALLS,
  parseTrajectory,
  STAGES,
  type Stage,
  type StagedText,
  type StageOptions,
  type StageSpan,
  stageText,
  type VerifiedStages,
  verifyStagesRow,
} from './stages.ts'
export * from './teacher.ts'
export * from './token-stages.ts'
export * from './tool-box.ts'
