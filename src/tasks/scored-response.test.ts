import { describe, expect, it } from 'vitest'
import type { Criterion, Rubric, Verdict } from '../rubric/criterion.ts'
import { signedScore } from '../rubric/linear.ts'
import { Rng } from '../util/rng.ts'
import { type Noise, rewardOf, scoreByRubric } from './scored-response.ts'

const RUBRIC: Rubric = {
  criteria: [
    { id: 'a', text: 'a', points: 6 },
    { id: 'b', text: 'b', points: 3 },
    { id: 'c', text: 'c', points: 1 },
    { id: 'flaw', text: 'flaw', points: -5 },
  ],
}
const MET: Record<string, boolean | null> = { a: true, b: true, c: false, flaw: true }
const score = (rubric: Rubric, verdicts: readonly Verdict[]) => signedScore(rubric, verdicts).score

const scored = async (
  left: string[] | null,
  asked: boolean,
  { met = MET, noise }: { met?: typeof MET; noise?: Noise } = {},
) => {
  const questions: string[] = []
  const grade = async (criteria: readonly Criterion[]): Promise<Verdict[]> => {
    questions.push(...criteria.map(({ id }) => id))
    return criteria.map(({ id }) => ({ criterionId: id, met: met[id], source: 'rule' }))
  }
  const leftOut = left === null ? undefined : { ids: new Set(left), asked }
  return { ...(await scoreByRubric({ rubric: RUBRIC, score, noise, key: 'k', leftOut, grade })), questions }
}

describe('a score by a part of the rubric', () => {
  it('is that of the whole where nothing is left out, and says nothing besides', async () => {
    const whole = await scored(null, true)
    expect(whole.score).toBeCloseTo(0.4, 12)
    expect(whole).not.toHaveProperty('whole')
    expect(await scored([], true)).toEqual(whole)
    expect(await scored([], false)).toEqual(whole)
  })

  it('counts what is left, keeps every verdict, and says what the whole would be worth', async () => {
    const part = await scored(['a'], true)
    expect(part.score).toBeCloseTo(-0.5, 12)
    expect(part.whole).toBeCloseTo(0.4, 12)
    expect(part.verdicts.map(({ criterionId }) => criterionId)).toEqual(['a', 'b', 'c', 'flaw'])
  })

  it('asks about what is left alone where it is told to: other verdicts are absent, not false', async () => {
    const part = await scored(['a'], false)
    expect(part.questions).toEqual(['b', 'c', 'flaw'])
    expect(part.verdicts.map(({ criterionId }) => criterionId)).toEqual(['b', 'c', 'flaw'])
    expect(part.score).toBeCloseTo(-0.5, 12)
    expect(part).not.toHaveProperty('whole')
  })

  it('is not known where verdicts on what is left are missing, whatever was said of the rest', async () => {
    const met = { a: true, b: null, c: null, flaw: null }
    const part = await scored(['a'], true, { met })
    expect(part).toMatchObject({ score: null, unjudged: true, whole: 1 })
    expect(rewardOf({ ...part, wellFormed: true })).toBeNull()
    // A verdict that is missing on what does not count takes nothing away.
    const known = await scored(['a'], true, { met: { ...MET, a: null } })
    expect(known.score).toBeCloseTo(-0.5, 12)
    expect(known.unjudged).toBeUndefined()
  })

  it('is the same under noise whoever was asked about', async () => {
    const noise: Noise = {
      verdicts: (verdicts, key) => {
        const rng = new Rng(key)
        return verdicts.map(own => {
          const flips = rng.next() < 0.5
          return own.met === null ? own : { ...own, met: own.met !== flips }
        })
      },
      score: value => value,
    }
    for (const left of [['a'], ['b'], ['a', 'c']]) {
      const [all, kept] = [await scored(left, true, { noise }), await scored(left, false, { noise })]
      expect(kept.score).toBe(all.score)
      expect(kept.verdicts).toEqual(all.verdicts.filter(({ criterionId }) => !left.includes(criterionId)))
    }
  })
})
