/** @file Research agents: the protocol of their texts, stages, tools, and the world that they act in. */

export {
  type AgentFormat,
  type ChatAgentFormat,
  type ChatAgentOptions,
  chatAgentFormat,
  DEFAULT_OBSERVATION_TOKENS,
  personSays,
  toolFormOf,
} from './agent-format.ts'
export { CallFault, readCall, type WrittenCall, writeCall } from './calls.ts'
export { answerText, type ContentsPart, contentsParts, selfWrittenRubrics } from './contents.ts'
export {
  DemonstrationEncoder,
  type DemonstrationOptions,
  type DemonstrationTokens,
} from './demonstration-tokens.ts'
export { type Demonstration, demonstrationOf, demonstrationSchema } from './demonstrations.ts'
export { type Element, elementsOf, observationsByTag, type TextSpan } from './elements.ts'
export {
  mostTurns,
  type ResearchEpisode,
  ResearchWorld,
  type ResearchWorldOptions,
  readRollout,
  rolloutStages,
} from './environment.ts'
export { clip, safeText, showResult, writeObservation } from './observation.ts'
export { reachedTool, type SaidKind, saidKind, type ToolCallOutcome, type ToolOutput } from './outcome.ts'
export { type ProblemKind, problemText, type ResearchProblem } from './problems.ts'
export {
  type AgentPromptOptions,
  agentInstructions,
  agentMessages,
  type CallForm,
  type PromptPart,
} from './prompt.ts'
export {
  type BrokenRule,
  DEFAULT_RULES,
  decideTurn,
  lastCallNotice,
  ruleNotice,
  type TurnDecision,
  type TurnRules,
  type TurnState,
  turnRulesSchema,
} from './protocol.ts'
export {
  type ResearchFiles,
  type ResearchQuestion,
  readResearchQuestions,
  researchFiles,
  researchFilesShape,
  researchQuestions,
} from './questions.ts'
export { reflectorMessages } from './reflector.ts'
export {
  normalizeTrajectory,
  REJECTIONS,
  type RecordedRound,
  type RecordedTrajectory,
  type Rejection,
  type RejectionOptions,
  type RejectionResult,
  rejectionsOf,
  selectTrajectories,
} from './rejection.ts'
export {
  ResearchSession,
  type SessionCounts,
  type SessionOptions,
  type SessionReply,
  XML_NAMES,
} from './session.ts'
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
} from './stages.ts'
export { askTeacher, type TeacherAttempt, type TeacherOptions, turnOf } from './teacher.ts'
export {
  observationsByMask,
  parseRollout,
  type RolloutText,
  rolloutText,
  stagesOfTokens,
} from './token-stages.ts'
export {
  TOOL_BOX_DEFAULTS,
  ToolBox,
  type ToolBoxCounts,
  type ToolBoxOptions,
  type ToolCounts,
} from './tool-box.ts'
export {
  attemptKey,
  type Recording,
  RecordingFile,
  type RecordingHeader,
  type RecordingRow,
  readRecording,
} from './trajectory-file.ts'
export { type VerifiedStages, verifyStagesRow } from './verify.ts'
