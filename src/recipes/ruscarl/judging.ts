/** @file The graders of conversations: rules where a criterion has one, else a language model; and what they took. */

import type { ChatModel } from '../../chat/chat-model.ts'
import { judgeFleet } from '../../chat/index.ts'
import type { Grader } from '../../grade/grader.ts'
import { VerdictCache } from '../../grade/judge/cache/index.ts'
import { type JudgeStats, type LlmJudge, llmJudge } from '../../grade/judge/judge.ts'
import { rubricGrader } from '../../grade/rubric-grader.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import type { OneJudge } from './judge-config.ts'
import { recentVerdicts } from './recent-verdicts.ts'

/** Time that calls take, all of them together and on average. */
class CallClock {
  seconds = 0
  calls = 0

  /** The model with its calls timed. */
  timed(model: ChatModel): ChatModel {
    return {
      name: model.name,
      complete: async request => {
        const startMs = performance.now()
        try {
          return await model.complete(request)
        } finally {
          this.seconds += (performance.now() - startMs) / 1000
          this.calls++
        }
      },
      close: async () => model.close?.(),
    }
  }
}

const NO_CALLS = { calls: 0, cached: 0, failed: 0, unusable: 0, seconds: 0, timed: 0 }

/** A grader that says what it did since it was last asked. */
export interface Judging {
  grader: Grader
  figures(): MetricGroup
  close(): Promise<void>
}

const countsOf = ({ calls, cachedCalls, sharedCalls, failedCalls, unusableCalls }: JudgeStats) => ({
  calls,
  cached: cachedCalls + sharedCalls,
  failed: failedCalls,
  unusable: unusableCalls,
})

/** Which judge the figures are about. */
export type JudgeName = 'judge' | 'heldOutJudge'

/**
 * Calls to the model, share of the questions that needed none, calls without a usable answer; seconds of all calls together,
 * and of one. All of it depends on the clock: on which questions met under way, and in a pipeline on which step they count to.
 */
const figuresOf = (name: JudgeName, judge: LlmJudge, clock: CallClock): (() => MetricGroup) => {
  let last = NO_CALLS
  return () => {
    const now = { ...countsOf(judge.stats()), seconds: clock.seconds, timed: clock.calls }
    const since = (key: keyof typeof now) => now[key] - last[key]
    const questions = since('calls') + since('cached')
    const figures = {
      [`${name}CallCount`]: since('calls'),
      [`${name}CachedShare`]: questions > 0 ? since('cached') / questions : null,
      [`${name}FailedCalls`]: since('failed') + since('unusable'),
      [`${name}Calls`]: since('seconds'),
      [`${name}Call`]: since('timed') > 0 ? since('seconds') / since('timed') : null,
    }
    last = now
    return figures
  }
}

/**
 * The graders of a run; without a judge, rubrics must get along with rules.
 * @param model in place of the configured fleet
 * @param name begins the names of the figures
 * @throws ConfigError for a judge that cannot be used
 */
export const openJudging = (
  config: OneJudge | null,
  model?: ChatModel,
  name: JudgeName = 'judge',
): Judging => {
  if (config === null) {
    const grader = rubricGrader({ onNoJudge: 'error' })
    return { grader, figures: () => ({}), close: async () => grader.close?.() }
  }
  const cache = config.cache && VerdictCache.open(config.cache.folder, { maxBytes: config.cache.maxBytes })
  const clock = new CallClock()
  const { topP, topK, presencePenalty, maxTokens, ...ask } = config.ask
  const judge = llmJudge({
    ...ask,
    topP: topP ?? undefined,
    topK: topK ?? undefined,
    presencePenalty: presencePenalty ?? undefined,
    maxTokens: maxTokens ?? undefined,
    model: clock.timed(model ?? judgeFleet(config.fleet)),
    cache: cache ?? recentVerdicts(),
  })
  const grader = rubricGrader({ judge, onNoJudge: 'error' })
  return {
    grader,
    figures: figuresOf(name, judge, clock),
    async close() {
      await grader.close?.()
      await cache?.close()
    },
  }
}
