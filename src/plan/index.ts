/** @file Plans: what a step of a training takes on given accelerators or on this machine, in time, memory, judges and money. */

export { sizeNamed } from '../recipes/common/model-size.ts'
export { ASSUMPTIONS, type Assumed, type AssumptionName, parseAssumptions } from './assumptions.ts'
export { checkRun, type RunCheck } from './check-run.ts'
export { type EngineSpeed, parseEngineSpeed, planEngineRange } from './engine-time.ts'
export { checkLines, enginePlanLines, planLines } from './format.ts'
export { GPU_NAMES, type GpuSet, parseGpus } from './gpus.ts'
export { type Grading, type PlanRequest, planRange, type RangedPlan, type StepPlan } from './step-plan.ts'
