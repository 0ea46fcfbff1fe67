import { describe, expect, it } from 'vitest'
import { NumericError, ShapeError } from '../util/errors.ts'
import { criticCredit, type ValuedRollout } from './critic.ts'
import { checkDatum } from './datum.ts'

const plain = { whitening: 'none' } as const
const close = (actual: Float32Array, expected: number[]) => {
  expect(actual).toHaveLength(expected.length)
  expected.forEach((value, t) => {
    expect(actual[t]).toBeCloseTo(value, 6)
  })
}

describe('credit by a critic', () => {
  // The policy writes tokens 0, 3 and 4, a tool the rest. gamma .9, lambda .5, so gamma lambda = .45, by hand:
  // delta_4 = 2 - 1 = 1                     A_4 = 1                        return 1 + 1    = 2
  // delta_3 = .9 * 1 - .2 = .7              A_3 = .7 + .45 * 1 = 1.15      return 1.15 + .2 = 1.35
  // delta_0 = .9 * .2 - .5 = -.32           A_0 = -.32 + .45 * 1.15 = .1975  return .1975 + .5 = .6975
  const rollout: ValuedRollout = {
    role: 'agent',
    mask: [1, 0, 0, 1, 1, 0],
    values: [0.5, Number.NaN, 70, 0.2, 1, -70],
    reward: 2,
  }
  const options = { gamma: 0.9, lambda: 0.5, ...plain }

  it('skips what a tool wrote: the next value is that of the next policy token, discounted once', () => {
    const [{ advantages, returns, oldValues }] = criticCredit([rollout], options)
    close(advantages, [0.1975, 0, 0, 1.15, 1, 0])
    close(returns, [0.6975, 0, 0, 1.35, 2, 0])
    close(oldValues, [0.5, 0, 0, 0.2, 1, 0])
  })

  it('is the same as without these tokens', () => {
    const pick = (values: ArrayLike<number>) => [0, 3, 4].map(t => values[t])
    const bare = { ...rollout, mask: [1, 1, 1], values: pick(rollout.values) }
    const [withTool, without] = criticCredit([rollout, bare], options)
    for (const name of ['advantages', 'returns', 'oldValues'] as const)
      expect(pick(withTool[name])).toEqual([...without[name]])
  })

  it("takes rewards token by token; a tool's token earns for the action before it", () => {
    // As above, and -.2 for the call that token 2 answers: A_0 = .1975 - .2.
    const [{ advantages }] = criticCredit([{ ...rollout, reward: [0, 0, -0.2, 0, 0, 2] }], options)
    close(advantages, [-0.0025, 0, 0, 1.15, 1, 0])
  })

  it('is what is still to come when gamma and lambda are 1, its defaults', () => {
    const [{ advantages, returns }] = criticCredit([rollout], plain)
    close(advantages, [1.5, 0, 0, 1.8, 1, 0])
    close(returns, [2, 0, 0, 2, 2, 0])
  })

  it('is whitened role by role, over policy tokens alone; targets are not', () => {
    const valued = (role: string, mask: number[], reward: number): ValuedRollout => ({
      role,
      mask,
      reward,
      values: mask.map(() => 0),
    })
    const credit = criticCredit([
      valued('reasoner', [1, 1], 1),
      valued('rubricator', [1], 0),
      valued('reasoner', [1, 0, 1], 4),
      valued('rubricator', [1, 0], 200),
      valued('alone', [1], 7),
    ])
    // reasoner: 1, 1, 4, 4 has mean 2.5 and unbiased variance 9/3: +-1.5/sqrt(3). rubricator: 0, 200: +-100/sqrt(20000).
    const [a, b] = [1.5 / Math.sqrt(3), 100 / Math.sqrt(20_000)]
    const expected = [[-a, -a], [-b], [a, 0, a], [b, 0], [0]]
    credit.forEach(({ advantages }, i) => {
      close(advantages, expected[i])
    })
    expect(credit.map(({ returns }) => [...returns])).toEqual([[1, 1], [0], [4, 0, 4], [200, 0], [7]])
  })

  it('spreads into datums that may be trained on; a rollout without a policy token has none', () => {
    const none = { role: 'agent', mask: [0, 0], values: [1, 2], reward: 5 }
    const credit = criticCredit([rollout, none])
    expect(credit[1]).toEqual({
      advantages: new Float32Array(2),
      returns: new Float32Array(2),
      oldValues: new Float32Array(2),
    })
    const tokens = [1, 2, 3, 4, 5, 6]
    const datum = { promptTokens: [1], tokens, mask: [...Array.from(rollout.mask)], oldLogprobs: tokens }
    expect(() => checkDatum({ ...datum, ...credit[0] })).not.toThrow()
  })

  it('refuses what is not finite or does not fit', () => {
    const of = (changes: Partial<ValuedRollout>) => () => criticCredit([rollout, { ...rollout, ...changes }])
    expect(of({ reward: Number.NaN })).toThrow(NumericError)
    expect(of({ reward: Number.NaN })).toThrow(/^rollout 1: expected a finite reward, got NaN/)
    expect(of({ reward: [0, 0, Number.NaN, 0, 0, 0] })).toThrow(/^rollout 1: token 2: .*NaN/)
    expect(of({ values: [0, 0, 0, Number.NaN, 0, 0] })).toThrow(NumericError)
    expect(of({ reward: [1, 2] })).toThrow(ShapeError)
    expect(of({ values: [1, 2] })).toThrow(ShapeError)
    expect(of({ mask: [0, 0, 0, 1, 1, 0], reward: [1, 0, 0, 0, 0, 0] })).toThrow(
      /token 0: expected no reward before the policy's first token, got 1/,
    )
  })
})
