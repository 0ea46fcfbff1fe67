import { describe, expect, it } from 'vitest'
import type { ThinkingVerifier } from '../../tasks/thinking.ts'
import { lettersTask, thought } from './letters.fixture.ts'
import { noisyVerifier, openRubricVerifier } from './verifiers.ts'

describe('a lenient verifier', () => {
  const lenientVerifier = async (exact: ThinkingVerifier<string>, rates: { share: number; rate: number }) => {
    const task = { ...lettersTask, thinking: { ...lettersTask.thinking, exact } }
    return (await openRubricVerifier({ verifier: { kind: 'lenient', ...rates } }, task)).verifier
  }

  /** Nothing is earned: merits are not met, flaws are there. */
  const strict = {
    verify: async (own: readonly { rubric: { criteria: readonly { id: string; points: number }[] } }[]) =>
      own.map(({ rubric: { criteria } }) =>
        criteria.map(({ id, points }) => ({ criterionId: id, met: points < 0, source: 'rule' as const })),
      ),
  }
  const criteria = Array.from({ length: 200 }, (_, k) => ({
    id: `c${k}`,
    text: `has ${k}`,
    points: k % 2 ? 1 : -1,
  }))
  const items = Array.from({ length: 50 }, (_, i) => ({
    ...{ problem: 'p', response: thought(`a${i}`), key: `${i}`, rubric: { criteria } },
  }))

  it('gives what is not earned on its share of the criteria, as often as it says, whatever else is asked', async () => {
    const lenient = await lenientVerifier(strict, { share: 0.5, rate: 0.9 })
    const verdicts = await lenient.verify(items)
    const given = criteria.map(
      ({ points }, k) => verdicts.filter(own => own[k].met === points > 0).length / items.length,
    )
    const easy = given.filter(rate => rate > 0)
    expect(easy.length).toBeGreaterThan(75)
    expect(easy.length).toBeLessThan(125)
    expect(Math.min(...easy)).toBeGreaterThan(0.7)
    // The same criterion and response again, under another key, beside nothing else.
    const k = given.findIndex(rate => rate > 0)
    const alone = await lenient.verify([{ ...items[7], key: 'x', rubric: { criteria: [criteria[k]] } }])
    expect(alone[0][0].met).toBe(verdicts[7][k].met)
  })

  it('takes nothing away that is earned', async () => {
    const earned = {
      verify: async () => [
        criteria.map(({ id, points }) => ({ criterionId: id, met: points > 0, source: 'rule' as const })),
      ],
    }
    const [verdicts] = await (await lenientVerifier(earned, { share: 1, rate: 1 })).verify([items[0]])
    expect(verdicts.every(({ met }, k) => met === criteria[k].points > 0)).toBe(true)
  })
})

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
