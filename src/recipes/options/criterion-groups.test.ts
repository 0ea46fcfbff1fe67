import { describe, expect, it } from 'vitest'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { criterionGroups } from './criterion-groups.ts'
import { scoringOf } from './options.ts'

const points = { dose: 4, warning: 4, polite: 2, wrong: -6 }
const RUBRIC: Rubric = {
  criteria: Object.entries(points).map(([id, worth]) => ({ id, text: id, points: worth })),
}
type Met = Partial<Record<keyof typeof points, boolean | null | number>>
const verdicts = (met: Met): Verdict[] =>
  RUBRIC.criteria.map(({ id }) => {
    const said = met[id as keyof Met] ?? false
    return typeof said === 'number'
      ? { criterionId: id, met: null, credit: said, source: 'llm' }
      : { criterionId: id, met: met[id as keyof Met] === null ? null : said, source: 'llm' }
  })
const scoreOf = (met: Met, groups?: unknown, nulls: 'as-false' | 'drop' = 'as-false') =>
  scoringOf({ criterionGroups: groups === undefined ? undefined : parsed(groups) }, nulls)(
    RUBRIC,
    verdicts(met),
  )

const parsed = (groups: unknown) => criterionGroups.shape.criterionGroups.parse(groups)!
const assertGroups = (groups: ReturnType<typeof parsed>, rubrics: Rubric[]) =>
  criterionGroups.refuse!({ criterionGroups: groups }, { rubrics })

describe('criteria that count only together', () => {
  const together = [{ criteria: ['dose', 'warning'] }]
  const voidable = [{ criteria: ['dose', 'warning'], voidedBy: ['wrong'] }]

  it('bring all of their points, or none', () => {
    expect(scoreOf({ dose: true, polite: true })).toBeCloseTo(0.6, 12)
    expect(scoreOf({ dose: true, polite: true }, together)).toBeCloseTo(0.2, 12)
    expect(scoreOf({ dose: true, warning: true, polite: true }, together)).toBe(1)
    expect(scoreOf({ dose: true, warning: 0.5, polite: true }, together)).toBeCloseTo(0.8, 12)
    expect(scoreOf({ dose: true, warning: 0.4, polite: true }, together)).toBeCloseTo(0.2, 12)
  })

  it('bring none where a clause voids them, whose own points stay what they are', () => {
    const all = { dose: true, warning: true, polite: true }
    expect(scoreOf(all, voidable)).toBe(1)
    expect(scoreOf({ ...all, wrong: true }, together)).toBeCloseTo(0.4, 12)
    expect(scoreOf({ ...all, wrong: true }, voidable)).toBeCloseTo(-0.4, 12)
    expect(scoreOf(all, [{ criteria: ['dose'], voidedBy: ['polite'] }])).toBe(1)
    expect(scoreOf({ dose: true }, [{ criteria: ['dose'], voidedBy: ['polite'] }])).toBe(0)
  })

  it('are unknown while a verdict is missing that could decide, and unmet where another has decided', () => {
    expect(scoreOf({ dose: true, warning: null, polite: true }, together, 'drop')).toBe(1)
    expect(scoreOf({ dose: true, warning: null, polite: true }, together)).toBeCloseTo(0.2, 12)
    expect(scoreOf({ dose: false, warning: null }, together, 'drop')).toBe(0)
  })

  it('stay unmet by one group where nobody knows of another, in either order', () => {
    const groups = [{ criteria: ['dose', 'polite'] }, { criteria: ['dose', 'warning'] }]
    const met = { dose: true, polite: false, warning: null }
    expect(scoreOf(met, groups, 'drop')).toBe(0)
    expect(scoreOf(met, groups.toReversed(), 'drop')).toBe(0)
  })

  it('leave a veto to what graders said: taking points away is no failure', () => {
    const scoreBy = (name: string, met: Met) =>
      scoringOf({ criterionGroups: parsed(together), scoringRule: { name, critical: ['dose'] } }, 'as-false')(
        RUBRIC,
        verdicts(met),
      )
    for (const name of ['veto(signed)', 'veto(bounded)', 'saturation(veto(bounded))']) {
      const [held, failed] = [true, false].map(dose => scoreBy(name, { dose, polite: true }))
      expect(held, name).toBeGreaterThan(0)
      expect(failed, name).toBe(0)
    }
    expect(scoreBy('veto(signed)', { dose: true, polite: true })).toBeCloseTo(0.2, 12)
    expect(scoreBy('veto(signed)', { dose: true, warning: null, polite: true })).toBeCloseTo(0.2, 12)
  })

  it('are refused of penalties alone, which bring no points', () => {
    const flaws = parsed([{ criteria: ['wrong'] }])
    expect(() => assertGroups(flaws, [RUBRIC])).toThrow(
      'criterionGroups[0].criteria: expected a criterion with points above 0',
    )
  })

  it('of ids that a rubric lacks count those that it has; ids that no rubric has are refused', () => {
    expect(scoreOf({ dose: true }, [{ criteria: ['dose', 'elsewhere'] }])).toBeCloseTo(0.4, 12)
    const groups = (ids: object) => parsed([ids])
    expect(() => assertGroups(groups({ criteria: ['dose'], voidedBy: ['wrong'] }), [RUBRIC])).not.toThrow()
    expect(() => assertGroups(groups({ criteria: ['dosis'] }), [RUBRIC])).toThrow(
      'criterionGroups[0].criteria: expected ids of criteria of the rubrics, got "dosis"',
    )
    expect(() => assertGroups(groups({ criteria: ['dose'], voidedBy: ['wrongly'] }), [RUBRIC])).toThrow(
      'voidedBy',
    )
    expect(() => groups({ criteria: [] })).toThrow()
  })
})
