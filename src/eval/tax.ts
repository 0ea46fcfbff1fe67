/** @file The optimisation tax: what training cost on criteria that it could not see, with intervals. */

import { mean } from '../util/descriptive.ts'
import { ShapeError } from '../util/errors.ts'
import { type BootstrapOptions, type Estimate, twoWayBootstrapInterval } from '../util/intervals.ts'

/** Scores by criterion: [seed][item], the same items in the same order for every seed. */
export type CriterionTables = Readonly<Record<string, readonly (readonly number[])[]>>

export interface Tax extends Estimate {
  criterion: string
  /** Mean before and after training. */
  before: number
  after: number
  /** The interval excludes zero. One item alone has no interval over items, so nothing is significant. */
  significant: boolean
}

const meanOf = (table: readonly (readonly number[])[]) => mean(table.flat())

/**
 * Change of each criterion from the starting model to the trained one, paired by item, with a bootstrap interval over
 * items and seeds (Rubric as Reward). Below zero is a tax. `before` with one row serves all seeds (one starting model).
 * @throws ShapeError when a criterion is missing before training or the tables do not pair.
 */
export const optimisationTax = (
  before: CriterionTables,
  after: CriterionTables,
  options: BootstrapOptions = {},
): Tax[] =>
  Object.entries(after).map(([criterion, after_S_I]) => {
    const before_S_I = before[criterion] ?? []
    const interval = twoWayBootstrapInterval(changes(criterion, before_S_I, after_S_I), options)
    return {
      criterion,
      ...interval,
      before: meanOf(before_S_I),
      after: meanOf(after_S_I),
      significant: after_S_I[0].length > 1 && (interval.low > 0 || interval.high < 0),
    }
  })

const changes = (
  criterion: string,
  before_S_I: readonly (readonly number[])[],
  after_S_I: readonly (readonly number[])[],
): number[][] =>
  after_S_I.map((row, seed) => {
    const start = before_S_I.length === 1 ? before_S_I[0] : before_S_I[seed]
    if (start?.length !== row.length)
      throw new ShapeError(
        `optimisationTax: ${criterion}, seed ${seed}: expected ${row.length} items before training, got ${start?.length ?? 'none'}; evaluate both models on one file`,
      )
    return row.map((value, item) => value - start[item])
  })
