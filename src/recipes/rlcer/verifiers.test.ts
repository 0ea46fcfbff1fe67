import { describe, expect, it } from 'vitest'
import { thought } from './letters.fixture.ts'
import { noisyVerifier } from './verifiers.ts'

describe('a noisy verifier', () => {
  const items = Array.from({ length: 400 }, (_, i) => ({
    ...{ problem: 'p', response: thought('a'), key: `1/1/rubricator/${i}/0|0` },
    rubric: { criteria: [{ id: 'c1', text: 'has a', points: 1 }] },
  }))
  const exact = {
    verify: async (own: readonly unknown[]) =>
      own.map((_, i) => [{ criterionId: 'c1', met: i === 0 ? null : true, source: 'rule' as const }]),
  }

  it('turns verdicts round at its rate, the same ones for the same rollouts whatever is beside them', async () => {
    const verdicts = (await noisyVerifier(exact, 0.2).verify(items)).flat().map(({ met }) => met)
    expect(verdicts[0]).toBeNull()
    const flipped = verdicts.filter(met => met === false).length
    expect(flipped).toBeGreaterThan(50)
    expect(flipped).toBeLessThan(115)
    const some = (await noisyVerifier(exact, 0.2).verify(items.slice(100, 200))).flat().map(({ met }) => met)
    expect(some.slice(1)).toEqual(verdicts.slice(101, 200))
  })
})
