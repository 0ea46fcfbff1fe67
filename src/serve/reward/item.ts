/** @file What every route turns its request into, and what grading makes of it. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import type { GradeItem } from '../../grade/grader.ts'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'

/** One response to be graded, whatever shape it came in. */
export interface RewardItem extends GradeItem {
  /** A rubric, or the name of one in the configuration; the route's choice where absent. */
  rubric?: string | Rubric
  /** Which repeat of the same judgement this is. */
  sampleIndex?: number
  /** The sample as the client sent it: where `from` paths of the configuration look. */
  fields: Readonly<Record<string, unknown>>
}

/** Counts by the sign of a criterion's points. */
interface BySign {
  positive: number
  negative: number
}

/** What an item earned. */
export interface RewardResult {
  id?: string
  /** Scaled and clipped; null when nothing can be said. */
  reward: number | null
  /** As the scoring rule gives it, before scale and clip. */
  score: number | null
  /** Credit of each judged criterion. */
  parts: Record<string, number>
  /** What each criterion adds to the signed score: below 0 where a flaw is present, 0 without a verdict. */
  components: Record<string, number>
  verdicts: Verdict[]
  /** Criteria without a usable verdict. */
  nulls: BySign
  counts: BySign
  /** Name of the rubric; absent for one that came with the request. */
  rubric?: string
  /** Why there is no reward, in words. */
  reason?: string
}

/** Share of criteria without a verdict; 0 for an empty rubric. */
export const nullShare = ({ nulls, counts }: Pick<RewardResult, 'nulls' | 'counts'>): number => {
  const all = counts.positive + counts.negative
  return all === 0 ? 0 : (nulls.positive + nulls.negative) / all
}

/** A prompt as messages: a lone text is one user message. */
export const asMessages = (prompt: string | readonly ChatMessage[]): readonly ChatMessage[] =>
  typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt
