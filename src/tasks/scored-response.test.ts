import { describe, expect, it } from 'vitest'
import type { Rubric, Verdict } from '../rubric/criterion.ts'
import { Rng } from '../util/rng.ts'
import { type Noise, rewardOf, scored, scoredReward } from './scored-response.ts'
import type { Task } from './task.ts'

const RUBRIC: Rubric = {
  criteria: [
    { id: 'a', text: 'a', points: 6 },
    { id: 'b', text: 'b', points: 3 },
    { id: 'c', text: 'c', points: 1 },
    { id: 'flaw', text: 'flaw', points: -5 },
  ],
}
const MET: Record<string, boolean | null> = { a: true, b: true, c: false, flaw: true }

const scoredWithout = async (
  left: string[] | null,
  asked: boolean,
  { met = MET, noise }: { met?: typeof MET; noise?: Noise } = {},
) => {
  const questions: string[] = []
  const task = {
    rubric: () => RUBRIC,
    grade: async ([{ criteria }]) => {
      questions.push(...criteria.map(({ id }) => id))
      const verdicts = criteria.map(({ id }): Verdict => ({ criterionId: id, met: met[id], source: 'rule' }))
      return [{ verdicts, wellFormed: true }]
    },
  } as Pick<Task<null>, 'rubric' | 'grade'> as Task<null>
  const leftOut = left === null ? undefined : { ids: new Set(left), asked }
  const item = { problem: null, tokens: new Int32Array(), key: 'k', leftOut }
  return { ...(await scored(task, { noise }).grade([item]))[0], questions }
}

it('is by the rubric alone where graders say more', async () => {
  const verdicts = ['a', 'other'].map((criterionId): Verdict => ({ criterionId, met: true, source: 'rule' }))
  const task = {
    rubric: () => RUBRIC,
    grade: async () => [{ verdicts, wellFormed: true }],
  } as object as Task<null>
  const saidBy = async (only: boolean) =>
    (await scored(task, { only }).grade([{ problem: null, tokens: new Int32Array() }]))[0]
  expect((await saidBy(false)).verdicts.map(({ criterionId }) => criterionId)).toEqual(['a', 'other'])
  expect((await saidBy(true)).verdicts.map(({ criterionId }) => criterionId)).toEqual(['a'])
  for (const only of [true, false]) expect((await saidBy(only)).score).toBe(1)
})

describe('a score by a part of the rubric', () => {
  it('is that of the whole where nothing is left out, and says nothing besides', async () => {
    const whole = await scoredWithout(null, true)
    expect(whole.score).toBeCloseTo(0.4, 12)
    expect(whole).not.toHaveProperty('whole')
    for (const asked of [true, false])
      expect(await scoredWithout([], asked)).toEqual({ ...whole, leftOut: { ids: new Set(), asked } })
  })

  it('counts what is left, keeps every verdict, and says what the whole would be worth', async () => {
    const part = await scoredWithout(['a'], true)
    expect(part.score).toBeCloseTo(-0.5, 12)
    expect(part.whole).toBeCloseTo(0.4, 12)
    expect(part.verdicts.map(({ criterionId }) => criterionId)).toEqual(['a', 'b', 'c', 'flaw'])
  })

  it('asks about what is left alone where it is told to: other verdicts are absent, not false', async () => {
    const part = await scoredWithout(['a'], false)
    expect(part.questions).toEqual(['b', 'c', 'flaw'])
    expect(part.verdicts.map(({ criterionId }) => criterionId)).toEqual(['b', 'c', 'flaw'])
    expect(part.score).toBeCloseTo(-0.5, 12)
    expect(part).not.toHaveProperty('whole')
  })

  it('is not known where verdicts on what is left are missing, whatever was said of the rest', async () => {
    const met = { a: true, b: null, c: null, flaw: null }
    const part = await scoredWithout(['a'], true, { met })
    expect(part).toMatchObject({ score: null, unjudged: true, whole: 1 })
    expect(rewardOf({ ...part, wellFormed: true })).toBeNull()
    // A verdict that is missing on what does not count takes nothing away.
    const known = await scoredWithout(['a'], true, { met: { ...MET, a: null } })
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
      const [all, kept] = [
        await scoredWithout(left, true, { noise }),
        await scoredWithout(left, false, { noise }),
      ]
      expect(kept.score).toBe(all.score)
      expect(kept.verdicts).toEqual(all.verdicts.filter(({ criterionId }) => !left.includes(criterionId)))
    }
  })
})

describe('a reward with charges', () => {
  const charged = { verdicts: [], wellFormed: true, score: 0.5, charges: { length: -0.25, tone: -0.125 } }

  it('is the score, or what a judge of the group says, less what is charged, each told by name', () => {
    expect(scoredReward(charged)).toEqual({ reward: 0.125, parts: { length: -0.25, tone: -0.125 } })
    const relative = { score: 1, explanation: null }
    expect(scoredReward({ ...charged, relative })).toEqual({
      reward: 0.625,
      parts: { relative: 1, length: -0.25, tone: -0.125 },
    })
  })

  it('is not known where nothing is known of the response', () => {
    expect(scoredReward({ ...charged, score: null, unjudged: true }).reward).toBeNull()
  })
})
