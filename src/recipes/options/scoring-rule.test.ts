import { describe, expect, it } from 'vitest'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import type { Task } from '../../tasks/task.ts'
import { asTrained, checkOptions } from './options.ts'
import { scoringRule } from './scoring-rule.ts'

const points = { dose: 4, warning: 4, polite: 2, wrong: -6 }
const RUBRIC: Rubric = {
  criteria: Object.entries(points).map(([id, worth]) => ({ id, text: id, points: worth })),
}
type Rule = { name: string; critical?: string[] }
const parsed = (rule: Rule) => scoringRule.shape.scoringRule.parse(rule)
const scoreOf = (met: Partial<Record<keyof typeof points, boolean | null>>, rule?: Rule) => {
  const verdicts = Object.keys(points).map((id): Verdict => {
    const said = met[id as keyof typeof points]
    return { criterionId: id, met: said === undefined ? false : said, source: 'llm' }
  })
  return scoringRule.score!({ scoringRule: rule && parsed(rule) }, () => 99, 'as-false')(RUBRIC, verdicts)
}
const refused =
  (rule: Rule, rubrics = [RUBRIC]) =>
  () =>
    scoringRule.refuse!({ scoringRule: parsed(rule) }, { rubrics })

describe('the rule that makes a reward of verdicts', () => {
  it('is the one given, and without one what training has anyway', () => {
    expect(scoreOf({ dose: true })).toBe(99)
    expect(scoreOf({ dose: true, wrong: true }, { name: 'signed' })).toBeCloseTo(-0.2, 12)
    expect(scoreOf({ dose: true, wrong: true }, { name: 'bounded' })).toBeCloseTo(4 / 16, 12)
  })

  it('vetoes by the criteria that are named, which the rubric does not mark', () => {
    const fine = { dose: true, warning: true, polite: true }
    expect(scoreOf(fine, { name: 'veto(bounded)', critical: ['wrong'] })).toBe(1)
    expect(scoreOf({ ...fine, wrong: true }, { name: 'veto(bounded)', critical: ['wrong'] })).toBe(0)
    expect(scoreOf({ ...fine, wrong: true }, { name: 'bounded' })).toBeCloseTo(10 / 16, 12)
  })

  it('vetoes in every step: dropout leaves out no criterion that a veto goes by', async () => {
    const verdicts = Object.keys(points).map(
      (id): Verdict => ({ criterionId: id, met: false, source: 'llm' }),
    )
    const task = {
      ...{ train: [0], id: () => 'q', rubric: () => RUBRIC },
      grade: async (items: readonly unknown[]) => items.map(() => ({ verdicts })),
    } as unknown as Task<number>
    const config = {
      ...{ noise: 'none', reward: 'rubric', flipRate: 0, seed: 1 },
      rubricDropout: { rate: 0.9, per: 'step', keepAtLeast: 1, protect: [], ask: 'all' },
      scoringRule: parsed({ name: 'veto(signed)', critical: ['dose'] }),
    } as Parameters<typeof asTrained>[0]
    const { reward } = asTrained(config, task, { rubricOf: () => RUBRIC })
    const items = Array.from({ length: 20 }, (_, step) => ({
      problem: 0,
      tokens: Int32Array.of(1),
      step: step + 1,
    }))
    const left = new Set((await reward.grade(items)).flatMap(({ leftOut }) => [...leftOut!.ids]))
    expect([...left].sort()).toEqual(['polite', 'warning'])
  })

  it('soft-min is 1 where all is well, 0 where nothing is, and low where one thing is not', () => {
    const rule = { name: 'soft-min' }
    expect(scoreOf({ dose: true, warning: true, polite: true }, rule)).toBeCloseTo(1, 12)
    expect(scoreOf({ wrong: true }, rule)).toBeCloseTo(0, 12)
    // 12 of 16 points are well, 4 not: -log((12 e^-5 + 4) / 16) / 5.
    expect(scoreOf({ dose: true, polite: true }, rule)).toBeCloseTo(0.27325, 4)
  })

  it('is refused beside negated points where it has no score for them, which would be paid 0', () => {
    const config = (name: string, noise: string) => () =>
      checkOptions({ noise, scoringRule: parsed({ name }) }, {})
    for (const name of ['signed', 'saturation(signed)', 'veto(signed)'])
      expect(config(name, 'negated')).toThrow(/beside noise "negated", got .*signed.*would pay 0/)
    expect(config('signed', 'inverse')).not.toThrow()
    for (const name of ['bounded', 'mean', 'weighted', 'dr-tulu', 'soft-min', 'tree'])
      expect(config(name, 'negated')).not.toThrow()
  })

  it('is refused where it is no rule, or a veto that nothing can trigger', () => {
    expect(refused({ name: 'sined' })).toThrow(/scoringRule\.name: .*got "sined"/)
    expect(refused({ name: 'veto(signed)' })).toThrow(/expected a critical criterion for the veto, got none/)
    expect(refused({ name: 'veto(signed)', critical: ['wrnog'] })).toThrow(
      /ids of criteria of the rubrics, got "wrnog"/,
    )
    expect(refused({ name: 'signed', critical: ['wrong'] })).toThrow(/which has no veto/)
    const marked = { criteria: RUBRIC.criteria.map(own => ({ ...own, critical: true })) }
    expect(refused({ name: 'veto(signed)' }, [marked])).not.toThrow()
  })
})
