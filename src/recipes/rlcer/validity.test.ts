import { describe, expect, it } from 'vitest'
import { plainStatement } from '../../grade/proposal/distinct.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import {
  isConstant,
  type JudgedCriterion,
  judgeCriteria,
  outcomeProxies,
  type ValiditySettings,
  withoutDuplicates,
} from './validity.ts'

const SETTINGS: ValiditySettings = { alpha: 0.2, signAware: true, onNull: 'drop' }

type Met = 0 | 1 | null

/** A rubric of criteria `[points, met by response]`. */
const rubric = (columns: readonly (readonly [number, readonly Met[]])[]) => ({
  ...{ K: columns.length, wellFormed: true },
  criteria: columns.map(([points], k) => ({ id: `c${k + 1}`, text: `criterion ${k + 1}`, points })),
  verdicts_N_K: columns[0][1].map((_, m) =>
    columns.map(([, met], k): Verdict => {
      const own = met[m]
      return { criterionId: `c${k + 1}`, met: own === null ? null : own === 1, source: 'llm' }
    }),
  ),
})

/** The worked example. */
const Z = [1, 1, 1, 0, 0, 0, 1, 0].map(Boolean)
const K1 = [3, [1, 1, 0, 0, 0, 0, 1, 0]] as const
const K2 = [-4, [0, 0, 0, 1, 1, 0, 0, 0]] as const
const K3 = [1, [1, 1, 1, 1, 1, 1, 1, 1]] as const
const K4 = [2, [0, 1, 0, 1, 0, 1, 0, 1]] as const

describe('valid criteria (RLCER Eq. 7)', () => {
  it('are those of the worked example', () => {
    const judged = judgeCriteria(rubric([K1, K2, K3, K4]), Z, SETTINGS)
    expect(judged.map(({ valid }) => valid)).toEqual([true, true, false, false])
    const [k1, k2, k3, k4] = judged.map(({ correlation }) => correlation)
    expect(k1).toBeCloseTo(0.775, 3)
    expect(k2).toBeCloseTo(0.577, 3)
    expect(k3).toBeNull()
    expect(k4).toBeCloseTo(-0.5, 12)
  })

  it('read literally throw a good penalty away', () => {
    const [, k2] = judgeCriteria(rubric([K1, K2]), Z, { ...SETTINGS, signAware: false })
    expect(k2.valid).toBe(false)
    expect(k2.correlation).toBeCloseTo(-0.577, 3)
  })

  it('go strictly beyond alpha', () => {
    const [{ correlation }] = judgeCriteria(rubric([K1]), Z, SETTINGS)
    const validAt = (alpha: number) => judgeCriteria(rubric([K1]), Z, { ...SETTINGS, alpha })[0].valid
    expect([validAt(correlation!), validAt(correlation! - 1e-6)]).toEqual([false, true])
    // phi of exactly .2: n = 10, five right, five satisfied, three both.
    const right = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0].map(Boolean)
    const [at] = judgeCriteria(rubric([[1, [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]]]), right, SETTINGS)
    expect(at.correlation).toBeCloseTo(0.2, 12)
    expect(at.valid).toBe(false)
  })

  it('are none where all are right, or all wrong', () => {
    for (const flag of [true, false]) {
      const judged = judgeCriteria(rubric([K1, K2, K3, K4]), Array(8).fill(flag), SETTINGS)
      expect(judged.map(({ valid, correlation }) => [valid, correlation])).toEqual(
        Array(4).fill([false, null]),
      )
    }
    expect(isConstant(Array(8).fill(true))).toBe(true)
    expect(isConstant([true, null, true])).toBe(true)
    expect(isConstant([true, null, false])).toBe(false)
    expect(isConstant([null, null])).toBe(true)
  })

  it('are judged over the responses with a verdict, or with a missing one as not met', () => {
    const met = [1, 1, null, 0, 0, null, 1, 0] as const
    const [dropped] = judgeCriteria(rubric([[3, met]]), Z, SETTINGS)
    expect(dropped.met).toEqual([true, true, null, false, false, null, true, false])
    expect(dropped.correlation).toBeCloseTo(1, 12)
    const [asFalse] = judgeCriteria(rubric([[3, met]]), Z, { ...SETTINGS, onNull: 'as-false' })
    expect(asFalse.met).toEqual([true, true, false, false, false, false, true, false])
    expect(asFalse.correlation).toBeCloseTo(0.775, 3)
  })

  it('without any verdict are not valid', () => {
    const [none] = judgeCriteria(rubric([[3, Array(8).fill(null)]]), Z, SETTINGS)
    expect([none.valid, none.correlation]).toEqual([false, null])
  })

  it('leave out responses of which nobody knows whether they are right', () => {
    const unknown = Z.map((right, m) => (m === 2 ? null : right))
    const [k1] = judgeCriteria(rubric([K1]), unknown, SETTINGS)
    expect(k1.correlation).toBeCloseTo(1, 12)
  })
})

const criterion = (text: string, points: number, met: readonly (boolean | null)[] = []): JudgedCriterion => ({
  criterion: { id: text, text, points },
  met,
  ...{ correlation: 1, valid: true },
})

describe('duplicates', () => {
  it('are told by their words, and the one with the most points stays', () => {
    const kept = withoutDuplicates([
      criterion('Checks each step.', 2),
      criterion('states the result', 1),
      criterion('checks  EACH step', -4),
      criterion('checks each step!', 3),
    ])
    expect(kept.map(({ criterion: { text, points } }) => [text, points])).toEqual([
      ['checks  EACH step', -4],
      ['states the result', 1],
    ])
  })

  it('with equal points stay the first', () => {
    const [kept] = withoutDuplicates([criterion('a b', 2), criterion('A B', -2)])
    expect(kept.criterion.points).toBe(2)
  })

  it('compare statements without case and punctuation, in any language', () => {
    expect(plainStatement(' Prüft  x² — dann y! ')).toBe(plainStatement('prüft X2, dann Y'))
  })
})

describe('criteria that stand for the outcome', () => {
  const right = Array.from({ length: 8 }, (_, m) => m % 2 === 0)
  const question = (criteria: JudgedCriterion[]) => ({ criteria, correct: right })
  const but = (place: number) => right.map((own, m) => (m === place ? !own : own))

  it('agree with it on 95 of 100 pooled verdicts, the other way round for penalties', () => {
    const proxies = outcomeProxies([
      question([
        criterion('Is right', 2, right),
        criterion(
          'is wrong',
          -1,
          right.map(own => !own),
        ),
      ]),
      question([
        criterion('is right!', 5, right),
        criterion(
          'is wrong',
          -2,
          right.map(own => !own),
        ),
      ]),
      question([
        criterion('adds up', 1, but(0)),
        criterion(
          'is odd',
          1,
          right.map(own => !own),
        ),
      ]),
      question([
        criterion('adds up', 1, right),
        criterion(
          'is odd',
          1,
          right.map(own => !own),
        ),
      ]),
    ])
    // `adds up` agrees on 15 of 16.
    expect([...proxies].sort()).toEqual(['+is right', '-is wrong'])
  })

  it('are not what is met by everybody where nearly everybody is right', () => {
    const nearly = right.map((_, m) => m > 0)
    const question = {
      criteria: [
        criterion(
          'writes',
          1,
          right.map(() => true),
        ),
      ],
      correct: nearly,
    }
    expect(outcomeProxies(Array.from({ length: 8 }, () => question)).size).toBe(0)
    const telling = { criteria: [criterion('is right', 1, nearly)], correct: nearly }
    expect(outcomeProxies(Array.from({ length: 8 }, () => telling)).size).toBe(1)
  })

  it('are not told by a handful of verdicts, nor by missing ones', () => {
    expect(outcomeProxies([question([criterion('is right', 1, right)])]).size).toBe(0)
    const missing = right.map((own, m) => (m < 4 ? null : own))
    const pooled = Array.from({ length: 3 }, () => question([criterion('is right', 1, missing)]))
    expect(outcomeProxies(pooled).size).toBe(0)
    expect(outcomeProxies([...pooled, ...pooled]).size).toBe(1)
  })
})
