import { describe, expect, it } from 'vitest'
import { fakeContent, fakeRegistration } from '../fake-paper.fixture.ts'
import { reachWarnings } from './reach.ts'

describe('what a registration can show', () => {
  const warnings = (changes: object) => reachWarnings(fakeRegistration(changes))

  it('is told beforehand where its pairs are too few', () => {
    // Ten pairs: 2/1024 times four tested claims is well below .05.
    expect(warnings({})).toEqual([])
    expect(warnings({ seeds: [1, 2] })).toEqual([
      'FAKE-1, FAKE-2, FAKE-3, FAKE-4, FAKE-5: fewer than 6 pairs, so inconclusive whatever comes out',
    ])
    // Six pairs: 2/64 is .031, times three .094; the margin of FAKE-4 has 1/64, which is .063 times four.
    expect(warnings({ seeds: [1, 2, 3] })).toEqual([
      "FAKE-1, FAKE-2, FAKE-4, FAKE-5: so few pairs that they cannot reach p < 0.05 after Holm's correction over 4 claims; register more seeds, or fewer claims",
    ])
  })

  it('counts the seeds that an arm has', () => {
    const { arms } = fakeContent() as { arms: Record<string, object> }
    const of = (seeds: number) => warnings({ arms: { ...arms, worse: { ...arms.worse, seeds } } })
    // FAKE-1 and FAKE-5 have six pairs: .031 twice is too much even behind the other two.
    expect(of(3)).toEqual([expect.stringMatching(/^FAKE-1, FAKE-5: so few pairs that they cannot/)])
    // Eight pairs: 2/256 is .008, twice .016, four times .031.
    expect(of(4)).toEqual([])
    expect(of(2)).toEqual([expect.stringMatching(/^FAKE-1, FAKE-5: fewer than 6 pairs/)])
  })

  it('says where a claim depends on the others', () => {
    const { arms, claims } = fakeContent() as { arms: Record<string, object>; claims: object[] }
    const own = { arms: { ...arms, random: { ...arms.random, seeds: 3 } } }
    const same = {
      ...(claims[3] as object),
      id: 'FAKE-6',
      arms: { a: 'random', b: 'plain' },
      direction: 'equal',
    }
    // Six pairs and a margin: 1/64 is .016 behind the four others, and .078 before them.
    expect(warnings({ ...own, claims: [...claims, same] })).toEqual([
      expect.stringMatching(/^FAKE-6: so few pairs that only smaller p of other claims let them reach/),
    ])
  })
})
