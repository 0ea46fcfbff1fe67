/** @file The graders of a training: rules where a criterion has one, else a language model; and what they took. */

import type { ChatModel } from '../../chat/chat-model.ts'
import { type FleetSettings, judgeFleet } from '../../chat/index.ts'
import type { Grader } from '../../grade/grader.ts'
import type { JudgeConfig } from '../../grade/judge/judge-config.ts'
import { type OpenJudge, openJudge } from '../../grade/judge/open-judge.ts'
import { recentVerdicts } from '../../grade/judge/recent-verdicts.ts'
import type { JudgeForm } from '../../grade/judge/templates/form.ts'
import { rubricGrader } from '../../grade/rubric-grader.ts'
import { RuleGrader, type RuleSettings } from '../../grade/rules/index.ts'
import { openThinkingJudge } from '../../grade/thinking/judges.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import type { Recipe } from '../../train/recipe.ts'
import { ConfigError } from '../../util/errors.ts'

/**
 * Refuses endpoints that cannot be used; calls nothing.
 * @param path of the settings in a configuration
 * @throws ConfigError naming it
 */
export const checkFleet = (fleet: FleetSettings, path: string): void => {
  try {
    void judgeFleet(fleet).close()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(`${path}: ${error.message}`, { cause: error })
  }
}

/** A grader that says what it did since it was last asked. */
export interface Judging {
  grader: Grader
  metrics(): Record<string, number | null>
  close(): Promise<void>
}

const NO_CALLS = { calls: 0, cached: 0, failed: 0, seconds: 0, timed: 0 }

/** Which judge the metrics are about. */
export type JudgeName =
  | 'judge'
  | 'heldOutJudge'
  | 'groupJudge'
  | 'verifier'
  | 'thinkingJudge'
  | 'responseJudge'
  | 'proposalJudge'
  | 'reflectionJudge'

/**
 * Calls to the model, share of the questions that needed none, calls without a usable answer; seconds of all calls together,
 * and of one. All of it depends on the clock: on which questions met under way, and in a pipeline on which step they count to.
 */
export const judgeMetrics = (name: JudgeName, judge: Pick<OpenJudge, 'stats'>): Judging['metrics'] => {
  let last = NO_CALLS
  return () => {
    const stats = judge.stats()
    const now = {
      calls: stats.calls,
      cached: stats.cachedCalls + stats.sharedCalls,
      failed: stats.failedCalls + stats.unusableCalls,
      seconds: stats.callSeconds,
      timed: stats.timedCalls,
    }
    const since = (key: keyof typeof now) => now[key] - last[key]
    const questions = since('calls') + since('cached')
    const metrics = {
      [`${name}CallCount`]: since('calls'),
      [`${name}CachedShare`]: questions > 0 ? since('cached') / questions : null,
      [`${name}FailedCalls`]: since('failed'),
      [`${name}Calls`]: since('seconds'),
      [`${name}Call`]: since('timed') > 0 ? since('seconds') / since('timed') : null,
    }
    last = now
    return metrics
  }
}

/** A recipe whose steps tell what judging took, in the row's `time`; the recipe as it is where nobody is asked. */
export const withJudgingTime = <Rolled>(
  recipe: Recipe<Rolled>,
  timing: (() => MetricGroup) | undefined,
): Recipe<Rolled> =>
  timing === undefined
    ? recipe
    : {
        ...recipe,
        async learn(step, rolled) {
          const { metrics, ...update } = await recipe.learn(step, rolled)
          return { ...update, metrics: { ...metrics, time: timing() } }
        },
      }

/**
 * The graders of a run; without a judge, rubrics must get along with rules.
 * @param model in place of the configured fleet
 * @param name begins the names of the metrics
 * @param ruleSettings what the rules may take
 * @param form of what the judge is asked; absent: replies in a conversation
 * @throws ConfigError for a judge that cannot be used
 */
export const openJudging = (
  config: JudgeConfig | null,
  model?: ChatModel,
  name: JudgeName = 'judge',
  ruleSettings: Partial<RuleSettings> = {},
  form?: JudgeForm,
): Judging => {
  const rules = new RuleGrader(ruleSettings)
  if (config === null) {
    const grader = rubricGrader({ rules, onNoJudge: 'error' })
    return { grader, metrics: () => ({}), close: async () => grader.close?.() }
  }
  const judge = openJudge(config, { model, form, store: recentVerdicts(), tellsCalls: true })
  const grader = rubricGrader({ judge: judge.grader, rules, onNoJudge: 'error' })
  return {
    grader,
    metrics: judgeMetrics(name, judge),
    async close() {
      await grader.close?.()
      await judge.close()
    },
  }
}

/**
 * A judge of thinking alone: no rules, nothing but what it is asked in its form.
 * @param model in place of the configured fleet
 * @throws ConfigError for a judge that cannot be used
 */
export const openThinkingJudging = (config: JudgeConfig, form: JudgeForm, model?: ChatModel): Judging => {
  const judge = openThinkingJudge(config, form, model)
  return { grader: judge.grader, metrics: judgeMetrics('verifier', judge), close: () => judge.close() }
}
