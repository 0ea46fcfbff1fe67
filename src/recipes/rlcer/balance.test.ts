import { describe, expect, it } from 'vitest'
import { plainStatement } from '../../grade/proposal/distinct.ts'
import type { Credited } from '../../rl/rollout.ts'
import { rlcerSchema } from './config.ts'
import { balanceRoles, creditStep, roleAdvantages } from './credit.ts'

const item = (role: string, advantages: number[], mask = advantages.map(() => 1)) =>
  ({
    rollout: { role, mask: Uint8Array.from(mask), tokens: new Int32Array(mask.length) },
    advantages: Float32Array.from(advantages),
  }) as unknown as Credited<unknown, unknown>

/** What a mean over all tokens makes of advantages whose ratios are 1. */
const pooledMean = (items: readonly Credited<unknown, unknown>[]) => {
  const tokens = items.flatMap(({ rollout, advantages }) =>
    [...advantages].filter((_, t) => rollout.mask[t] === 1),
  )
  return tokens.reduce((sum, a) => sum + a, 0) / tokens.length
}

describe('both roles in one update', () => {
  it('weigh as the sum of two means, whoever writes more', () => {
    const reasoners = [item('reasoner', [1, 1, 1]), item('reasoner', [-0.5, 2, 0], [1, 1, 0])]
    const rubricators = [item('rubricator', [3, 3, 3, 3, 3, 3, 3])]
    const both = [...reasoners, ...rubricators]
    expect(pooledMean(balanceRoles(both))).toBeCloseTo(pooledMean(reasoners) + pooledMean(rubricators), 5)
    expect(pooledMean(both)).not.toBeCloseTo(pooledMean(reasoners) + pooledMean(rubricators), 1)
    // Those that went in are left as they were.
    expect([...reasoners[0].advantages]).toEqual([1, 1, 1])
  })

  it('one role alone is left alone', () => {
    const reasoners = [item('reasoner', [1, -2])]
    expect(balanceRoles(reasoners)).toEqual(reasoners)
    expect(balanceRoles([])).toEqual([])
  })
})

describe('leaving one out', () => {
  it('keeps groups with nothing to compare at exactly 0, so that they can leave the update', () => {
    const graded = (rewards: number[]) => rewards.map(reward => ({ reward, parts: {} })) as never
    const groups = [graded([0.1, 0.7, 0.3]), graded([0.3, 0.3, 0.3]), graded([1.1, 1.2, 0.7])]
    const settings = { scale: 'batch', ddof: 0, epsilon: 1e-6, perPart: false } as const
    for (const baseline of ['mean', 'leave-one-out'] as const) {
      const { advantages_P_G } = roleAdvantages(groups, baseline, [], settings)
      expect(advantages_P_G[1].every(a => a === 0)).toBe(true)
      expect(advantages_P_G[0].every(a => a !== 0)).toBe(true)
    }
  })
})

it('part by part, rubricators are paid for the format alone where evolving is not paid', async () => {
  const signsOf = async (evolving: boolean) => {
    const settings = { critic: null, advantage: { perPart: true }, rubricator: { evolving } }
    const rubricators = [
      { ...item('rubricator', [0]), reward: 1, parts: { evolving: 1, format: 0 } },
      { ...item('rubricator', [0]), reward: 1, parts: { evolving: 1, format: 0 } },
      { ...item('rubricator', [0]), reward: 1, parts: { evolving: 0, format: 1 } },
    ]
    const questions = [{ reasoners: [], rubricators }] as never
    const { credited } = await creditStep(null as never, questions, rlcerSchema.parse(settings))
    return credited.map(({ advantages }) => Math.sign(Number(advantages[0].toFixed(4))) + 0)
  }
  expect(await signsOf(true)).toEqual([0, 0, 0])
  expect(await signsOf(false)).toEqual([-1, -1, 1])
})

describe('duplicates', () => {
  it('are told by words, and by signs of arithmetic', () => {
    expect(plainStatement('  Checks a step. ')).toBe(plainStatement('checks a STEP'))
    expect(plainStatement('self-checks')).toBe(plainStatement('self checks'))
    expect(plainStatement('shows * 3')).not.toBe(plainStatement('shows + 3'))
    expect(plainStatement('x < 2')).not.toBe(plainStatement('x > 2'))
    expect(plainStatement('adds -3')).not.toBe(plainStatement('adds 3'))
  })
})
