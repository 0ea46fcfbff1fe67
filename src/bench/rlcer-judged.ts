/** @file A step of rlcer whose verifier is a language model that takes its time: what of that sampling hides, what the cache saves. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChatModel } from '../chat/chat-model.ts'
import { scriptedModel } from '../chat/scripted-model.ts'
import { configOf, type RlcerBenchSettings, timeOf, warmRows } from './rlcer-runs.ts'
import { SlowJudge } from './slow-judge.ts'

/** A step whose rubrics a language model verifies, asked anew, and the same step again, from the cache. */
export interface JudgedBenchmark {
  calls: number
  latencyMs: number
  slots: number
  /** Rollouts of the step with all verdicts known, and all calls through the slots by themselves. */
  sampleS: number
  callsS: number
  /** Sampling and verifying as they were done; the sum of both would be one after the other. */
  freshS: number
  /** Share of the shorter of the two that was hidden behind the longer. */
  overlap: number
  cachedCalls: number
}

/** Says true of every criterion, when the judge is through with it. */
export const slowVerifier = (judge: SlowJudge): ChatModel & { readonly calls: number } =>
  scriptedModel(async ({ messages }) => {
    await judge.take()
    const text = messages.map(({ content }) => content).join('\n')
    const count = [...text.matchAll(/^\d+\. \((?:reward|penalty), /gm)].length
    return JSON.stringify({ judgement: Array.from({ length: count }, () => true), final_score: 0 })
  }, 'slow')

/** Steps of a run; the first warms up. */
const STEPS = 2

/** Two runs of the same steps with one cache. What is not the update is sampling and waiting for verdicts. */
export const benchJudged = async (settings: RlcerBenchSettings): Promise<JudgedBenchmark> => {
  const { latencyMs, slots } = settings
  const cache = mkdtempSync(join(tmpdir(), 'gradus-rlcer-cache-'))
  // In place of a fleet, which would keep to the slots.
  const model = slowVerifier(new SlowJudge(latencyMs, slots))
  const judge = {
    fleet: { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'slow', concurrency: slots }] },
    cache: { folder: cache },
  }
  const config = configOf(
    { ...settings, steps: STEPS },
    { verifier: { kind: 'judge', judge }, questionsTogether: 4 },
  )
  const measure = async () => {
    const callsBefore: number[] = []
    const rows = await warmRows(config, {
      verifierModel: model,
      onStep: () => callsBefore.push(model.calls),
    })
    const seconds = timeOf(rows, 'total') - timeOf(rows, 'update')
    return { seconds, calls: callsBefore[STEPS - 1] - callsBefore[0] }
  }
  try {
    const fresh = await measure()
    const cached = await measure()
    const { calls, seconds: freshS } = fresh
    const sampleS = cached.seconds
    const callsS = (Math.ceil(calls / slots) * latencyMs) / 1000
    const hidden = (sampleS + callsS - freshS) / Math.min(sampleS, callsS)
    return {
      ...{ calls, latencyMs, slots, sampleS, callsS, freshS },
      overlap: calls === 0 ? 0 : Math.max(0, Math.min(1, hidden)),
      cachedCalls: cached.calls,
    }
  } finally {
    rmSync(cache, { recursive: true, force: true })
  }
}
