/** @file Trackers: metrics of runs in TensorBoard, MLflow and trackio. */

export { type TrackerSettings, trackerSchema, trackersSchema } from './config.ts'
export { type ExportedRun, type ExportRunOptions, exportRun } from './export.ts'
export { type EndStatus, type RunFacts, type TrackedPoint, type Tracker, TrackerError } from './tracker.ts'
export { checkTrackers, openTracker, RunTrackers, shipmentTo, TRACKERS_FOLDER } from './trackers.ts'
