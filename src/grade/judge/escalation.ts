/** @file A light judge decides what it is sure of; the rest goes to a strong one. */

import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import { ConfigError } from '../../util/errors.ts'
import type { GradeItem, GradeOptions, Grader } from '../grader.ts'
import type { JudgedVerdict } from './verdicts.ts'

export type UnsureReason = 'null' | 'disagreement' | 'margin'

export interface EscalationOptions {
  light: Grader
  strong: Grader
  /** Below this margin in nats the light judge is unsure (`topLogprobs` of its `llmJudge`); without it margins are not looked at. */
  minMargin?: number
  /** How often the light judge is asked; when its verdicts differ it is unsure. Give it a temperature above 0. Default 1. */
  repeats?: number
}

/** How often which judge decided. */
export interface EscalationStats {
  verdicts: number
  escalated: number
  reasons: Record<UnsureReason, number>
  /** Escalated verdicts on which the strong judge gave the light one's verdict, or another, or none. */
  confirmed: number
  overturned: number
  strongNull: number
}

export interface EscalatingGrader extends Grader {
  stats(): EscalationStats
}

/**
 * A grader that asks `light` first and `strong` only about criteria on which it is unsure: it has no verdict, its repeats
 * disagree, or its verdict's token hardly beat the other. Where the strong judge fails, a light verdict stands if there is
 * one that its repeats agree on; else it is null.
 * @throws ConfigError for fewer than one repeat or a margin below 0
 * @example
 * const light = scriptedGrader((_item, { id }) => (id === 'hard' ? null : true))
 * const grader = escalate({ light, strong: constantGrader(false) })
 * const criteria = ['easy', 'hard'].map(id => ({ id, text: `Is ${id} to judge.`, points: 1 }))
 * const verdicts = await grader.grade({ prompt: [], response: '' }, criteria)
 * verdicts.map(({ met }) => met) // [ true, false ]
 * grader.stats().escalated // 1
 */
export const escalate = (options: EscalationOptions): EscalatingGrader => {
  const { light, strong, repeats = 1, minMargin } = options
  if (!(Number.isInteger(repeats) && repeats >= 1) || (minMargin !== undefined && !(minMargin >= 0)))
    throw new ConfigError(
      `escalate: expected repeats of at least 1 and a margin of at least 0, got ${repeats} and ${minMargin}; correct them`,
    )
  const stats = emptyStats()
  return {
    async grade(item, criteria, gradeOptions) {
      const opinions_C_R = await askLight(light, item, criteria, repeats, gradeOptions)
      const reasons = opinions_C_R.map(opinions => unsureBecause(opinions, minMargin))
      const doubtful = criteria.filter((_, index) => reasons[index] !== null)
      stats.verdicts += criteria.length
      if (doubtful.length === 0) return opinions_C_R.map(([verdict]) => verdict)
      const strongVerdicts = await strong.grade(item, doubtful, gradeOptions)
      let next = 0
      return opinions_C_R.map((opinions, index) => {
        const reason = reasons[index]
        return reason === null ? opinions[0] : settle(opinions[0], strongVerdicts[next++], reason, stats)
      })
    },
    async close() {
      await Promise.all([light.close?.(), strong.close?.()])
    },
    stats: () => ({ ...stats, reasons: { ...stats.reasons } }),
  }
}

const emptyStats = (): EscalationStats => ({
  verdicts: 0,
  escalated: 0,
  reasons: { null: 0, disagreement: 0, margin: 0 },
  confirmed: 0,
  overturned: 0,
  strongNull: 0,
})

/** Repeats have indices of their own, so that a cache keeps them apart. */
const askLight = async (
  light: Grader,
  item: GradeItem,
  criteria: readonly Criterion[],
  repeats: number,
  options: GradeOptions = {},
): Promise<JudgedVerdict[][]> => {
  const first = (options.sampleIndex ?? 0) * repeats
  const verdicts_R_C = await Promise.all(
    Array.from({ length: repeats }, (_, repeat) =>
      light.grade(item, criteria, { ...options, sampleIndex: first + repeat }),
    ),
  )
  return criteria.map((_, index) => verdicts_R_C.map(verdicts => verdicts[index]))
}

const unsureBecause = (opinions: readonly JudgedVerdict[], minMargin?: number): UnsureReason | null => {
  const credits = opinions.map(creditOf)
  if (credits.includes(null)) return 'null'
  if (credits.some(credit => credit !== credits[0])) return 'disagreement'
  const margins = opinions.flatMap(({ margin }) => margin ?? [])
  // A judge that gives no log-probs has no margin; that alone makes it neither sure nor unsure.
  if (minMargin !== undefined && margins.length > 0 && Math.min(...margins) < minMargin) return 'margin'
  return null
}

const settle = (light: Verdict, strong: Verdict, reason: UnsureReason, stats: EscalationStats): Verdict => {
  stats.escalated++
  stats.reasons[reason]++
  const attempts = (light.attempts ?? 0) + (strong.attempts ?? 0)
  if (creditOf(strong) === null) {
    stats.strongNull++
    return reason === 'margin' ? { ...light, attempts } : { ...strong, attempts }
  }
  if (reason !== 'null') creditOf(strong) === creditOf(light) ? stats.confirmed++ : stats.overturned++
  return { ...strong, attempts }
}
