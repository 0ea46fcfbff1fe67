/** @file Opens a judge of a configuration: its endpoints, its cache, and values of what it did. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type CallListener,
  type ChatModel,
  type JudgeFleet,
  judgeFleet,
  timedModel,
} from '../../chat/index.ts'
import { VerdictCache } from './cache/index.ts'
import { type JudgeStats, type LlmJudge, llmJudge } from './judge.ts'
import type { JudgeConfig } from './judge-config.ts'
import type { VerdictStore } from './judge-options.ts'
import type { JudgeForm } from './templates/form.ts'

/** What a configuration does not say. */
export interface JudgeSurroundings {
  /** In place of the configured endpoints. */
  model?: ChatModel
  /** What is put to it. Default: replies in a conversation. */
  form?: JudgeForm
  /** Where verdicts are remembered when the configuration names no folder. */
  store?: VerdictStore
  /** What the cache's folder is relative to. Default: the current one. */
  folder?: string
  /** Only to look: the cache is not written, and not made where there is none. */
  readOnly?: boolean
  /** Each verdict says which call it came from (`Verdict.call`). */
  tellsCalls?: boolean
  /** Called with every call of the model. */
  onCall?: CallListener
  /** Called with what a person should know of the endpoints. Default: a process warning. */
  onWarning?: (message: string) => void
}

/** What a judge did, and the time that its calls took, all of them together. */
export interface OpenJudgeStats extends JudgeStats {
  timedCalls: number
  callSeconds: number
}

export interface OpenJudge {
  /** Whoever grades with it may close it; `close` does so as well. */
  grader: LlmJudge
  /** Null where a model took the place of the endpoints. */
  fleet: JudgeFleet | null
  cache: VerdictCache | null
  stats(): OpenJudgeStats
  /** Closes grader and endpoints, then the cache, which takes the last verdicts. */
  close(): Promise<void>
}

const openCache = (
  { cache }: JudgeConfig,
  { folder = '.', readOnly = false }: JudgeSurroundings,
): VerdictCache | null => {
  if (cache === null) return null
  const place = resolve(folder, cache.folder)
  if (readOnly && !existsSync(place)) return null
  return VerdictCache.open(place, { maxBytes: cache.maxBytes, readOnly })
}

/** @throws ConfigError for an endpoint, a key or a folder that cannot be used */
export const openJudge = (config: JudgeConfig, surroundings: JudgeSurroundings = {}): OpenJudge => {
  const { model, form, store, tellsCalls, onCall, onWarning } = surroundings
  const fleet = model === undefined ? judgeFleet(config.fleet, { onWarning }) : null
  const cache = openCache(config, surroundings)
  let timedCalls = 0
  let callSeconds = 0
  const timed = timedModel(model ?? fleet!, (outcome, tookMs) => {
    timedCalls++
    callSeconds += tookMs / 1000
    onCall?.(outcome, tookMs)
  })
  const grader = llmJudge({ ...config.ask, model: timed, form, cache: cache ?? store, tellsCalls })
  return {
    grader,
    fleet,
    cache,
    stats: () => ({ ...grader.stats(), timedCalls, callSeconds }),
    async close() {
      await grader.close()
      cache?.close()
    },
  }
}
