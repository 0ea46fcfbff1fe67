import { describe, expect, it } from 'vitest'
import { analyseClaims, analyseControl } from './claims.ts'
import { fakeContent, fakeRegistration, fakeRuns } from './fake-paper.fixture.ts'

const registration = fakeRegistration()
const runs = fakeRuns(registration)

describe('claims on made-up runs', () => {
  const claims = analyseClaims(registration, runs)
  const statusOf = (id: string) => claims.find(({ claim }) => claim.id === id)!.status

  it('come out as the runs were made', () => {
    expect(Object.fromEntries(claims.map(({ claim, status }) => [claim.id, status]))).toEqual({
      'FAKE-1': 'reproduced',
      'FAKE-2': 'reproduced',
      'FAKE-3': 'reproduced',
      'FAKE-4': 'reproduced',
      'FAKE-5': 'not reproduced',
    })
  })

  it('are corrected together: the smallest p counts as often as there are tests', () => {
    const [first] = claims
    expect(first.comparisons.map(({ a, b }) => `${a} ${b}`)).toEqual(['better plain', 'plain worse'])
    expect(first.p).toBe(2 / 1024)
    // Four claims have a p. FAKE-4's 1/1024 is the smallest and counts four times; FAKE-1's comes after it.
    const adjusted = Object.fromEntries(claims.map(({ claim, adjustedP }) => [claim.id, adjustedP]))
    expect(adjusted).toMatchObject({ 'FAKE-1': 6 / 1024, 'FAKE-3': null, 'FAKE-4': 4 / 1024 })
  })

  it('at equal tokens compare at what the thriftier arm generated', () => {
    const { comparisons } = claims[1]
    const { a, b } = comparisons[0].pairs[0]
    const last = (arm: string) => runs.find(run => run.arm === arm && run.start === 'a' && run.seed === '1')!
    expect(a).toBe(last('better').evals.at(-1)!.accuracy)
    expect(b).not.toBe(last('plain').evals.at(-1)!.accuracy)
  })

  it('use only pairs that are whole', () => {
    const fewer = runs.filter(({ arm, seed }) => arm !== 'plain' || Number(seed) < 3)
    const [first] = analyseClaims(registration, fewer)
    expect(first.comparisons.map(({ statistics }) => statistics!.n)).toEqual([4, 4])
    expect(first.status).toBe('inconclusive')
    expect(statusOf('FAKE-1')).toBe('reproduced')
  })

  it('say when they are a look in between, before all registered runs are done', () => {
    const reasons = (of: typeof registration, seeds: number) =>
      Object.fromEntries(
        analyseClaims(
          of,
          runs.filter(({ seed }) => Number(seed) <= seeds),
        ).map(({ claim, reason }) => [claim.id, reason]),
      )
    const partly = reasons(registration, 4)
    expect(partly['FAKE-2']).toMatch(/; so far, with 8 of the 10 that were registered$/)
    expect(partly['FAKE-3']).toMatch(/^8 of 8 runs; so far, with 8 of the 10/)
    expect(Object.values(reasons(registration, 5)).join()).not.toContain('so far')
    const { arms } = fakeContent() as { arms: Record<string, object> }
    const fewer = fakeRegistration({ arms: { ...arms, worse: { ...arms.worse, seeds: 4 } } })
    expect(reasons(fewer, 4)['FAKE-5']).not.toContain('so far')
    expect(reasons(fewer, 4)['FAKE-2']).toContain('so far')
  })

  it('have controls that pass where reward by chance teaches nothing, and fail where it does', () => {
    const { controls } = registration
    expect(analyseControl(runs, controls, 'random-reward', 'random').outcome).toBe('passed')
    expect(analyseControl(runs, { ...controls, of: 'worse' }, 'random-reward', 'better').outcome).toBe(
      'failed',
    )
  })

  it('have controls that say nothing before there are six pairs of them, as claims do', () => {
    const { controls } = registration
    const outcome = (seeds: number, of: string, arm: string) =>
      analyseControl(
        runs.filter(({ seed }) => Number(seed) <= seeds),
        { ...controls, of },
        'random-reward',
        arm,
      ).outcome
    expect([1, 2, 3].map(seeds => outcome(seeds, 'better', 'random'))).toEqual(['open', 'open', 'passed'])
    expect([1, 2, 3].map(seeds => outcome(seeds, 'worse', 'better'))).toEqual(['open', 'open', 'failed'])
  })
})
