/** @file The dashboard: live runs, rollouts, verdicts, experiments, in a page of this machine. */

export type { ResultReaders } from './context.ts'
export { newToken as newControlToken } from './control.ts'
export { type Dashboard, type DashboardOptions, startDashboard } from './server.ts'
