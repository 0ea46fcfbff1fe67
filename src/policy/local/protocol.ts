/** @file Messages between the main thread and the engine's worker. */

import type { ModelConfig } from '../../model/config.ts'
import type { NextTurn, Sample, SampledToken } from '../policy.ts'
import type { Engine, EngineOptions } from './engine.ts'
import type { ModelSource } from './model-source.ts'

export interface WorkerStart {
  source: ModelSource
  options: EngineOptions
  /** Of a `RunGate`. */
  gate: SharedArrayBuffer
}

/** Calls that travel to the worker: the engine's methods by name. */
type EngineMethod = Exclude<keyof Engine, 'parameters' | 'refuses'>

export interface CallMessage {
  id: number
  method: EngineMethod
  args: unknown[]
}

/** What follows a turn of a call of `converse`; it does not wait behind other calls. */
export interface NextTurnMessage {
  id: number
  row: number
  next: NextTurn | null
}

export interface ErrorData {
  name: string
  /** The class among util/errors.ts that the error is of, if it is of one. */
  kind: string | null
  message: string
  stack?: string
}

export type WorkerReply =
  | {
      kind: 'ready'
      config: ModelConfig
      hasValueHead: boolean
      parameterCount: number
      trainedCount: number
    }
  | { kind: 'failed'; error: ErrorData }
  | { kind: 'sample'; id: number; sample: Sample }
  | { kind: 'turn'; id: number; row: number; turn: Sample }
  | { kind: 'token'; id: number; token: SampledToken }
  | { kind: 'result'; id: number; value: unknown }
  | { kind: 'error'; id: number; error: ErrorData }
