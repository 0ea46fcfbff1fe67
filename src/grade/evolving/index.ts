/** @file A judge whose rubrics evolve, stage by stage (RubricEM). */

export { type Accepted, acceptDrafts, type RefusalRule, type RefusedDraft } from './accept.ts'
export type { StageAnchor, StageAnchors } from './anchored.ts'
export { EvolvingBuffers, NO_RUBRICS, type QuestionRubrics } from './buffers.ts'
export {
  type GroupToJudge,
  type JudgedGroup,
  type JudgedRollout,
  judgeGroup,
  type LevelCounts,
  rubricRow,
} from './evolve.ts'
export { STAGE_GENERATOR } from './generator.ts'
export { assertScored, evolvingMetrics, stageScoreMetrics } from './metrics.ts'
export {
  modelStageJudge,
  type OpenStageJudge,
  openStageJudge,
  type StageJudgeConfig,
  type StageJudgeInput,
  stageJudgeOf,
  stageJudgeSchema,
  stageJudgeShape,
} from './model-judge.ts'
export { type Fate, prune, type RubricStatistics, statisticsOf } from './prune.ts'
export {
  judgeReflection,
  REFLECTION_JUDGE,
  type ReflectionMarks,
  type ReflectionToJudge,
} from './reflection-judge.ts'
export * from './rubrics.ts'
export { STAGE_SCORER } from './scorer.ts'
export { type ScriptedStageParts, type StageNoise, scriptedStageJudge } from './scripted-judge.ts'
export { DEFAULT_EVOLVING, type EvolvingInput, type EvolvingSettings, evolvingSchema } from './settings.ts'
