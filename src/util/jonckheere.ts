/**
 * @file The Jonckheere-Terpstra test of a trend over ordered groups (Jonckheere 1954; Terpstra 1952) in strata, with ties: by
 * permutations within blocks.
 */

import { countEach } from './descriptive.ts'
import { DataError } from './errors.ts'
import { Rng } from './rng.ts'

/** What the statistic is, and what it would be by chance. */
export interface JonckheereStatistic {
  /** Pairs of values of different groups in the expected order, a tie counting half: the sum over all pairs of groups. */
  statistic: number
  /** Its mean and its variance where the groups do not differ, ties taken into account (Hollander and Wolfe, section 6.2). */
  expected: number
  variance: number
  /** (statistic - expected) / sd; 0 where nothing varies. */
  z: number
}

/** Pairs in the expected order: later groups above earlier ones, ties half. */
const inOrder = (groups_A: readonly (readonly number[])[]): number => {
  let count = 0
  for (let a = 0; a < groups_A.length; a++)
    for (let b = a + 1; b < groups_A.length; b++)
      for (const x of groups_A[a]) for (const y of groups_A[b]) count += y > x ? 1 : y === x ? 0.5 : 0
  return count
}

const sumOver = (sizes: readonly number[], term: (n: number) => number): number =>
  sizes.reduce((sum, n) => sum + term(n), 0)

const tiesIn = (values: readonly number[]): number[] => [...countEach(values).values()]

const varianceOf = (sizes: readonly number[], ties: readonly number[]): number => {
  const n = sumOver(sizes, size => size)
  const cubic = (m: number) => m * (m - 1) * (2 * m + 5)
  const triples = (m: number) => m * (m - 1) * (m - 2)
  const pairs = (m: number) => m * (m - 1)
  const first = (cubic(n) - sumOver(sizes, cubic) - sumOver(ties, cubic)) / 72
  const second = n > 2 ? (sumOver(sizes, triples) * sumOver(ties, triples)) / (36 * triples(n)) : 0
  const third = n > 1 ? (sumOver(sizes, pairs) * sumOver(ties, pairs)) / (8 * pairs(n)) : 0
  return first + second + third
}

const checkGroups = (groups_A: readonly (readonly number[])[]): void => {
  if (groups_A.length < 2)
    throw new DataError(`jonckheere: expected at least two groups, got ${groups_A.length}`)
  const wrong = groups_A.flat().find(value => !Number.isFinite(value))
  if (wrong !== undefined)
    throw new DataError(`jonckheere: expected finite values, got ${wrong}; leave such values out`)
}

/**
 * The statistic of groups in ascending order, or of several strata of such groups: the sum over the strata, in each of which only
 * its own values are compared.
 * @param strata_S_A values by stratum and group
 * @throws DataError for fewer than two groups, or a value that is not finite.
 */
export const jonckheere = (strata_S_A: readonly (readonly (readonly number[])[])[]): JonckheereStatistic => {
  let [statistic, expected, variance] = [0, 0, 0]
  for (const groups of strata_S_A) {
    checkGroups(groups)
    const sizes = groups.map(({ length }) => length)
    const n = sumOver(sizes, size => size)
    statistic += inOrder(groups)
    expected += (n ** 2 - sumOver(sizes, size => size ** 2)) / 4
    variance += varianceOf(sizes, tiesIn(groups.flat()))
  }
  const z = variance > 0 ? (statistic - expected) / Math.sqrt(variance) : 0
  return { statistic, expected, variance, z }
}

/** One value of each group, measured under the same conditions: only within a block may values change places. */
export interface TrendBlock {
  /** Values of one stratum are compared with each other across its blocks. */
  stratum: string
  /** In the order of the groups. */
  values: readonly number[]
}

/** Up to this many arrangements all are gone through. */
const EXACT_ARRANGEMENTS = 50_000
const DRAWS = 20_000

/** The smallest two-sided p that so many blocks of so many groups can have. */
export const smallestTrendP = (blocks: number, groups: number): number => {
  const arrangements = factorial(groups) ** blocks
  return 2 / (arrangements <= EXACT_ARRANGEMENTS ? arrangements : 1 + DRAWS)
}

export interface TrendTest extends JonckheereStatistic {
  /** Twice the smaller tail, at most 1: of rising or falling along the groups. */
  p: number
  /** Tails: as far up as observed, and as far down. */
  pRising: number
  pFalling: number
  /** Whether all arrangements were gone through. */
  exact: boolean
}

const strataOf = (blocks: readonly TrendBlock[]): number[][][] => {
  const names = [...new Set(blocks.map(({ stratum }) => stratum))]
  return names.map(name => {
    const own = blocks.filter(({ stratum }) => stratum === name)
    return own[0].values.map((_, group) => own.map(({ values }) => values[group]))
  })
}

const arrangementsOf = (values: readonly number[]): number[][] =>
  values.length <= 1
    ? [[...values]]
    : values.flatMap((first, i) =>
        arrangementsOf([...values.slice(0, i), ...values.slice(i + 1)]).map(rest => [first, ...rest]),
      )

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1))

const statisticOf = (blocks: readonly TrendBlock[]): number =>
  strataOf(blocks).reduce((sum, groups) => sum + inOrder(groups), 0)

/** Calls `visit` with every way to arrange the values within their blocks. */
const everyArrangement = (
  blocks: readonly TrendBlock[],
  visit: (blocks: readonly TrendBlock[]) => void,
): void => {
  const ways = blocks.map(({ values }) => arrangementsOf(values))
  const arranged = blocks.map(block => ({ ...block }))
  const at = (i: number): void => {
    if (i === blocks.length) visit(arranged)
    else
      for (const values of ways[i]) {
        arranged[i] = { ...arranged[i], values }
        at(i + 1)
      }
  }
  at(0)
}

/**
 * Test of a trend over groups in blocks. The statistic compares all values of a stratum, which sees more than those of a block
 * alone; values change places within blocks only, so that it holds also where blocks differ. Exact for at most 50,000
 * arrangements, else 20,000 seeded draws with (1 + hits) / (1 + draws) (Phipson and Smyth 2010).
 * @throws DataError for no blocks, blocks of different lengths or fewer than two groups, or a value that is not finite.
 */
export const trendTest = (blocks: readonly TrendBlock[], seed: number | string = 0): TrendTest => {
  if (blocks.length === 0) throw new DataError('trendTest: expected at least one block, got none')
  const groups = blocks[0].values.length
  const odd = blocks.find(({ values }) => values.length !== groups)
  if (odd)
    throw new DataError(`trendTest: expected ${groups} values in every block, got ${odd.values.length}`)
  const found = jonckheere(strataOf(blocks))
  let [up, down, count] = [0, 0, 0]
  const look = (arranged: readonly TrendBlock[]) => {
    const statistic = statisticOf(arranged)
    count++
    if (statistic >= found.statistic) up++
    if (statistic <= found.statistic) down++
  }
  const exact = factorial(groups) ** blocks.length <= EXACT_ARRANGEMENTS
  if (exact) everyArrangement(blocks, look)
  else {
    // What was observed is one of the arrangements.
    look(blocks)
    const rng = new Rng(`${seed}/trend`)
    for (let draw = 0; draw < DRAWS; draw++)
      look(blocks.map(block => ({ ...block, values: rng.shuffle(block.values) })))
  }
  const [pRising, pFalling] = [up / count, down / count]
  return { ...found, p: Math.min(1, 2 * Math.min(pRising, pFalling)), pRising, pFalling, exact }
}
