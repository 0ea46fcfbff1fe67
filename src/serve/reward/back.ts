/** @file What stands behind the HTTP front: a reward service in this thread, or in one of its own. */

import { fetchHandler, type Handler } from '../http/exchange.ts'
import type { FrontLog } from '../http/front.ts'
import type { FrontLimits } from '../http/limits.ts'
import type { AccessLog } from './access-log.ts'
import { type AppParts, rewardApp } from './app.ts'

export interface RewardBack {
  handler: Handler
  limits: FrontLimits
  /** Null: everyone may ask. */
  token: string | null
  log: AccessLog | null
  /** How often grading was stopped and begun anew; 0 where it cannot be. */
  restarts(): number
  close(): Promise<void>
}

/** The service in this thread: for a program that brings graders of its own. What blocks them blocks the front too. */
export const inThisThread = (parts: AppParts): RewardBack => ({
  handler: fetchHandler(rewardApp(parts)),
  limits: parts.service.config.limits,
  token: parts.token,
  log: parts.log,
  restarts: () => 0,
  close: () => parts.service.close(),
})

/** Requests that never came to a route, in the access log's words. */
export const frontLog = (log: AccessLog | null): FrontLog | null =>
  log && {
    refused: entry => log.request({ id: '', route: 'unknown', ...entry }),
    event: (event, fields) => log.event(event, fields),
  }
