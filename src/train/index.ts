/** @file Training: the loop from problems to updates, and the frame around any training's steps. */

export type { Environment, Episode, TurnLimits } from '../rl/environment.ts'
export type { AnsweredItem, ItemGrader } from './grading.ts'
export { type LoopSettings, train } from './loop.ts'
export {
  type HeldOut,
  type LearntRollout,
  learntFrom,
  type Phase,
  type Recipe,
  type RecipeState,
  type StepUpdate,
} from './recipe.ts'
export { type RollOutRequest, type RolloutTime, type StepIo, StepRollouts } from './rollout.ts'
export {
  runSteps,
  type StepEvents,
  type StepsResult,
  type StepsSettings,
  type TrainingStep,
  trainedMsOf,
} from './steps.ts'
export { type DrawStep, type SupervisedSettings, supervisedStep } from './supervised.ts'
export { learnPhase } from './update.ts'
export { partMeans, rewardMetrics, rolloutRow } from './update-rows.ts'
