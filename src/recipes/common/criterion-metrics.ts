/** @file What criteria are good for, over all rollouts of a step: whether they tell them apart, and whether graders agree on them. */

import { percentAgreement, type Rating } from '../../eval/agreement.ts'
import type { Groups } from '../../rl/rollout.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import { type JudgedResponse, pointShares } from '../../rubric/shares.ts'
import type { MetricGroup, MetricsRow } from '../../runs/rows.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import { mean, meanKnown, valuesByName } from '../../util/statistics.ts'

/** The verdicts on one response, and what their criteria count as. */
export type KindedResponse = Pick<ScoredResponse, 'verdicts' | 'kinds'>

/** What is known of a criterion on one response: its credit, and what it counts as. */
const creditsOn = ({ verdicts, kinds }: KindedResponse): { id: string; name: string; credit: number }[] =>
  verdicts.flatMap(verdict => {
    const { criterionId: id } = verdict
    const credit = creditOf(verdict)
    return credit === null ? [] : [{ id, name: kinds?.[id] ?? id, credit }]
  })

const meansByName = (pairs: readonly (readonly [string, number])[]): Record<string, number> =>
  Object.fromEntries(valuesByName(pairs).map(([name, values]) => [name, mean(values)]))

/** Mean credit of each criterion over the responses that have a verdict on it. */
export const satisfaction = (responses: readonly KindedResponse[]): Record<string, number> =>
  meansByName(responses.flatMap(creditsOn).map(({ name, credit }) => [name, credit]))

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
  const columns = groups.flatMap(group =>
    valuesByName(group.flatMap(creditsOn).map(own => [own.id, own] as const)).map(([, column]) => column),
  )
  return meansByName(
    columns
      .filter(({ length }) => length > 1)
      .map(column => [column.at(-1)!.name, Number(column.some(({ credit }) => credit !== column[0].credit))]),
  )
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
  const ratings = first.flatMap(({ verdicts, kinds }, i) => {
    const others = new Map(second[i].verdicts.map(verdict => [verdict.criterionId, creditOf(verdict)]))
    return verdicts.map(verdict => {
      const { criterionId: id } = verdict
      const pair: readonly [Rating, Rating] = [creditOf(verdict), others.get(id) ?? null]
      return [kinds?.[id] ?? id, pair] as const
    })
  })
  return Object.fromEntries(valuesByName(ratings).map(([name, pairs]) => [name, percentAgreement(pairs)]))
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
const ratesOf = (metrics: readonly MetricsRow[]): [name: string, rates: number[]][] =>
  valuesByName(
    metrics.flatMap(({ criteria = {} }) =>
      Object.entries(criteria).flatMap(([name, rate]) => (rate === null ? [] : [[name, rate] as const])),
    ),
  )

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
  const known = ratesOf(metrics).filter(([, rates]) => rates.length >= FEWEST_STEPS)
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
