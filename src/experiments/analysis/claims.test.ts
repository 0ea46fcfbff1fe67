import { describe, expect, it } from 'vitest'
import { fakeContent, fakeRegistration, fakeRuns } from '../fake-paper.fixture.ts'
import { analyseClaims } from './claims.ts'
import { DECISION_RULES } from './rules.ts'

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

  it('compare at equal tokens and in equal time, each of which has to hold', () => {
    const both = fakeRegistration({
      claims: [
        {
          id: 'FAKE-2',
          statement: 'Neither more tokens nor more time.',
          arms: { a: 'better', b: 'plain' },
          metric: { name: 'score', set: 'unseen' },
          smallestEffect: 0.01,
          equal: ['tokens', 'minutes'],
        },
      ],
    })
    // A step of `plain` takes twice as long as one of `better`: it is read at half of its own steps.
    const slow = runs.map(run => ({
      ...run,
      metrics: run.metrics.map(row => ({ ...row, time: { total: run.arm === 'plain' ? 0.8 : 0.4 } })),
    }))
    const [{ comparisons }] = analyseClaims(both, slow)
    expect(comparisons.map(({ equal }) => equal)).toEqual(['tokens', 'minutes'])
    const at = (start: string, seed: string) =>
      comparisons[1].pairs.find(pair => pair.start === start && pair.seed === seed)!
    const plain = runs.find(run => run.arm === 'plain' && run.start === 'a' && run.seed === '1')!
    const scoreAt = (step: number) => plain.evals.find(row => row.step === step)!.scores.accuracy.value!
    // Thirty steps lie half way between the evaluations after 20 and 40.
    expect(at('a', '1').b).toBeCloseTo((scoreAt(20) + scoreAt(40)) / 2, 12)
    const better = runs.find(run => run.arm === 'better' && run.start === 'a' && run.seed === '1')!
    expect(at('a', '1').a).toBe(better.evals.at(-1)!.scores.accuracy.value)
  })

  it('count earlier looks of a claim, and of that claim alone', () => {
    const earlier = [{ results: 'before', claim: 'OLD-1' }]
    const content = fakeContent().claims as { id: string }[]
    const again = fakeRegistration({
      claims: content.map(claim => (claim.id === 'FAKE-1' ? { ...claim, earlier } : claim)),
    })
    const adjusted = Object.fromEntries(
      analyseClaims(again, runs).map(({ claim, adjustedP }) => [claim.id, adjustedP]),
    )
    expect(adjusted).toMatchObject({ 'FAKE-1': 12 / 1024, 'FAKE-4': 4 / 1024 })
    const [twice] = analyseClaims(again, runs)
    expect(twice.comparisons.map(each => each.adjustedP)).toEqual([12 / 1024, 12 / 1024])
  })

  it('are corrected together: the smallest p counts as often as there are tests', () => {
    const [first] = claims
    expect(first.comparisons.map(({ a, b }) => `${a} ${b}`)).toEqual(['better plain', 'plain worse'])
    expect(first.p).toBe(2 / 1024)
    // Four claims have a p. FAKE-4's 1/1024 is the smallest and counts four times; FAKE-1's comes after it.
    const adjusted = Object.fromEntries(claims.map(({ claim, adjustedP }) => [claim.id, adjustedP]))
    expect(adjusted).toMatchObject({ 'FAKE-1': 6 / 1024, 'FAKE-3': null, 'FAKE-4': 4 / 1024 })
  })

  it('tell each comparison by its own p, and name the one that fails', () => {
    // Against worse it is as clear as before; its twin is as good in the mean.
    const weak = fakeRegistration({
      claims: [
        {
          id: 'FAKE-1',
          statement: 'Better than all.',
          arms: { a: 'better', b: ['worse', 'twin'] },
          metric: { name: 'score', set: 'unseen' },
          smallestEffect: 0.001,
        },
      ],
      arms: { ...(fakeContent().arms as object), twin: { settings: { twin: true } } },
    })
    const twins = runs.flatMap(run =>
      run.arm === 'better'
        ? [
            {
              ...run,
              arm: 'twin',
              evals: run.evals.map((row, i) => ({
                ...row,
                scores: {
                  accuracy: {
                    value: row.scores.accuracy.value! + (Number(run.seed) % 2 === 0 ? 0.01 : -0.01) * i,
                  },
                },
              })),
            },
          ]
        : [],
    )
    const [claim] = analyseClaims(weak, [...runs, ...twins])
    const [first, second] = claim.comparisons
    expect(first).toMatchObject({ status: 'reproduced', p: 2 / 1024, adjustedP: 2 / 1024 })
    expect(second.status).toBe('inconclusive')
    expect(claim.p).toBe(second.p)
    expect(claim.status).toBe('inconclusive')
    expect(claim.reason).toBe('better − twin: the interval includes 0')
  })

  it('count pairs of which a run has no value, and say so', () => {
    const holes = runs.map(run => (run.arm === 'plain' && run.seed === '1' ? { ...run, evals: [] } : run))
    const [first] = analyseClaims(registration, holes)
    expect(first.comparisons[0]).toMatchObject({
      withoutValue: [
        { start: 'a', seed: '1' },
        { start: 'b', seed: '1' },
      ],
      reason: expect.stringMatching(/; 2 of 10 pairs have no value and are left out$/),
    })
    const none = analyseClaims(
      registration,
      runs.map(run => (run.arm === 'plain' ? { ...run, evals: [] } : run)),
    )
    expect(none[0].comparisons[0].reason).toBe('none of the 10 finished pairs has a value')
    const short = runs.map(run => ({ ...run, metrics: run.metrics.filter(({ step }) => step < 20) }))
    const shares = analyseClaims(registration, short)[2]
    expect(shares).toMatchObject({
      status: 'inconclusive',
      reason: 'none of the 10 finished runs has a value',
    })
    expect(shares.runs[0].details).toMatchObject({ lastStep: 19 })
  })

  it('take McNemar’s p where it is the test, and its items at equal steps only', () => {
    const [claim] = fakeContent().claims as object[]
    const tested = fakeRegistration({
      claims: [{ ...claim, arms: { a: 'better', b: 'plain' }, test: 'mcnemar' }],
    })
    const withItems = runs.map(run => ({
      ...run,
      evals: run.evals.map(row => ({
        ...row,
        items: Array.from({ length: 20 }, (_, i) => ({
          id: String(i),
          scores: { accuracy: Number(run.arm === 'better' || i < 8) },
        })),
      })),
    }))
    const [first] = analyseClaims(tested, withItems)
    // Twelve items of one arm only: 2 of 2^12.
    expect(first.comparisons[0].p).toBeCloseTo(2 / 4096, 12)
    expect(first.p).toBeCloseTo(2 / 4096, 12)
    expect(first.status).toBe('reproduced')
    const [bare] = analyseClaims(tested, runs)
    expect(bare.comparisons[0]).toMatchObject({
      p: 1,
      status: 'inconclusive',
      reason: 'no items that are right or wrong in both arms',
    })
    const { items } = analyseClaims(registration, withItems)[1].comparisons[0]
    expect(items).toBeNull()
  })

  it('at equal tokens compare at what the thriftier arm generated', () => {
    const { comparisons } = claims[1]
    const { a, b } = comparisons[0].pairs[0]
    const last = (arm: string) => runs.find(run => run.arm === arm && run.start === 'a' && run.seed === '1')!
    expect(a).toBe(last('better').evals.at(-1)!.scores.accuracy.value)
    expect(b).not.toBe(last('plain').evals.at(-1)!.scores.accuracy.value)
  })

  it('at equal tokens leave out pairs of which a run generated none', () => {
    const silent = runs.map(run =>
      run.arm === 'plain' && run.seed === '1'
        ? { ...run, metrics: run.metrics.map(({ tokens: _tokens, ...row }) => row) }
        : run,
    )
    const [, second] = analyseClaims(registration, silent)
    expect(second.comparisons[0].pairs).toHaveLength(8)
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
})

describe('claims under the rule at registration and under the one now', () => {
  const [rule1, rule2] = DECISION_RULES
  /** Far beyond the margin in most runs, and so scattered that the corrected test misses it. */
  const scattered = runs.map(run =>
    run.arm === 'worse'
      ? {
          ...run,
          evals: run.evals.map(row => ({
            ...row,
            scores: { accuracy: { value: 0.45 - 0.07 * Number(run.seed) + (0.01 * row.step) / 60 } },
          })),
        }
      : run,
  )
  const [first, ...rest] = fakeContent().claims as object[]
  const little = { ...first, arms: { a: 'worse', b: 'plain' }, direction: 'equal', smallestEffect: 0.02 }
  // With so many comparisons the contrary is corrected out of reach.
  const more = Array.from({ length: 60 }, (_, i) => ({ ...rest[3], id: `MORE-${i}` }))
  const of = fakeRegistration({ claims: [little, ...rest, ...more] })

  it('have both statuses where the rule changed after registration, and one where it did not', () => {
    const [claim] = analyseClaims(of, scattered, { registeredRule: rule1 })
    expect(claim.status).toBe('inconclusive')
    expect(claim.atRegistration).toEqual({
      rule: 1,
      status: 'not reproduced',
      reason: 'the difference lies beyond the margin',
    })
    expect(analyseClaims(of, scattered)[0].atRegistration).toBeNull()
  })

  it('differ in the statistics that earlier rules did not have', () => {
    const under = (rule: typeof rule1) =>
      analyseClaims(registration, runs, { rule }).map(({ status }) => status)
    expect(under(rule1)).toEqual(under(rule2))
    const [{ comparisons }] = analyseClaims(registration, runs)
    const { interval, pairsAlone } = comparisons[0].statistics!
    // The same resamples, wider for ten pairs.
    expect(interval[0]).toBeLessThan(pairsAlone.interval[0])
    expect(interval[1]).toBeGreaterThan(pairsAlone.interval[1])
  })

  it('are untestable where the scale ends before the effect, under the rule that knows of it', () => {
    const full = runs.map(run => ({
      ...run,
      evals: run.evals.map(row => ({ ...row, scores: { accuracy: { value: 0.995 } } })),
    }))
    const claims = [{ ...first, arms: { a: 'better', b: 'start' } }]
    const [claim] = analyseClaims(fakeRegistration({ claims }), full, { registeredRule: rule2 })
    expect(claim.status).toBe('untestable')
    expect(claim.reason).toMatch(
      /^ceiling: what it is compared with is at 99\.5%, 0\.5% from the highest value/,
    )
    expect(claim.atRegistration!.status).toBe('inconclusive')
  })
})
