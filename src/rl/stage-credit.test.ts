import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError, DataError, NumericError, ShapeError } from '../util/errors.ts'
import type { Graded, Rollout } from './rollout.ts'
import {
  checkLambda,
  creditStages,
  DEFAULT_LAMBDA,
  type StageRewards,
  stageAdvantages,
  stageReturns,
  stageTokenCredit,
} from './stage-credit.ts'

/** The worked example. */
const R = [
  [1, 0.25, 0.5, 0.5],
  [0, 0.75, 0.5, 0.5],
  [0.5, 0.5, 0, 1],
  [0.5, 0.5, 1, 0],
]
const EXACT = { ddof: 0, epsilon: 0 } as const

const close = (values: readonly (number | null)[], expected: readonly number[], digits = 10) => {
  expect(values).toHaveLength(expected.length)
  for (const [i, value] of values.entries()) expect(value).toBeCloseTo(expected[i], digits)
}

const column = (rows: readonly (readonly number[])[], k: number) => rows.map(row => row[k])

describe('the weights of stages', () => {
  it('have the matrix of the paper', () => {
    expect(DEFAULT_LAMBDA).toEqual([
      [1, 0.4, 0.6, 0.8],
      [0, 1, 0.4, 0.8],
      [0, 0, 1, 0.8],
      [0, 0, 0, 1],
    ])
    expect(checkLambda(DEFAULT_LAMBDA)).toEqual(DEFAULT_LAMBDA)
  })

  it.each<[string, unknown, RegExp]>([
    [
      'a diagonal other than 1',
      [
        [0.9, 0.5],
        [0, 1],
      ],
      /lambda: \[0\]\[0\]: expected 1, got 0\.9/,
    ],
    [
      'a weight below the diagonal',
      [
        [1, 0.5],
        [0.1, 1],
      ],
      /lambda: \[1\]\[0\]: expected 0, got 0\.1/,
    ],
    [
      'a weight above 1',
      [
        [1, 1.2],
        [0, 1],
      ],
      /lambda: \[0\]\[1\]: expected a number of at most 1, got 1\.2/,
    ],
    [
      'a weight below 0',
      [
        [1, -0.1],
        [0, 1],
      ],
      /lambda: \[0\]\[1\]/,
    ],
    ['a row that is too short', [[1], [0, 1]], /lambda: \[0\]: expected 2 weights/],
    ['text', [['1']], /lambda: \[0\]\[0\]/],
    ['NaN', [[Number.NaN]], /lambda: \[0\]\[0\]/],
    ['nothing', [], /lambda: expected at least 1 entry/],
    // Why terminal broadcast is a mode of its own.
    ['terminal broadcast', [0, 1, 2, 3].map(() => [0, 0, 0, 1]), /lambda: \[0\]\[0\]: expected 1/],
  ])('refuse %s', (_, lambda, message) => {
    expect(() => checkLambda(lambda)).toThrow(ConfigError)
    expect(() => checkLambda(lambda)).toThrow(message)
  })
})

describe('returns of stages', () => {
  it('are those of the worked example', () => {
    const G = [
      [1.8, 0.85, 0.9, 0.5],
      [1.0, 1.35, 0.9, 0.5],
      [1.5, 1.3, 0.8, 1],
      [1.3, 0.9, 1, 0],
    ]
    for (const [i, rewards] of R.entries()) close(stageReturns(rewards), G[i])
  })

  it('hear only what comes after', () => {
    const lambda = [
      [1, 0.5, 0.25],
      [0, 1, 0.125],
      [0, 0, 1],
    ]
    expect(stageReturns([8, 16, 32], lambda)).toEqual([24, 20, 32])
  })

  it('are the share of the answer where only that is known, and nothing where it is not', () => {
    expect(stageReturns([null, null, null, 0.5])).toEqual([0.4, 0.4, 0.4, 0.5])
    expect(stageReturns([1, null, 1, 0.5])).toEqual([0.4, 0.4, 0.4, 0.5])
    expect(stageReturns([1, 1, 1, null])).toEqual([null, null, null, null])
    expect(stageReturns([null, null, null, null])).toEqual([null, null, null, null])
  })

  it('are the answer for all in terminal broadcast, whatever is known of the others', () => {
    expect(stageReturns([1, 0, null, 0.5], DEFAULT_LAMBDA, 'terminal')).toEqual([0.5, 0.5, 0.5, 0.5])
    expect(stageReturns([1, 0, 1, null], DEFAULT_LAMBDA, 'terminal')).toEqual([null, null, null, null])
  })

  it('refuse what is no reward', () => {
    expect(() => stageReturns([0, 0, Number.NaN, 1])).toThrow(NumericError)
    expect(() => stageReturns([0, Number.POSITIVE_INFINITY, 0, 1])).toThrow(
      /stage 2: expected a finite number/,
    )
    expect(() => stageReturns([0, 0, 1])).toThrow(ShapeError)
  })
})

describe('advantages of stages', () => {
  it('are those of the worked example', () => {
    const { advantages_P_G_K, zeroVarianceGroups_K, ...counts } = stageAdvantages([R], EXACT)
    const [A] = advantages_P_G_K
    close(column(A, 0), [1.372, -1.372, 0.343, -0.343], 3)
    close(column(A, 1), [-1.1043, 1.1043, 0.8835, -0.8835], 4)
    close(column(A, 2), [0, 0, -Math.SQRT2, Math.SQRT2], 4)
    close(column(A, 3), [0, 0, Math.SQRT2, -Math.SQRT2], 4)
    expect(zeroVarianceGroups_K).toEqual([0, 0, 0, 0])
    expect(counts).toMatchObject({ groups: 1, realBatchRatio: 1, failedRollouts: 0, unknownRollouts: 0 })
  })

  it('follow ddof, epsilon and scale as plain advantages do', () => {
    // Stage 4 returns .5 .5 1 0: mean .5, deviation sqrt(.125) or, with ddof 1, sqrt(.5 / 3).
    const answer = (options: object) => column(stageAdvantages([R], options).advantages_P_G_K[0], 3)
    close(answer({ ddof: 1, epsilon: 0 }), [0, 0, 0.5 / Math.sqrt(0.5 / 3), -0.5 / Math.sqrt(0.5 / 3)])
    close(answer({ epsilon: 0.1 }), [0, 0, 0.5 / (Math.sqrt(0.125) + 0.1), -0.5 / (Math.sqrt(0.125) + 0.1)])
    close(answer({ scale: 'none' }), [0, 0, 0.5, -0.5])
    // With a second group of equal answers .5 the batch's deviation is sqrt(.5 / 8).
    const flat = R.map(rewards => [...rewards.slice(0, 3), 0.5])
    const batch = stageAdvantages([R, flat], { scale: 'batch', epsilon: 0 }).advantages_P_G_K
    close(column(batch[0], 3), [0, 0, 2, -2])
    close(column(batch[1], 3), [0, 0, 0, 0])
  })

  it('are the normalised answer for all stages in terminal broadcast', () => {
    const { advantages_P_G_K } = stageAdvantages([R], { ...EXACT, mode: 'terminal' })
    for (let k = 0; k < 4; k++) close(column(advantages_P_G_K[0], k), [0, 0, Math.SQRT2, -Math.SQRT2])
  })

  it('let a missing stage, which has reward 0, into the means of the others', () => {
    // Only the review differs: 0 where it is missing, 1 elsewhere. Mean 2/3, deviation sqrt(2)/3.
    const rewards = [1, 0, 1].map(review => [0, 0, review, 0])
    const A = stageAdvantages([rewards], EXACT).advantages_P_G_K[0]
    close(column(A, 2), [Math.SQRT1_2, -Math.SQRT2, Math.SQRT1_2])
  })

  it('have none where returns do not differ, and say so by stage', () => {
    const rewards = [
      [1, 0.5, 0.5, 0.5],
      [0, 0.5, 0.5, 0.5],
    ]
    const same = [rewards[0], rewards[0]]
    const found = stageAdvantages([rewards, same], { epsilon: 0 })
    expect(found.advantages_P_G_K[0].map(row => row.slice(1))).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ])
    close(column(found.advantages_P_G_K[0], 0), [1, -1])
    expect(found.advantages_P_G_K[1].flat().every(value => value === 0)).toBe(true)
    expect(found).toMatchObject({
      groups: 2,
      zeroVarianceGroups: 1,
      zeroVarianceGroups_K: [1, 2, 2, 2],
      realBatchRatio: 0.5,
    })
  })

  it('count groups of one and empty ones, and give them nothing', () => {
    const found = stageAdvantages([[R[0]], []])
    expect(found.advantages_P_G_K).toEqual([[[0, 0, 0, 0]], []])
    expect(found).toMatchObject({ groups: 2, singletonGroups: 1, emptyGroups: 1, realBatchRatio: 0 })
    expect(stageAdvantages([]).realBatchRatio).toBe(0)
  })
})

describe('scorings that failed', () => {
  const full: StageRewards[] = [
    [1, 0, 0, 1],
    [0, 0, 0, 0],
  ]

  it('have mean and deviation from the rollouts with full scores, but in the last stage', () => {
    // Full returns of stage 1: 1.8 and 0, so mean .9 and deviation .9; the failed one has .8 * .5 = .4. Answers 1, 0 and .5.
    const found = stageAdvantages([[...full, [null, null, null, 0.5]]], EXACT)
    const [A] = found.advantages_P_G_K
    const answer = 0.5 / Math.sqrt(0.5 / 3)
    close(A[0], [1, 1, 1, answer])
    close(A[1], [-1, -1, -1, -answer])
    close(A[2], [(0.4 - 0.9) / 0.9, 0, 0, 0])
    expect(found).toMatchObject({ failedRollouts: 1, unknownRollouts: 0 })
    close(found.returns_P_G_K[0][2], [0.4, 0.4, 0.4, 0.5])
  })

  it('count as failed when a single stage is not known', () => {
    const A = stageAdvantages([[...full, [1, null, 1, 0.5]]], EXACT).advantages_P_G_K[0]
    close(A[2], [(0.4 - 0.9) / 0.9, 0, 0, 0])
  })

  it('may be left out instead', () => {
    const found = stageAdvantages([[...full, [null, null, null, 0.5]]], { ...EXACT, failed: 'leave-out' })
    expect(found.advantages_P_G_K[0][2]).toEqual([0, 0, 0, 0])
    close(found.advantages_P_G_K[0][0], [1, 1, 1, 1])
    expect(found.failedRollouts).toBe(1)
  })

  it('may have the advantage of their answer in every stage instead', () => {
    const groups = [[...full, [null, null, null, 1] as StageRewards]]
    const [A] = stageAdvantages(groups, { ...EXACT, failed: 'answer' }).advantages_P_G_K
    // Answers 1, 0 and 1: mean 2/3, deviation sqrt(2)/3.
    close(A[2], [Math.SQRT1_2, Math.SQRT1_2, Math.SQRT1_2, Math.SQRT1_2])
    close(A[0], [1, 1, 1, Math.SQRT1_2])
    // By the specification's rule the same answer is held against the stages that were not scored.
    close(stageAdvantages(groups, EXACT).advantages_P_G_K[0][2], [
      (0.8 - 0.9) / 0.9,
      (0.8 - 0.4) / 0.4,
      (0.8 - 0.4) / 0.4,
      Math.SQRT1_2,
    ])
  })

  it('tell answers apart that the full scores alone do not', () => {
    const groups = [[0.5, 0.5, 1].map((answer): StageRewards => [0, 0, answer === 1 ? null : 0, answer])]
    // Mean 2/3, deviation sqrt(2)/6.
    for (const failed of ['terminal', 'answer'] as const) {
      const found = stageAdvantages(groups, { ...EXACT, failed })
      close(column(found.advantages_P_G_K[0], 3), [-Math.SQRT1_2, -Math.SQRT1_2, Math.SQRT2])
      expect(found.advantages_P_G_K[0][2][0]).toBeCloseTo(failed === 'answer' ? Math.SQRT2 : 0, 10)
      expect(found).toMatchObject({ zeroVarianceGroups: 0, zeroVarianceGroups_K: [1, 1, 1, 0] })
    }
    const without = stageAdvantages(groups, { ...EXACT, failed: 'leave-out' })
    expect(without.advantages_P_G_K[0].flat().every(value => value === 0)).toBe(true)
  })

  it('are compared with each other where there is nothing else: all returns are shares of the answer then', () => {
    const failed: StageRewards[] = [1, 0].map(answer => [null, null, null, answer])
    const A = stageAdvantages([failed], EXACT).advantages_P_G_K[0]
    close(A[0], [1, 1, 1, 1])
    close(A[1], [-1, -1, -1, -1])
    expect(stageAdvantages([failed], { failed: 'leave-out' })).toMatchObject({ emptyGroups: 1 })
  })

  it('have nothing but their answers to compare with a single full score, or with equal ones', () => {
    const [A] = stageAdvantages([[full[0], [null, null, null, 0.5]]], EXACT).advantages_P_G_K
    close(A[0], [0, 0, 0, 1])
    close(A[1], [0, 0, 0, -1])
    const [B] = stageAdvantages([[full[0], full[0], [null, null, null, 0]]], EXACT).advantages_P_G_K
    close(B[2], [0, 0, 0, -Math.SQRT2])
  })

  it('leave out what nothing is known of', () => {
    const found = stageAdvantages([[...full, [null, null, null, null]], [[null, 1, 1, null]]], EXACT)
    expect(found.advantages_P_G_K[0][2]).toEqual([0, 0, 0, 0])
    close(found.advantages_P_G_K[0][0], [1, 1, 1, 1])
    expect(found).toMatchObject({ unknownRollouts: 2, emptyGroups: 1, failedRollouts: 0 })
  })
})

it('advantages are finite, centred among the full scores, in the last stage among all, and unchanged by a shift of all rewards', () => {
  const reward = fc.integer({ min: 0, max: 8 }).map(n => n / 8)
  const rewards = fc.tuple(reward, reward, reward, reward)
  const failing = fc.option(reward, { nil: null }).map((answer): StageRewards => [null, null, null, answer])
  fc.assert(
    fc.property(fc.array(rewards, { maxLength: 6 }), fc.array(failing, { maxLength: 3 }), (full, failed) => {
      const { advantages_P_G_K } = stageAdvantages([[...full, ...failed]])
      const [A] = advantages_P_G_K
      if (!A.flat().every(Number.isFinite)) return false
      const shifted = stageAdvantages([[...full.map(row => row.map(r => r + 1))]]).advantages_P_G_K[0]
      const alone = stageAdvantages([full]).advantages_P_G_K[0]
      return [0, 1, 2, 3].every(k => {
        const own = (k === 3 ? A : A.slice(0, full.length)).map(row => row[k])
        const sum = own.reduce((total, value) => total + value, 0)
        return (
          (full.length === 0 || Math.abs(sum) < 1e-9) &&
          shifted.every((row, i) => Math.abs(row[k] - alone[i][k]) < 1e-6)
        )
      })
    }),
  )
})

describe('tokens', () => {
  it('carry the advantage of their stage; those of none and of tools carry nothing', () => {
    const credit = stageTokenCredit([1, 1, 2, 0, 4, 4, 3], [1, 2, 3, 4], [1, 0, 1, 1, 1, 0, 1])
    expect([...credit]).toEqual([1, 0, 2, 0, 4, 0, 3])
  })

  it('of the next stage begin with the advantage of one that is missing', () => {
    const credit = (stages: number[], mask: number[], missing?: 'none') => [
      ...stageTokenCredit(stages, [1, 2, 4, 8], mask, missing),
    ]
    const ones = [1, 1, 1, 1]
    expect(credit([2, 2, 3, 4], ones)).toEqual([3, 2, 4, 8])
    expect(credit([2, 2, 3, 4], ones, 'none')).toEqual([2, 2, 4, 8])
    // Plan, research and review are missing; then the answer, behind which nothing comes.
    expect(credit([4, 4, 4, 4], ones)).toEqual([15, 8, 8, 8])
    expect(credit([1, 2, 2, 2], ones)).toEqual([1, 2, 2, 2])
    // A stage in which only tools wrote is missing, and the next one begins where the policy writes.
    expect(credit([1, 2, 3, 4], [0, 0, 1, 1])).toEqual([0, 0, 7, 8])
    expect(credit([0, 0, 0, 0], ones)).toEqual([0, 0, 0, 0])
  })

  it('make a plan that is left out cost something', () => {
    const rewards = [0, 1, 1, 1].map(plan => [plan, 0.5, 0.5, 0.5])
    const [A] = stageAdvantages([rewards], EXACT).advantages_P_G_K
    close(A[0], [-1.7320508, 0, 0, 0], 6)
    close(A[1], [0.5773503, 0, 0, 0], 6)
    const without = (missing?: 'none') => [...stageTokenCredit([2, 2, 4], A[0], [1, 1, 1], missing)]
    close(without(), [-1.7320508, 0, 0], 6)
    expect(without('none')).toEqual([0, 0, 0])
  })

  it.each([[[5]], [[-1]], [[1.5]], [[Number.NaN]]])('have a stage that there is, not %j', stages => {
    expect(() => stageTokenCredit(stages, [1, 2, 3, 4], [1])).toThrow(DataError)
  })

  it('are as many as their stages, and have finite advantages', () => {
    expect(() => stageTokenCredit([1], [1, 2, 3, 4], [1, 1])).toThrow(ShapeError)
    expect(() => stageTokenCredit([1], [1, Number.NaN, 3, 4], [1])).toThrow(NumericError)
  })

  it('of a rollout are credited by stage, or all by the answer', () => {
    const rollout = { key: 'r', mask: Uint8Array.of(1, 0, 1, 1) } as unknown as Rollout
    const item: Graded<null, null> = { problem: null, rollout, grade: null, reward: 0, parts: {} }
    const stagesOf = () => [1, 0, 4, 0]
    const [[staged]] = creditStages([[item]], [[[1, 2, 3, 4]]], stagesOf)
    expect([...staged.advantages]).toEqual([1, 0, 9, 0])
    const [[former]] = creditStages([[item]], [[[1, 2, 3, 4]]], stagesOf, { missing: 'none' })
    expect([...former.advantages]).toEqual([1, 0, 4, 0])
    const [[terminal]] = creditStages([[item]], [[[1, 2, 3, 4]]], stagesOf, {
      mode: 'terminal',
    })
    expect([...terminal.advantages]).toEqual([4, 0, 4, 4])
  })
})
