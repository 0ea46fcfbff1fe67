/** @file Monitors: signs of reward hacking and of failing training, watched for in every run. */

export { DEFAULT_MONITORS, type MonitorName, type MonitorSettings, monitorsSchema } from './config.ts'
export { repeatedShare, rolloutFigures } from './figures.ts'
export type { History, Monitor, Sign, WatchedRollout } from './monitor.ts'
export { eventOf, evidenceOf, MONITORS, messageOf, type Warning, Watch } from './watch.ts'
export { type WatchedLesson, watchLesson } from './watched-lesson.ts'
