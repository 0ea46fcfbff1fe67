/** @file Who gave a verdict, and what that took, in words: for the report and the dashboard alike. */

import { formatInteger, joinKnown, plural } from '../../util/format.ts'
import type { RolloutJudgeCall, RolloutRow, RolloutVerdict } from '../rows.ts'

const SOURCES: Record<NonNullable<RolloutVerdict['source']>, string> = {
  rule: 'rule',
  formal: 'solver',
  model: 'learned model',
  llm: 'judge, not asked',
  statistic: 'statistic over rollouts',
}

const REUSED: Record<NonNullable<RolloutJudgeCall['reused']>, string> = {
  cache: 'from the cache',
  shared: 'asked for another rollout at the same time',
}

/** The call that a verdict came from; null where no judge was asked. */
export const rowCallOf = ({ call }: RolloutVerdict, { judgeCalls }: RolloutRow): RolloutJudgeCall | null =>
  (call === undefined ? undefined : judgeCalls?.[call]) ?? null

/** Who gave a verdict; null where the row does not say. */
export const judgeName = (verdict: RolloutVerdict, row: RolloutRow): string | null =>
  rowCallOf(verdict, row)?.judge ?? (verdict.source === undefined ? null : SOURCES[verdict.source])

/** In the currency of the configured prices, whatever it is. */
const describeCost = (cost: number): string =>
  `cost ${cost.toLocaleString('en', { maximumSignificantDigits: 3 })}`

/** `812 tokens in, 64 out · cost 0.0003`; of a remembered answer what it took when it was asked for. */
export const describeCall = (call: RolloutJudgeCall): string => {
  const { promptTokens, completionTokens, attempts, cost, reused } = call
  const tokens =
    promptTokens !== undefined &&
    completionTokens !== undefined &&
    `${formatInteger(promptTokens)} tokens in, ${formatInteger(completionTokens)} out`
  const priced = typeof cost === 'number' && describeCost(cost)
  const took = joinKnown([tokens, priced, attempts !== undefined && plural(attempts, 'attempt')], ' · ')
  return joinKnown([reused && REUSED[reused], took], '; then ')
}

/** What the verdicts of a rollout took in all: `3 questions, 2 of them not asked anew · 912 tokens · cost 0.0012`. */
export const callTotals = (calls: readonly RolloutJudgeCall[]): string => {
  const asked = calls.filter(({ reused }) => reused === undefined)
  const reused = calls.length - asked.length
  const sum = (pick: (call: RolloutJudgeCall) => number | undefined): number | null =>
    asked.reduce<number | null>((total, call) => {
      const part = pick(call)
      return total === null || part === undefined ? null : total + part
    }, 0)
  const tokens = sum(call =>
    call.promptTokens === undefined || call.completionTokens === undefined
      ? undefined
      : call.promptTokens + call.completionTokens,
  )
  const cost = sum(call => call.cost)
  const questions = `${plural(calls.length, 'question')} to judges${reused > 0 ? `, ${reused} of them not asked anew` : ''}`
  if (asked.length === 0) return questions
  return joinKnown(
    [questions, tokens !== null && plural(tokens, 'token'), cost !== null && describeCost(cost)],
    ' · ',
  )
}
