import { describe, expect, it } from 'vitest'
import { Rng } from '../util/rng.ts'
import {
  AdaptiveWeight,
  adaptiveWeightSchema,
  type RewardPairs,
  withinGroupCorrelation,
} from './adaptive-weight.ts'

const rng = new Rng('adaptive weight')
const groups = (count: number, pair: () => [number, number]): RewardPairs[] =>
  Array.from({ length: count }, () => Array.from({ length: 8 }, pair))
const alike = (): [number, number] => {
  const quality = rng.next()
  return [quality, quality]
}
const apart = (): [number, number] => [rng.next(), rng.next()]
const against = (): [number, number] => {
  const quality = rng.next()
  return [1 - quality, quality]
}

const settings = adaptiveWeightSchema.parse({})

describe('the correlation within groups', () => {
  it('is that of the deviations from the groups’ own means', () => {
    // Worked by hand: deviations of T are -1, 1 and -2, 2, of R -1, 1 and 2, -2: (1 + 1 - 4 - 4) / sqrt(10 * 10).
    const pairs: RewardPairs[] = [
      [
        [0, 5],
        [2, 7],
      ],
      [
        [10, 3],
        [14, -1],
      ],
    ]
    expect(withinGroupCorrelation(pairs)).toBeCloseTo(-6 / 10, 12)
  })

  it('does not see that easy questions make both high', () => {
    const easyOrHard = Array.from({ length: 400 }, (_, i) => {
      const ease = i % 2
      return Array.from({ length: 8 }, (): [number, number] => [
        ease + 0.1 * rng.next(),
        ease + 0.1 * rng.next(),
      ])
    })
    expect(Math.abs(withinGroupCorrelation(easyOrHard)!)).toBeLessThan(0.1)
  })

  it('is unknown where no group varies in both', () => {
    expect(
      withinGroupCorrelation([
        [
          [1, 0],
          [1, 1],
        ],
        [[0, 1]],
        [],
      ]),
    ).toBeNull()
  })
})

describe('the adaptive weight', () => {
  const weightAfter = (pair: () => [number, number], changes: Partial<typeof settings> = {}) => {
    const weight = new AdaptiveWeight(0.5, { ...settings, ...changes })
    for (let step = 0; step < 60; step++) weight.observe(groups(16, pair))
    return weight.alpha
  }

  it('starts where it is told to', () => {
    expect(new AdaptiveWeight(0.5, settings).alpha).toBe(0.5)
    expect(new AdaptiveWeight(0.9, { ...settings, ceiling: 0.6 }).alpha).toBe(0.6)
  })

  it('grows where thinking goes with the response, falls where it does not', () => {
    expect(weightAfter(alike)).toBeGreaterThan(0.8)
    expect(weightAfter(apart)).toBeLessThan(0.3)
    expect(weightAfter(against)).toBeLessThan(weightAfter(apart))
    expect(weightAfter(against, { floor: 0.2 })).toBeGreaterThanOrEqual(0.2)
    expect(weightAfter(alike, { ceiling: 0.7 })).toBeLessThanOrEqual(0.7)
  })

  it('moves slowly while little was seen', () => {
    const weight = new AdaptiveWeight(0.5, settings)
    weight.observe(groups(8, alike))
    expect(weight.alpha).toBeGreaterThan(0.5)
    expect(weight.alpha).toBeLessThan(0.6)
  })

  it('forgets: what holds now counts in the end', () => {
    const weight = new AdaptiveWeight(0.5, settings)
    for (let step = 0; step < 60; step++) weight.observe(groups(16, alike))
    const high = weight.alpha
    for (let step = 0; step < 60; step++) weight.observe(groups(16, apart))
    expect(weight.alpha).toBeLessThan(high - 0.3)
  })

  it('goes on after a stop as if there had been none', () => {
    const whole = new AdaptiveWeight(0.5, settings)
    const steps = Array.from({ length: 6 }, () => groups(4, alike))
    for (const step of steps) whole.observe(step)
    const stopped = new AdaptiveWeight(0.5, settings)
    for (const step of steps.slice(0, 3)) stopped.observe(step)
    const resumed = new AdaptiveWeight(0.5, settings)
    resumed.load(JSON.parse(JSON.stringify(stopped.save())))
    for (const step of steps.slice(3)) resumed.observe(step)
    expect(resumed.alpha).toBe(whole.alpha)
  })
})
