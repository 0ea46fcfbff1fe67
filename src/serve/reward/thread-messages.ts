/** @file What the front and the grading thread tell each other. */

import type { FrontRequest } from '../http/exchange.ts'
import type { RewardConfig } from './config.ts'

/** What the thread is started with. */
export interface GradingSetup {
  config: RewardConfig
  /** Folder that file names of the configuration are relative to. */
  folder: string
}

export type ToGrading =
  | { kind: 'request'; id: number; request: Omit<FrontRequest, 'signal'> }
  | { kind: 'abort'; id: number }
  | { kind: 'ping' }
  | { kind: 'close' }

export type FromGrading =
  | { kind: 'ready' }
  /** It cannot be started with this configuration. */
  | { kind: 'refused'; foreseen: boolean; message: string }
  | {
      kind: 'answer'
      id: number
      answer: { status: number; headers: Readonly<Record<string, string>>; body: Uint8Array<ArrayBuffer> }
    }
  | { kind: 'failed'; id: number }
  | { kind: 'log'; line: string }
  | { kind: 'unhandled'; what: 'exception' | 'rejection'; fields: Record<string, unknown> }
  | { kind: 'pong' }
  | { kind: 'closed' }
