import { describe, expect, it } from 'vitest'
import { rlcerSchema } from './config.ts'
import {
  type CountedCriterion,
  controlledVerdicts,
  cotReward,
  countedCriteria,
  type JudgedRubric,
  neutralEvolving,
  outcomeReward,
  randomCot,
  reasonerReward,
  rubricatorReward,
  validCriteria,
} from './rewards.ts'
import type { JudgedCriterion } from './validity.ts'

const judged = (
  points: number,
  met: readonly (0 | 1 | null)[],
  { valid = true, text = `worth ${points}` } = {},
): JudgedCriterion => ({
  criterion: { id: text, text, points },
  met: met.map(own => (own === null ? null : own === 1)),
  ...{ valid, correlation: valid ? 0.5 : 0 },
})

const Z = [1, 1, 1, 0, 0, 0, 1, 0].map(Boolean)
const K1 = judged(3, [1, 1, 0, 0, 0, 0, 1, 0])
const K2 = judged(-4, [0, 0, 0, 1, 1, 0, 0, 0])

const cotOf = (criteria: readonly CountedCriterion[], m: number, emptyCot: number | null = 0) =>
  cotReward({ ...rlcerSchema.parse({ reasonerReward: 'rubric' }), emptyCot }, criteria, m, 'key')
const cots = (criteria: readonly JudgedCriterion[], emptyCot = 0) =>
  Z.map((_, m) => cotOf(criteria, m, emptyCot))

describe('reward of thinking (RLCER Eq. 6)', () => {
  it('has the values of the worked example', () => {
    // MAX 3, MIN -4: raw 3, 3, 0, -4, -4, 0, 3, 0.
    const expected = [1, 1, 4 / 7, 0, 0, 4 / 7, 1, 4 / 7]
    cots([K1, K2]).forEach((cot, m) => {
      expect(cot).toBeCloseTo(expected[m], 12)
    })
  })

  it('is by another rule where that is set: the mean, which leaves points out', () => {
    const config = rlcerSchema.parse({ reasonerReward: 'rubric', scoringRule: { name: 'mean' } })
    const means = Z.map((_, m) => cotReward(config, [K1, K2], m, 'key'))
    expect(means).toEqual([1, 1, 0.5, 0, 0, 0.5, 1, 0.5])
  })

  it('without valid criteria is what the setting says', () => {
    expect(cots([])).toEqual(Array(8).fill(0))
    expect(cots([], 0.5)).toEqual(Array(8).fill(0.5))
    // Where it says nothing a critic decides.
    expect(cotOf([], 0, null)).toBe(0.5)
    expect(cotReward(rlcerSchema.parse({ critic: null }), [], 0, 'key')).toBe(0)
  })

  it('of penalties alone is what they do not take: MAX 0', () => {
    const other = judged(-1, [1, 0, 0, 1, 0, 0, 0, 0])
    expect(cots([K2, other])).toEqual([0.8, 1, 1, 0, 0.2, 1, 1, 1])
  })

  it('drops a missing verdict for that response alone, from all three sums', () => {
    const k2 = judged(-4, [0, 0, 0, null, 1, 0, 0, 0])
    const all = cots([K1, k2])
    // Without k2 response 4 has MIN 0, MAX 3, raw 0.
    expect(all[3]).toBe(0)
    expect(all[2]).toBeCloseTo(4 / 7, 12)
    const k1 = judged(3, [1, null, 0, 0, 0, 0, 1, 0])
    expect(cots([k1, K2])[1]).toBe(1)
  })

  it('with a verdict on none of them is not known, which is no zero', () => {
    expect(cotOf([judged(3, [null, 1]), judged(-2, [null, 0])], 0)).toBeNull()
    expect(cotOf([judged(3, [null, 1]), judged(-2, [null, 0])], 1)).toBe(1)
  })
})

describe('what steers reasoners', () => {
  const rubric = (criteria: JudgedCriterion[], wellFormed = true): JudgedRubric => ({
    ...{ K: criteria.length, wellFormed, criteria, failed: false },
  })
  const settings = { dedupe: true, unformattedSteers: false }
  const textsOf = (criteria: readonly JudgedCriterion[]) => criteria.map(({ criterion }) => criterion.text)

  it('is what is valid in all rubrics of the question together, each once', () => {
    const valid = validCriteria(
      [
        rubric([judged(2, [], { text: 'plans' }), judged(1, [], { text: 'is long', valid: false })]),
        rubric([judged(5, [], { text: 'Plans.' }), judged(-1, [], { text: 'jumps' })]),
      ],
      settings,
    )
    expect(valid.map(({ criterion }) => criterion.points)).toEqual([5, -1])
    expect(
      validCriteria([rubric([judged(2, [], { text: 'plans' }), judged(2, [], { text: 'plans' })])], {
        ...settings,
        dedupe: false,
      }),
    ).toHaveLength(2)
  })

  it('leaves out rubrics that break the format, unless they may', () => {
    const broken = rubric([judged(2, [], { text: 'plans' })], false)
    expect(validCriteria([broken], settings)).toEqual([])
    expect(textsOf(validCriteria([broken], { ...settings, unformattedSteers: true }))).toEqual(['plans'])
  })

  it('leaves out what it is told to', () => {
    const both = rubric([judged(2, [], { text: 'plans' }), judged(2, [], { text: 'is right' })])
    const leftOut = ({ criterion: { text } }: JudgedCriterion) => text === 'is right'
    expect(textsOf(validCriteria([both], settings, leftOut))).toEqual(['plans'])
  })
})

describe("a reasoner's reward (Eq. 8, 9)", () => {
  it('is 1 or -1 for the answer', () => {
    expect([true, false, null].map(outcomeReward)).toEqual([1, -1, null])
  })

  const parts = { outcome: 1, cot: 0.25, overlong: -0.5 }

  it.each([
    ['outcome+rubric', 0.75],
    ['outcome', 0.5],
    ['rubric', -0.25],
    ['random', -0.25],
  ] as const)('%s adds up its parts, and keeps them all', (kind, reward) => {
    expect(reasonerReward(kind, parts)).toEqual({ reward, parts })
  })

  it('is not known where a part that counts is not', () => {
    expect(reasonerReward('outcome+rubric', { ...parts, cot: null }).reward).toBeNull()
    expect(reasonerReward('outcome', { ...parts, cot: null }).reward).toBe(0.5)
    expect(reasonerReward('rubric', { ...parts, outcome: null }).reward).toBe(-0.25)
    expect(reasonerReward('outcome', { ...parts, outcome: null }).reward).toBeNull()
  })

  it('of chance is between 0 and 1, the same for the same rollout', () => {
    const draws = Array.from({ length: 500 }, (_, i) => randomCot(`1/1/reasoner/0/${i}`))
    expect(Math.min(...draws)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...draws)).toBeLessThan(1)
    expect(draws.reduce((a, b) => a + b) / 500).toBeCloseTo(0.5, 1)
    expect(randomCot('1/1/reasoner/0/7')).toBe(draws[7])
  })
})

describe("a rubricator's reward (Eq. 10 to 12)", () => {
  const settings = rlcerSchema.parse({}).rubricator
  const rubric = (valid: readonly boolean[], changes: Partial<JudgedRubric> = {}): JudgedRubric => ({
    K: valid.length,
    wellFormed: true,
    criteria: valid.map((own, k) => judged(1, [], { valid: own, text: `c${k}` })),
    failed: false,
    ...changes,
  })
  const paidFor = (own: JudgedRubric) => rubricatorReward(own, Z, settings, 0.3)
  const five = [true, true, false, false, false]

  it('is the share of its criteria that are valid, and 1 for the format', () => {
    expect(paidFor(rubric(five))).toEqual({
      reward: 1.4,
      parts: { evolving: 0.4, format: 1 },
    })
    expect(paidFor(rubric(Array(5).fill(true))).reward).toBe(2)
  })

  it('counts what it wrote, usable or not', () => {
    expect(paidFor(rubric(five, { K: 8, wellFormed: false }))).toEqual({
      reward: 0.25,
      parts: { evolving: 0.25, format: 0 },
    })
  })

  it('counts what repeats itself once, or as it was written', () => {
    const copy = (valid: boolean, points = 1) => judged(points, [], { valid, text: 'plans' })
    const other = judged(1, [], { valid: false, text: 'is long' })
    const shares = (criteria: JudgedCriterion[], K = criteria.length) =>
      [true, false].map(distinct => {
        const own = rubric([], { K, criteria })
        return rubricatorReward(own, Z, { ...settings, distinct }, 0.3).parts.evolving
      })
    expect(shares([...Array(4).fill(copy(true)), other])).toEqual([0.5, 0.8])
    // What cannot be used is written all the same.
    expect(shares([copy(true), copy(true)], 3)).toEqual([0.5, 2 / 3])
    // With both signs it is decided by its most points: to have it both ways earns nothing.
    expect(shares([copy(false, 2), copy(true, -1)])).toEqual([0, 0.5])
  })

  it('is 0 for what cannot be read, and for no criteria at all', () => {
    expect(paidFor(rubric([], { wellFormed: false }))).toEqual({
      reward: 0,
      parts: { evolving: 0, format: 0 },
    })
  })

  it('where all responses are right or all wrong is the format, beside what says nothing, 0, or all of it unknown', () => {
    const none = rubric(Array(5).fill(false))
    for (const all of [Array(8).fill(true), [false, null, false]]) {
      const paid = (uninformative: 'neutral' | 'zero' | 'mask', own = none) =>
        rubricatorReward(own, all, { ...settings, uninformative }, 0.3)
      expect(paid('neutral')).toEqual({ reward: 1.3, parts: { evolving: 0.3, format: 1 } })
      expect(paid('neutral', { ...none, wellFormed: false }).reward).toBe(0.3)
      expect(paid('zero')).toEqual({ reward: 1, parts: { evolving: 0, format: 1 } })
      expect(paid('mask')).toEqual({ reward: null, parts: { evolving: null, format: 1 } })
    }
  })

  it('has as what says nothing the mean over questions that say something, without rubrics that nobody verified', () => {
    const rubrics = [rubric(five), rubric([true, false]), rubric(five, { failed: true })]
    const silent = { rubrics: [rubric([false, false])], correct: [true, true] }
    expect(neutralEvolving([{ rubrics, correct: Z }, silent], settings)).toBeCloseTo(0.45, 12)
    expect(neutralEvolving([silent], settings)).toBe(0)
  })

  it('is not known where the verifier failed on it', () => {
    expect(paidFor(rubric(five, { failed: true })).reward).toBeNull()
  })

  it('without evolving is the format alone, of the same rubricators', () => {
    const alone = { ...settings, evolving: false }
    expect(rubricatorReward(rubric(five), Z, alone, 0.3)).toEqual({
      reward: 1,
      parts: { evolving: 0.4, format: 1 },
    })
    const none = rubric(Array(5).fill(false))
    for (const [uninformative, reward] of [
      ['neutral', 1],
      ['zero', 1],
      ['mask', null],
    ] as const)
      expect(rubricatorReward(none, Array(8).fill(true), { ...alone, uninformative }, 0.3).reward).toBe(
        reward,
      )
    expect(rubricatorReward(rubric(five, { failed: true }), Z, alone, 0.3).reward).toBe(1)
  })
})

describe('controls', () => {
  it('turn verdicts round', () => {
    const [flipped] = controlledVerdicts([judged(1, [1, 0, null])], 'flipped', 'k')
    expect(flipped.met).toEqual([false, true, null])
    // Turning every verdict round turns the reward round.
    const turned = controlledVerdicts([K1, K2], 'flipped', 'k')
    Z.forEach((_, m) => {
      expect(cotOf(turned, m)).toBeCloseTo(1 - cotOf([K1, K2], m)!, 12)
    })
  })

  it('give verdicts to other responses, all criteria alike', () => {
    const shuffled = controlledVerdicts([K1, K2], 'shuffled', 'key')
    const rowsOf = (criteria: readonly JudgedCriterion[]) =>
      Z.map((_, m) => criteria.map(({ met }) => met[m]).join())
    expect(rowsOf(shuffled).sort()).toEqual(rowsOf([K1, K2]).sort())
    expect(rowsOf(shuffled)).not.toEqual(rowsOf([K1, K2]))
    expect(controlledVerdicts([K1, K2], 'shuffled', 'key')).toEqual(shuffled)
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      const marked = { ...K1, met: Z.map((_, m) => m === 0) }
      expect(controlledVerdicts([marked], 'others', key)[0].met).toContain(true)
      expect(controlledVerdicts([marked], 'others', key)[0].met[0]).toBe(false)
    }
    expect(controlledVerdicts([], 'shuffled', 'key')).toEqual([])
  })

  it('draw random verdicts, and leave missing ones missing', () => {
    const met = Array.from({ length: 400 }, (_, m): 0 | 1 | null => (m === 0 ? null : 1))
    const [drawn] = controlledVerdicts([judged(1, met)], 'random', 'k')
    expect(drawn.met[0]).toBeNull()
    const share = drawn.met.filter(Boolean).length / 399
    expect(share).toBeGreaterThan(0.35)
    expect(share).toBeLessThan(0.65)
  })

  it('pay a question by all of the next one, however many criteria that has', () => {
    const questions = [
      { key: 'p', valid: [judged(3, [1, 0])] },
      { key: 'q', valid: [judged(1, [1, 1]), judged(-2, [0, 1])] },
      { key: 'r', valid: [] },
    ]
    const paid = (leftOut?: Parameters<typeof countedCriteria>[2]) =>
      countedCriteria(questions, { control: 'other-question', controlAt: 'reward' }, leftOut).map(criteria =>
        [0, 1].map(m => cotOf(criteria, m, 0.5)),
      )
    // q: MAX 1, MIN -2, raw 1 and -1; r has none; p: MAX 3, raw 3 and 0.
    expect(paid()).toEqual([
      [1, 1 / 3],
      [0.5, 0.5],
      [1, 0],
    ])
    // What an option leaves out is left out of the question that it belongs to: of q the penalty.
    expect(paid(({ key }) => new Set(key === 'q' ? [1] : []))[0]).toEqual([1, 1])
    const truth = countedCriteria(questions, { control: null, controlAt: 'reward' })
    expect(truth).toEqual(questions.map(({ valid }) => valid))
  })
})
