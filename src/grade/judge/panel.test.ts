import { describe, expect, it } from 'vitest'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { ConfigError } from '../../util/errors.ts'
import type { GradeItem } from '../grader.ts'
import { escalate } from './escalation.ts'
import { panel } from './panel.ts'
import { constantGrader, noisyGrader, type Opinion, scriptedGrader } from './synthetic-graders.ts'

const item: GradeItem = { id: 'i', prompt: [{ role: 'user', content: 'q' }], response: 'r' }
const criteria: Criterion[] = [{ id: 'a', text: 'A', points: 1 }]
const vote = async (opinions: Opinion[], rule: 'majority' | 'mean' | 'unanimous') =>
  (await panel(opinions.map(constantGrader), rule).grade(item, criteria))[0]

describe('panel', () => {
  it.each<[string, Opinion[], boolean | null]>([
    ['two of three', [true, false, true], true],
    ['a tie', [true, false], null],
    ['a null does not vote', [true, null, true], true],
    ['a tie beside a null', [true, null, false], null],
    ['too few votes', [true, null, null], null],
    ['nobody', [null, null], null],
    ['one judge', [false], false],
    ['equal credits', [0.5, 0.5, 1], false],
    ['three different credits', [0, 0.5, 1], null],
  ])('majority: %s', async (_name, opinions, met) => {
    expect((await vote(opinions, 'majority')).met).toBe(met)
  })

  it('mean gives credit: the share of votes that say met', async () => {
    expect(await vote([true, true, false], 'mean')).toMatchObject({ met: true, credit: 2 / 3 })
    expect(await vote([true, null, false, 0.5], 'mean')).toMatchObject({ met: false, credit: 0.5 })
    expect(await vote([true, null, null], 'mean')).toMatchObject({ met: null })
    expect((await vote([true, null, null], 'mean')).credit).toBeUndefined()
  })

  it.each<[string, Opinion[], boolean | null]>([
    ['all', [true, true, true], true],
    ['all but one', [true, false, true], false],
    ['one missing', [true, null, true], null],
    ['one missing, one against', [null, false, true], false],
    ['none', [null, null], null],
  ])('unanimous: %s', async (_name, opinions, met) => {
    expect((await vote(opinions, 'unanimous')).met).toBe(met)
  })

  it('shows the votes, and hands them on for agreement statistics', async () => {
    const seen: (boolean | null)[][] = []
    const members = [true, false, null].map(constantGrader)
    const grader = panel(members, {
      rule: 'majority',
      onVotes: (_item, _criterion, votes) => seen.push(votes.map(({ met }) => met)),
    })
    const [verdict] = await grader.grade(item, criteria)
    expect(verdict.explanation).toContain('true, false, none')
    expect(seen).toEqual([[true, false, null]])
  })

  it('needs members, a quorum that they can reach, and one verdict a criterion in order', async () => {
    expect(() => panel([])).toThrow(ConfigError)
    expect(() => panel([constantGrader(true)], { minVotes: 2 })).toThrow(ConfigError)
    const short = { grade: async () => [] as Verdict[] }
    await expect(panel([short]).grade(item, criteria)).rejects.toThrow('expected a verdict on a')
  })

  it('closes its members', async () => {
    let closed = 0
    const member = { ...constantGrader(true), close: async () => void closed++ }
    await panel([member, member]).close?.()
    expect(closed).toBe(2)
  })
})

describe('escalation', () => {
  const many: Criterion[] = ['sure', 'torn', 'lost', 'close'].map(id => ({ id, text: id, points: 1 }))
  const light = {
    grade: async (_item: GradeItem, asked: readonly Criterion[], options?: { sampleIndex?: number }) =>
      asked.map(({ id }) => ({
        criterionId: id,
        met: id === 'lost' ? null : id === 'torn' ? options?.sampleIndex === 0 : true,
        margin: id === 'close' ? 0.1 : 5,
        source: 'llm' as const,
        attempts: 1,
      })),
  }

  it('asks the strong judge about what the light one is unsure of, and nothing else', async () => {
    const asked: string[] = []
    const strong = scriptedGrader((_item, { id }) => {
      asked.push(id)
      return false
    })
    const grader = escalate({ light, strong, repeats: 2, minMargin: 1 })
    const verdicts = await grader.grade(item, many)
    expect(asked).toEqual(['torn', 'lost', 'close'])
    expect(verdicts.map(({ criterionId, met }) => [criterionId, met])).toEqual([
      ['sure', true],
      ['torn', false],
      ['lost', false],
      ['close', false],
    ])
    expect(grader.stats()).toEqual({
      verdicts: 4,
      escalated: 3,
      reasons: { null: 1, disagreement: 1, margin: 1 },
      confirmed: 0,
      overturned: 2,
      strongNull: 0,
    })
  })

  it('keeps a light verdict where the strong judge fails, unless there was none to keep', async () => {
    const grader = escalate({ light, strong: constantGrader(null), repeats: 2, minMargin: 1 })
    expect((await grader.grade(item, many)).map(({ met }) => met)).toEqual([true, null, null, true])
    expect(grader.stats()).toMatchObject({ escalated: 3, strongNull: 3 })
  })

  it('does not look at margins unless told, and never asks the strong judge in vain', async () => {
    const strong = {
      grade: async () => {
        throw new Error('asked in vain')
      },
    }
    const grader = escalate({ light, strong })
    expect((await grader.grade(item, [many[0], many[3]])).map(({ met }) => met)).toEqual([true, true])
    expect(() => escalate({ light, strong, repeats: 0 })).toThrow(ConfigError)
  })
})

describe('noisy grader', () => {
  const items: GradeItem[] = Array.from({ length: 500 }, (_, i) => ({ ...item, id: `i${i}` }))
  const four: Criterion[] = ['a', 'b', 'c', 'd'].map(id => ({ id, text: id, points: 1 }))
  const grades = async (options: { flipRate?: number; nullRate?: number; seed: number }, order = items) => {
    const grader = noisyGrader(constantGrader(true), options)
    const verdicts: (boolean | null)[] = []
    for (const each of order) verdicts.push(...(await grader.grade(each, four)).map(({ met }) => met))
    return verdicts
  }

  it('flips at its rate: 2,000 verdicts within four standard errors of the binomial', async () => {
    for (const flipRate of [0.1, 0.3]) {
      const wrong = (await grades({ flipRate, seed: 1 })).filter(met => met === false).length
      expect(Math.abs(wrong - 2000 * flipRate)).toBeLessThan(4 * Math.sqrt(2000 * flipRate * (1 - flipRate)))
    }
    expect((await grades({ flipRate: 1, seed: 1 })).every(met => met === false)).toBe(true)
    expect((await grades({ seed: 1 })).every(met => met === true)).toBe(true)
  })

  it('errs on the same verdicts whatever the order, with another seed on others', async () => {
    const options = { flipRate: 0.3, nullRate: 0.1, seed: 1 }
    const forward = await grades(options)
    const backward = await grades(options, [...items].reverse())
    expect(backward.slice(-4)).toEqual(forward.slice(0, 4))
    expect(await grades({ ...options, seed: 2 })).not.toEqual(forward)
    const flipsOnly = await grades({ flipRate: 0.3, seed: 1 })
    expect(flipsOnly.filter((met, i) => forward[i] !== null && met !== forward[i])).toEqual([])
  })

  it('turns graded verdicts round and leaves nulls alone', async () => {
    const noisy = (opinion: Opinion) => noisyGrader(constantGrader(opinion), { flipRate: 1, seed: 0 })
    expect((await noisy(0.25).grade(item, criteria))[0]).toMatchObject({ met: true, credit: 0.75 })
    expect((await noisy(null).grade(item, criteria))[0].met).toBeNull()
    expect(() => noisyGrader(constantGrader(true), { flipRate: 2, seed: 0 })).toThrow(ConfigError)
  })
})
