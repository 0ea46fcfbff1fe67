/** @file The embedded engine behind the Tinker training protocol. */

export type { BaseModel } from './engines.ts'
export { type TinkerLimits, tinkerLimitsOf } from './limits.ts'
export {
  baseModel,
  DEFAULT_STATE,
  startTinkerServer,
  type TinkerServer,
  type TinkerServerOptions,
} from './server.ts'
