/** @file Whether an effect differs between cold starts: with few of them, a mean over all says nothing about the next one. */

import { Rng } from '../../util/rng.ts'
import { mean } from '../../util/statistics.ts'

/** Up to this many ways to share two starts' differences out, all of them are gone through. */
const EXACT_WAYS = 20_000

/** Draws where there are more, or more than two starts. */
const DRAWS = 20_000

/** Sum of squares between groups, of values that have mean 0. For two groups it orders as the difference of their means does. */
const between = (sums: readonly number[], sizes: readonly number[]): number =>
  sums.reduce((total, sum, i) => total + sum ** 2 / sizes[i], 0)

/** The sum of every choice of so many values. */
const choiceSums = (
  values: readonly number[],
  size: number,
  visit: (sum: number) => void,
  from = 0,
  sum = 0,
): void => {
  if (size === 0) visit(sum)
  else
    for (let i = from; i <= values.length - size; i++)
      choiceSums(values, size - 1, visit, i + 1, sum + values[i])
}

const ways = (n: number, k: number): number =>
  Array.from({ length: k }).reduce<number>((product, _, i) => (product * (n - i)) / (i + 1), 1)

const sumsOf = (values: readonly number[], sizes: readonly number[]): number[] => {
  let from = 0
  return sizes.map(size => {
    const own = values.slice(from, from + size)
    from += size
    return own.reduce((sum, value) => sum + value, 0)
  })
}

/**
 * Permutation test that the groups have one mean, with the sum of squares between them as statistic. Two groups of few values:
 * exact (Fisher 1935). Otherwise 20,000 draws, with p = (1 + hits) / (1 + draws) (Phipson and Smyth 2010).
 * @returns p; null unless there are two groups or more, each of two values or more
 */
export const betweenStartsTest = (groups: readonly (readonly number[])[]): number | null => {
  if (groups.length < 2 || groups.some(({ length }) => length < 2)) return null
  const all = groups.flat()
  const largest = Math.max(...all.map(Math.abs))
  // Equal but for rounding.
  if (Math.max(...all) - Math.min(...all) <= all.length * Number.EPSILON * largest) return 1
  const centre = mean(all)
  const values = all.map(value => value - centre)
  const sizes = groups.map(({ length }) => length)
  const least = between(sumsOf(values, sizes), sizes) * (1 - 1e-9)
  if (sizes.length === 2 && ways(values.length, sizes[0]) <= EXACT_WAYS) {
    let [hits, count] = [0, 0]
    choiceSums(values, sizes[0], sum => {
      count++
      if (between([sum, -sum], sizes) >= least) hits++
    })
    return hits / count
  }
  const rng = new Rng('between starts')
  let hits = 0
  for (let draw = 0; draw < DRAWS; draw++)
    if (between(sumsOf(rng.shuffle(values), sizes), sizes) >= least) hits++
  return (1 + hits) / (1 + DRAWS)
}
