/** @file Training: the loop from problems to updates, and the frame around any training's steps. */

export { type Credit, type LoopSettings, type Recipe, train } from './loop.ts'
export type { Replacements } from './replace-groups.ts'
export {
  type GradeItem,
  type Grader,
  type Group,
  type RatioMode,
  type RolloutSettings,
  rollOut,
  type SampledPrompts,
} from './rollout.ts'
export {
  runSteps,
  type StepEvents,
  type StepsResult,
  type StepsSettings,
  type StepWork,
  trainedMsOf,
} from './steps.ts'
export { type SupervisedDatum, type SupervisedSettings, supervisedStep } from './supervised.ts'
export { type TokenAdvantages, toDatums, type UpdateSettings, updatePolicy } from './update.ts'
