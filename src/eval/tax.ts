/** @file The optimisation tax: what training cost on criteria that it could not see, with intervals. */

import { mean } from '../util/descriptive.ts'
import { ShapeError } from '../util/errors.ts'
import { type BootstrapOptions, type Estimate, twoWayBootstrapInterval } from '../util/intervals.ts'
import { signFlipTest } from '../util/significance.ts'
import { isClear } from './profile.ts'

/** Scores by criterion: [seed][item], the same items in the same order for every seed. */
export type CriterionTables = Readonly<Record<string, readonly (readonly number[])[]>>

export interface Tax extends Estimate {
  criterion: string
  /** Mean before and after training. */
  before: number
  after: number
  /** The interval excludes zero, and sign flips of the items' changes seldom bring one as large, which takes six items. */
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
    const change_S_I = changes(criterion, before_S_I, after_S_I)
    const interval = twoWayBootstrapInterval(change_S_I, options)
    const change_I = change_S_I[0].map((_, item) => mean(change_S_I.map(row => row[item])))
    const p = signFlipTest(change_I, { draws: options.resamples ?? 10_000, seed: options.seed })
    return {
      criterion,
      ...interval,
      before: meanOf(before_S_I),
      after: meanOf(after_S_I),
      significant: isClear({ ...interval, p }),
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
