/** @file How good a judge is against labels: agreement, false accepts, false rejects and missing verdicts, by sign of points. */

import { DataError } from '../util/errors.ts'
import {
  type BootstrapOptions,
  bootstrapInterval,
  type Estimate,
  wilsonInterval,
  withWidth,
} from '../util/intervals.ts'
import { cohenKappa } from './agreement.ts'

/** A verdict beside the truth about it. */
export interface LabelledVerdict {
  /** Of the criterion; only the sign counts. */
  points: number
  /** Whether the criterion is met: by a person, or by a program that knows. */
  label: boolean
  /** What the judge said; null where it gave nothing usable. */
  verdict: boolean | null
  /**
   * What the verdicts of one response share. Verdicts on one response are not independent: with groups, intervals come from
   * a bootstrap over groups instead of Wilson's formula on rows.
   */
  group?: string
}

/** Rates of one kind of criteria. A rate without a denominator is null, as are rates of verdicts when none was given. */
export interface JudgeRates {
  rows: number
  judged: number
  /** Share of given verdicts that are right. */
  agreement: Estimate | null
  /** Cohen's kappa of verdicts and labels: agreement beyond chance. */
  kappa: number | null
  /** Among criteria that are not met, the share that the judge called met. */
  falseAccept: Estimate | null
  /** Among criteria that are met, the share that the judge called not met. */
  falseReject: Estimate | null
  /** Share of rows without a verdict. */
  nullRate: Estimate | null
}

export interface JudgeQuality {
  all: JudgeRates
  /** Criteria that reward. A false accept here pays for nothing. */
  positive: JudgeRates
  /** Criteria that penalise. A false accept here punishes the innocent; a false reject lets a flaw pass. */
  negative: JudgeRates
  /** No more than 5% of the verdicts are missing for either sign: a run counts as honest. */
  nullsAcceptable: boolean
}

/** Largest share of missing verdicts, for either sign, with which a run counts as honest. */
export const MAX_NULL_RATE = 0.05

/**
 * Quality of a judge on labelled verdicts, in all and by sign of points, with intervals.
 * @throws DataError for no rows, points of zero, or rows of which only some have a group
 * @example
 * const verdicts = [true, false, true, null]
 * const quality = judgeQuality(verdicts.map((verdict, i) => ({ points: 1, label: i < 2, verdict })))
 * quality.positive.falseReject?.estimate // 0.5
 * quality.positive.falseAccept?.estimate // 1
 * quality.nullsAcceptable // false
 */
export const judgeQuality = (
  rows: readonly LabelledVerdict[],
  options: BootstrapOptions = {},
): JudgeQuality => {
  check(rows)
  const positive = ratesOf(
    rows.filter(({ points }) => points > 0),
    options,
  )
  const negative = ratesOf(
    rows.filter(({ points }) => points < 0),
    options,
  )
  const nullRates = [positive, negative].map(({ nullRate }) => nullRate?.estimate ?? 0)
  return {
    all: ratesOf(rows, options),
    positive,
    negative,
    nullsAcceptable: nullRates.every(rate => rate <= MAX_NULL_RATE),
  }
}

const check = (rows: readonly LabelledVerdict[]): void => {
  if (rows.length === 0)
    throw new DataError('judgeQuality: expected labelled verdicts, got none; check the file of labels')
  const bad = rows.findIndex(({ points }) => !(Number.isFinite(points) && points !== 0))
  if (bad >= 0)
    throw new DataError(
      `judgeQuality: row ${bad}: expected points other than zero, got ${rows[bad].points}; take them from the rubric`,
    )
  const grouped = rows.filter(({ group }) => group !== undefined).length
  if (grouped > 0 && grouped < rows.length)
    throw new DataError(
      `judgeQuality: expected a group in all rows or in none, got one in ${grouped} of ${rows.length}; name the response of each`,
    )
}

/** Which rows a rate is over, and which of them it counts. */
interface Rate {
  over: (row: LabelledVerdict) => boolean
  counts: (row: LabelledVerdict) => boolean
}

const RATES: Readonly<Record<'agreement' | 'falseAccept' | 'falseReject' | 'nullRate', Rate>> = {
  agreement: {
    over: ({ verdict }) => verdict !== null,
    counts: ({ verdict, label }) => verdict === label,
  },
  falseAccept: {
    over: ({ verdict, label }) => verdict !== null && !label,
    counts: ({ verdict }) => verdict === true,
  },
  falseReject: {
    over: ({ verdict, label }) => verdict !== null && label,
    counts: ({ verdict }) => verdict === false,
  },
  nullRate: { over: () => true, counts: ({ verdict }) => verdict === null },
}

const ratesOf = (rows: readonly LabelledVerdict[], options: BootstrapOptions): JudgeRates => ({
  rows: rows.length,
  judged: rows.filter(({ verdict }) => verdict !== null).length,
  agreement: rateOf(rows, RATES.agreement, options),
  kappa: cohenKappa(
    rows.map(({ label }) => label),
    rows.map(({ verdict }) => verdict),
  ),
  falseAccept: rateOf(rows, RATES.falseAccept, options),
  falseReject: rateOf(rows, RATES.falseReject, options),
  nullRate: rateOf(rows, RATES.nullRate, options),
})

const rateOf = (rows: readonly LabelledVerdict[], rate: Rate, options: BootstrapOptions): Estimate | null => {
  const over = rows.filter(rate.over)
  if (over.length === 0) return null
  if (over[0].group !== undefined) return groupedInterval(over, rate, options)
  return wilsonInterval(over.filter(rate.counts).length, over.length, options.level)
}

/** Bootstrap over groups of the ratio of counted rows to rows. */
const groupedInterval = (
  rows: readonly LabelledVerdict[],
  { counts }: Rate,
  options: BootstrapOptions,
): Estimate => {
  const groups = new Map<string, { counted: number; all: number }>()
  for (const row of rows) {
    const group = groups.get(row.group ?? '') ?? { counted: 0, all: 0 }
    groups.set(row.group ?? '', { counted: group.counted + Number(counts(row)), all: group.all + 1 })
  }
  const sums = [...groups.values()]
  const places = sums.map((_, index) => index)
  const interval = bootstrapInterval(places, { resamples: 2000, ...options }, sample => {
    let counted = 0
    let all = 0
    for (const index of sample) {
      counted += sums[index].counted
      all += sums[index].all
    }
    return counted / all
  })
  return withWidth(interval, sums.length)
}
