/** @file Runs: the folder on disk, progress, resuming, the report and the comparison of two runs. */

export { type Examined, examineRun, type RunExamination } from './check-run.ts'
export { compareMany } from './compare/compare.ts'
export type { ComparedRuns } from './compare/comparisons.ts'
export { appendControl, CONTROL_FILE, type ControlRequest } from './control.ts'
export { describeEnvironment } from './environment.ts'
export { RunError } from './errors.ts'
export { csvOf, type ExportedRows, flatRows } from './export.ts'
export { findRuns } from './find.ts'
export { listRun, unreadableRun } from './listing.ts'
export { isLocked } from './lock.ts'
export { Progress, type ProgressOptions, type ProgressStream } from './progress.ts'
export {
  latestCheckpoint,
  type RowTypes,
  readEvals,
  readEvents,
  readMetrics,
  readNewRows,
  readRollouts,
  readRubricRows,
  readRunInfo,
  withoutCalls,
  withoutTimings,
} from './readers.ts'
export { compareRuns, type RunComparison } from './report/compare.ts'
export { renderReport, writeReport } from './report/report.ts'
export type { ResumeOptions } from './resume.ts'
export { FILE_START, type NewRows, type RowPosition, readRowsFrom } from './row-files.ts'
export type * from './rows.ts'
export { type NewRunOptions, type ResumePoint, RunFolder } from './run-folder.ts'
export {
  checkpointName,
  checkpointSteps,
  configHash,
  loadRunState,
  type PruneOptions,
  pruneCheckpoints,
  type RunState,
  saveRunState,
} from './run-state.ts'
export { describeScore, greedyName, headlineScores, scoreNamesOf, scoreValue } from './scores.ts'
export * from './trackers/index.ts'
