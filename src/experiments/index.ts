/** @file Experiments: registered claims, arms x cold starts x seeds, statistics, results and a report. */

export * from './analysis.ts'
export {
  analyseClaims,
  type ClaimResult,
  type Comparison,
  type ControlResult,
  comparisonName,
  detectableOf,
} from './claims.ts'
export { Experiment, type ExperimentOptions, type ExperimentPlan } from './experiment.ts'
export { type Job, type ResolveTraining, runDir, type Training } from './jobs.ts'
export { type FinishedRun, METRICS, type Metric } from './metrics/index.ts'
export { type Claim, parseRegistration, type Registration, readRegistration } from './registration.ts'
export { startsNote } from './report/notes.ts'
export type { PaperResult } from './results.ts'
export type { Execute, Launch, RunnerEvents, RunnerResult } from './runner.ts'
export * from './status.ts'
