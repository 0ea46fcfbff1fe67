/** @file Experiments: registered claims, arms x cold starts x seeds, statistics, results and a report. */

export * from './analysis/analysis.ts'
export {
  type ArmComparison,
  analyseClaims,
  type ClaimResult,
  comparisonName,
  detectableOf,
} from './analysis/claims.ts'
export type { ControlResult } from './analysis/controls.ts'
export { DECISION_RULES, RULE } from './analysis/rules.ts'
export * from './analysis/status.ts'
export { Experiment, type ExperimentOptions, type ExperimentPlan } from './experiment.ts'
export { type FinishedRun, METRICS, type Metric } from './metrics/index.ts'
export { tipOf } from './plan/blocks.ts'
export {
  armTraining,
  decisive,
  type Job,
  type ResolveTraining,
  runDir,
  type Training,
} from './plan/jobs.ts'
export { parseRegistration, readRegistration } from './plan/read.ts'
export { apartOf, type Claim, type Registration } from './plan/registration.ts'
export { type Recomputed, recompute, writeRecomputed } from './recompute.ts'
export { startsNote } from './report/notes.ts'
export type { AdoptedJobs } from './results/adoption.ts'
export { countsOf, countsText } from './results/counts.ts'
export type { PaperResult } from './results/paper.ts'
export { slimCharts } from './results/slim-runs.ts'
export { isDone, readRecord } from './run/ledger.ts'
export { provenanceNow } from './run/provenance.ts'
export {
  type Execute,
  type Launch,
  type RunnerEvents,
  type RunnerResult,
  runJobs,
} from './run/runner.ts'
