/** @file The profile of a model under a rubric: how far each criterion is met, with intervals; and two models compared. */

import { mean } from '../util/descriptive.ts'
import { DataError, NumericError } from '../util/errors.ts'
import { bootstrapInterval, type Estimate, withWidth } from '../util/intervals.ts'
import { signFlipTest } from '../util/significance.ts'

/** What one grading of one item says of one criterion. Several samples of an item are several observations. */
export interface Observation {
  item: string
  criterion: string
  /** In [0, 1]; null where the grader gave no verdict. */
  credit: number | null
  /** Worth of the criterion, where it is known; below 0 for a penalty. */
  points?: number
}

export interface CriterionProfile {
  criterion: string
  /** Null where it is not known. */
  points: number | null
  /** Items with a verdict, verdicts, and verdicts that are null. */
  items: number
  observations: number
  nulls: number
  /** Mean over items of each item's mean credit, with its interval over items; null without a verdict. */
  satisfaction: Estimate | null
}

export interface ProfileOptions {
  /** Default: 10,000, fewer for many items, at least 1,000. */
  resamples?: number
  /** Coverage; default 0.95. */
  level?: number
  seed?: number | string
}

interface ItemCredits {
  points: number | null
  nulls: number
  /** Credits by item. */
  credits: Map<string, number[]>
}

/** Observations put together by criterion and item: what profiles are made from. Criteria keep the order of their first observation. */
export class CreditTable {
  readonly #criteria = new Map<string, ItemCredits>()

  constructor(observations: Iterable<Observation> = []) {
    for (const observation of observations) this.add(observation)
  }

  /** @throws NumericError for a credit outside [0, 1]. */
  add({ item, criterion, credit, points }: Observation): void {
    const row = this.#criteria.get(criterion) ?? { points: points ?? null, nulls: 0, credits: new Map() }
    this.#criteria.set(criterion, row)
    if (credit === null) {
      row.nulls++
      return
    }
    if (!(credit >= 0 && credit <= 1))
      throw new NumericError(
        `${criterion} of ${item}: expected a credit in [0, 1], got ${credit}; check the grader`,
      )
    const known = row.credits.get(item)
    if (known) known.push(credit)
    else row.credits.set(item, [credit])
  }

  get criteria(): string[] {
    return [...this.#criteria.keys()]
  }

  /** @throws DataError for a criterion without observations. */
  row(criterion: string): Readonly<ItemCredits> {
    const row = this.#criteria.get(criterion)
    if (row) return row
    throw new DataError(`profile: expected one of ${this.criteria.join(', ')}, got ${criterion}`)
  }

  has(criterion: string): boolean {
    return this.#criteria.has(criterion)
  }
}

const DRAWS = 20_000_000
const MOST_RESAMPLES = 10_000
const FEWEST_RESAMPLES = 1_000

/** 10,000, unless there are so many items that the interval is narrow anyway. */
const resamplesFor = (items: number, { resamples }: ProfileOptions): number =>
  resamples ?? Math.round(Math.min(MOST_RESAMPLES, Math.max(FEWEST_RESAMPLES, DRAWS / Math.max(1, items))))

/**
 * Satisfaction of each criterion: mean over items, with a percentile bootstrap interval over items (Wilson's where all items
 * are alike). Samples of one item are averaged first, since they are not independent. For a penalty it is how often the flaw
 * is present.
 */
export const profileOf = (table: CreditTable, options: ProfileOptions = {}): CriterionProfile[] =>
  table.criteria.map(criterion => {
    const { points, nulls, credits } = table.row(criterion)
    const means = [...credits.values()].map(values => mean(values))
    const n = means.length
    const resamples = resamplesFor(n, options)
    return {
      criterion,
      points,
      items: n,
      observations: [...credits.values()].reduce((sum, values) => sum + values.length, 0),
      nulls,
      satisfaction: n === 0 ? null : withWidth(bootstrapInterval(means, { ...options, resamples }), n),
    }
  })

export interface CriterionComparison extends CriterionProfile {
  /** The same criterion of the other model; null where it has none. */
  against: CriterionProfile | null
  /** Items that both have verdicts on. */
  sharedItems: number
  /**
   * Satisfaction minus the other's over shared items, paired, with the two-sided p of no difference by sign flips; null for fewer
   * than two items, which have no interval.
   */
  difference: (Estimate & { p: number }) | null
}

/**
 * Two models on the same items, criterion by criterion. The difference is taken item by item, so that items that are
 * hard for both do not widen its interval.
 */
export const compareProfiles = (
  table: CreditTable,
  against: CreditTable,
  options: ProfileOptions = {},
): CriterionComparison[] => {
  const others = new Map(profileOf(against, options).map(profile => [profile.criterion, profile]))
  return profileOf(table, options).map(profile => {
    const other = others.get(profile.criterion) ?? null
    const [own, theirs] = other ? sharedCredits(table, against, profile.criterion) : [[], []]
    const changes = own.map((values, item) => mean(values) - mean(theirs[item]))
    const resamples = resamplesFor(own.length, options)
    const tested = () => ({
      ...bootstrapInterval(changes, { ...options, resamples }),
      p: signFlipTest(changes, { draws: resamples, seed: options.seed }),
    })
    return {
      ...profile,
      against: other,
      sharedItems: own.length,
      difference: own.length < 2 ? null : tested(),
    }
  })
}

/** Credits [item][sample] of both, for the items that both have. */
const sharedCredits = (
  table: CreditTable,
  against: CreditTable,
  criterion: string,
): [number[][], number[][]] => {
  const theirs = against.row(criterion).credits
  const shared = [...table.row(criterion).credits].filter(([item]) => theirs.has(item))
  return [shared.map(([, values]) => values), shared.map(([item]) => theirs.get(item) as number[])]
}

/** Whether a difference is clear: its interval lies on one side of 0, and sign flips seldom bring one as large, which takes six items. */
export const isClear = ({ low, high, level, p }: Estimate & { p: number }): boolean =>
  (low > 0 || high < 0) && p < 1 - level
