/** @file Trackers: metrics of runs in TensorBoard, MLflow and trackio. */

export { type TrackerSettings, trackerSchema, trackersSchema } from './config.ts'
export { type ExportedRun, type ExportRunOptions, exportRun } from './export.ts'
export { type EndStatus, type Point, type RunFacts, type Tracker, TrackerError } from './tracker.ts'
export { checkTrackers, openTracker, RunTrackers, shipmentTo, TRACKERS_FOLDER } from './trackers.ts'
