/** @file What criteria are good for, over all rollouts of a step: whether they tell them apart, and whether graders agree on them. */

import { percentAgreement, type Rating } from '../../eval/agreement.ts'
import type { Groups } from '../../rl/rollout.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import { type JudgedResponse, pointShares } from '../../rubric/shares.ts'
import type { MetricGroup, MetricsRow } from '../../runs/rows.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import { mean, meanKnown } from '../../util/statistics.ts'

/** The verdicts on one response, and what their criteria count as. */
export type KindedResponse = Pick<ScoredResponse, 'verdicts' | 'kinds'>

/** Lists by name that grow. */
class Lists<T> {
  readonly #lists = new Map<string, T[]>()

  add(name: string, value: T): void {
    const list = this.#lists.get(name)
    if (list) list.push(value)
    else this.#lists.set(name, [value])
  }

  get entries(): [string, T[]][] {
    return [...this.#lists]
  }
}

/** Credits that a group's responses have on each criterion, where there are any, with what it counts as. */
const columnsOf = (group: readonly KindedResponse[]): { name: string; credits: number[] }[] => {
  const names = new Map<string, string>()
  const columns = new Lists<number>()
  for (const { verdicts, kinds } of group)
    for (const verdict of verdicts) {
      const credit = creditOf(verdict)
      if (credit === null) continue
      names.set(verdict.criterionId, kinds?.[verdict.criterionId] ?? verdict.criterionId)
      columns.add(verdict.criterionId, credit)
    }
  return columns.entries.map(([id, credits]) => ({ name: names.get(id)!, credits }))
}

/** Mean credit of each criterion over the responses that have a verdict on it. */
export const satisfaction = (responses: readonly KindedResponse[]): Record<string, number> => {
  const known = new Lists<number>()
  for (const { verdicts, kinds } of responses)
    for (const verdict of verdicts) {
      const credit = creditOf(verdict)
      if (credit !== null) known.add(kinds?.[verdict.criterionId] ?? verdict.criterionId, credit)
    }
  return Object.fromEntries(known.entries.map(([name, credits]) => [name, mean(credits)]))
}

/** Share of verdicts that graders failed to give; null without any. */
export const nullRate = (verdicts: readonly Verdict[]): number | null =>
  meanKnown(verdicts.map(verdict => Number(creditOf(verdict) === null)))

/**
 * Of each criterion the share of groups in which it tells responses apart: not all credits that it gave there are equal. Groups
 * with fewer than two credits of it are left out. It is one minus saturation, for one criterion; where it is 0,
 * the criterion adds nothing to any advantage within a group.
 * @param groups responses to the same problem each
 */
export const discrimination = (groups: Groups<KindedResponse>): MetricGroup => {
  const apart = new Lists<number>()
  for (const group of groups)
    for (const { name, credits } of columnsOf(group))
      if (credits.length > 1) apart.add(name, Number(credits.some(credit => credit !== credits[0])))
  return Object.fromEntries(apart.entries.map(([name, values]) => [name, mean(values)]))
}

/**
 * Of each criterion the share of responses on which two graders say the same (`percentAgreement`); those on which one of them
 * has no verdict are left out. Null where none is left.
 * @param first verdicts of one grader, a response each
 * @param second those of the other on the same responses, in the same order
 */
export const agreement = (
  first: readonly KindedResponse[],
  second: readonly KindedResponse[],
): MetricGroup => {
  const ratings = new Lists<readonly [Rating, Rating]>()
  for (const [i, { verdicts, kinds }] of first.entries()) {
    const others = new Map(second[i].verdicts.map(verdict => [verdict.criterionId, creditOf(verdict)]))
    for (const verdict of verdicts)
      ratings.add(kinds?.[verdict.criterionId] ?? verdict.criterionId, [
        creditOf(verdict),
        others.get(verdict.criterionId) ?? null,
      ])
  }
  return Object.fromEntries(ratings.entries.map(([name, pairs]) => [name, percentAgreement(pairs)]))
}

/** Which criteria the points come from; nothing where no point was earned. */
export const pointShareMetrics = (judged: readonly JudgedResponse[]): Omit<MetricsRow, 'step'> => {
  const shares = pointShares(judged)
  return shares ? { rewardShare: shares.earned, pointShare: shares.toBeHad } : {}
}

/** Fewest steps with verdicts on a criterion: less may be chance. */
const FEWEST_STEPS = 5
/** Most criteria that a line names. */
const MOST_NAMED = 6

/** Of each criterion its share of met verdicts in the steps that have some. */
const ratesOf = (metrics: readonly MetricsRow[]): Map<string, number[]> => {
  const rates = new Map<string, number[]>()
  for (const { criteria = {} } of metrics)
    for (const [name, rate] of Object.entries(criteria))
      if (rate !== null) {
        const known = rates.get(name)
        if (known) known.push(rate)
        else rates.set(name, [rate])
      }
  return rates
}

const listOf = (names: readonly string[]): string => {
  const more = names.length - MOST_NAMED
  const shown = [...names.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return names.length === 1 ? `criterion ${shown} was` : `criteria ${shown} were`
}

/**
 * What to say of criteria that were met by none or by all responses over the whole run: in a group where all have the same verdict
 * a criterion adds nothing to any advantage.
 * @param metrics all steps of the run
 */
export const idleCriteria = (metrics: readonly MetricsRow[]): string[] => {
  const known = [...ratesOf(metrics)].filter(([, rates]) => rates.length >= FEWEST_STEPS)
  const constant = (value: number) =>
    known.flatMap(([name, rates]) => (rates.every(rate => rate === value) ? [name] : []))
  const line = (names: readonly string[], by: string) =>
    names.length === 0
      ? []
      : [
          `${listOf(names)} met by ${by}: ${names.length === 1 ? 'it adds' : 'they add'} nothing to any advantage`,
        ]
  return [
    ...line(constant(0), 'no response that was asked about it'),
    ...line(constant(1), 'every response that was asked about it'),
  ]
}
