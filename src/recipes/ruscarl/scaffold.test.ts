import { describe, expect, it } from 'vitest'
import type { Criterion } from '../../rubric/criterion.ts'
import { Rng } from '../../util/rng.ts'
import {
  lambdaGroup,
  lambdasIn,
  scaffoldedPrompts,
  scaffoldLine,
  scaffoldWork,
  selectCriteria,
  shownCount,
} from '../common/scaffold.ts'
import { leakDetector, scaffolding, scaffoldText, withScaffold } from './scaffold.ts'

const rounded = (values: number[]) => values.map(value => Number(value.toFixed(4)))

type Decay = Parameters<typeof lambdasIn>[1]['scaffold']['decay']

/** What a sample that is shown everything is shown after the decay. */
const lambdaStep = (decay: Decay, step: number, steps: number): number =>
  lambdasIn(step, { scaffold: { group: { kind: 'all' }, decay }, rollout: { samples: 1 }, steps })[0]

describe('schedules', () => {
  it('have the printed ladder of eight', () => {
    const ladder = lambdaGroup({ kind: 'linear' }, 8)
    expect(rounded(ladder)).toEqual([1, 0.8571, 0.7143, 0.5714, 0.4286, 0.2857, 0.1429, 0])
    expect(ladder.map(share => shownCount(share, 11))).toEqual([11, 9, 8, 6, 5, 3, 2, 0])
    expect(ladder.map(share => shownCount(share, 5))).toEqual([5, 4, 4, 3, 2, 1, 1, 0])
  })

  it('say what prompts become of them on average', () => {
    const tokens = { plain: 100, whole: 210 }
    const of = (group: Parameters<typeof lambdaGroup>[0], steps = 1) =>
      scaffoldWork({ group, decay: { kind: 'linear' } }, { steps, samples: 8, criteria: 11 }, tokens)
    // Eleven criteria of ten tokens: 11, 9, 8, 6, 5, 3 and 2 of them are shown, and one sample sees none.
    expect(of({ kind: 'linear' })).toEqual({ prompts: 8, promptTokens: 100 + (10 * 44) / 8, shown: 7 / 8 })
    expect(of({ kind: 'all' })).toEqual({ prompts: 8, promptTokens: 210, shown: 1 })
    expect(of({ kind: 'none' })).toEqual({ prompts: 1, promptTokens: 100, shown: 0 })
    // Two steps: all of it, then nothing, which all samples share.
    expect(of({ kind: 'all' }, 2)).toEqual({ prompts: 4.5, promptTokens: (8 * 210 + 100) / 9, shown: 0.5 })
  })

  it('count no scaffold for a group of one, which training shows nothing', () => {
    const settings = { group: { kind: 'linear' }, decay: { kind: 'constant' } } as const
    const work = scaffoldWork(settings, { steps: 1, samples: 1, criteria: 11 }, { plain: 100, whole: 300 })
    expect(work).toEqual({ prompts: 1, promptTokens: 100, shown: 0 })
    const shown = { criteria: () => [{ id: 'a', text: 'a', points: 1 }], prompt: () => [1] }
    expect(scaffoldedPrompts([1], shown, ['one'], { label: 'x', seed: 1, step: 1 })).toBeNull()
  })

  it('have the other groups, and a group of one', () => {
    expect(lambdaGroup({ kind: 'binary', full: 2 }, 4)).toEqual([1, 1, 0, 0])
    expect(lambdaGroup({ kind: 'all' }, 2)).toEqual([1, 1])
    expect(lambdaGroup({ kind: 'none' }, 2)).toEqual([0, 0])
    expect(lambdaGroup({ kind: 'linear' }, 1)).toEqual([1])
    expect(() => lambdaGroup({ kind: 'binary', full: 9 }, 8)).toThrow('expected at most 8')
  })

  it('have the printed points of the sigmoid: almost a step at a fifth of the run', () => {
    const decay = { kind: 'sigmoid', alpha: 125, t0: 0.2 } as const
    const at = (step: number) => lambdaStep(decay, step, 350)
    expect([60, 70, 71, 78, 90].map(at).map(x => x.toFixed(2))).toEqual([
      '0.98',
      '0.57',
      '0.48',
      '0.07',
      '0.00',
    ])
    expect(at(90)).toBeCloseTo(0.001, 3)
    expect(at(1)).toBeGreaterThan(0.999)
  })

  it('have the other decays, and a run of one step', () => {
    const at = (decay: Decay) => [1, 3, 5].map(step => lambdaStep(decay, step, 5))
    expect(at({ kind: 'constant' })).toEqual([1, 1, 1])
    expect(at({ kind: 'linear' })).toEqual([1, 0.5, 0])
    expect(at({ kind: 'power', exponent: 2 })).toEqual([1, 0.25, 0])
    expect(lambdaStep({ kind: 'linear' }, 1, 1)).toBe(1)
    expect(lambdaStep({ kind: 'linear' }, 9, 5)).toBe(0)
  })

  it('round halves to even', () => {
    expect([0.25, 0.35].map(share => shownCount(share, 10))).toEqual([2, 4])
  })
})

const CRITERIA: Criterion[] = [
  { id: 'a', text: 'names the dose', points: 7 },
  { id: 'b', text: 'invents a source', points: -3 },
  { id: 'c', text: 'gives the reason', points: 1 },
  { id: 'd', text: 'is rude', points: -1 },
]

describe('the scaffold', () => {
  it('shows a fresh random subset in the order of the rubric, each criterion equally often', () => {
    const rng = new Rng('subset')
    const counts = new Map<string, number>()
    for (let i = 0; i < 4000; i++) {
      const shown = selectCriteria(CRITERIA, 0.5, rng).map(({ id }) => id)
      expect(shown).toHaveLength(2)
      expect(shown).toEqual([...shown].sort())
      for (const id of shown) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    for (const { id } of CRITERIA) expect(counts.get(id)! / 4000).toBeCloseTo(0.5, 1)
    expect(selectCriteria(CRITERIA, 1, rng)).toEqual(CRITERIA)
    expect(selectCriteria(CRITERIA, 0, rng)).toEqual([])
  })

  it('lists what to include and what to avoid with their points, numbered anew', () => {
    const text = scaffoldText(CRITERIA)!
    const lines = text.split('\n').filter(line => line.startsWith('Criterion'))
    expect(lines).toEqual([
      'Criterion 1: names the dose (worth 7 points)',
      'Criterion 2: gives the reason (worth 1 point)',
      'Criterion 1: invents a source (penalty: 3 points)',
      'Criterion 2: is rude (penalty: 1 point)',
    ])
    expect(text.indexOf('INCLUDE')).toBeLessThan(text.indexOf('AVOID'))
    expect(text).toContain('do not name the criteria')
  })

  it('leaves out empty lists, points and the warning where that is asked for', () => {
    const options = { showPoints: false, forbidMention: false }
    const text = scaffoldText(CRITERIA.slice(0, 1), options)!
    expect(text).not.toMatch(/AVOID|points|do not name/)
    expect(text).toContain('Criterion 1: names the dose\n'.trim())
  })

  it('is no message at all when nothing is shown', () => {
    const messages = [{ role: 'user' as const, content: 'hello' }]
    expect(scaffoldText([])).toBeNull()
    expect(withScaffold(messages, scaffoldText([]))).toEqual(messages)
    expect(scaffoldText([], { whenEmpty: 'Be helpful.' })).toBe('Be helpful.')
    expect(withScaffold(messages, 'x').map(({ role }) => role)).toEqual(['system', 'user'])
  })

  it('stands after the last request where that is asked for, and nothing where nothing is shown', () => {
    const messages = [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'Hello' },
      { role: 'assistant' as const, content: 'Hello?' },
      { role: 'user' as const, content: 'How much aspirin?' },
    ]
    const show = scaffolding({ place: 'user', whenEmpty: 'Be helpful.' })
    const shown = show(messages, CRITERIA)
    expect(shown.slice(0, 3)).toEqual(messages.slice(0, 3))
    expect(shown[3].content).toMatch(
      /^How much aspirin\?\n\nYour answer will be .*\n\nINCLUDE.*names the dose/s,
    )
    expect(show(messages.slice(1), [])[0]).toEqual({ role: 'system', content: 'Be helpful.' })
    expect(scaffolding({ place: 'user' })(messages, [])).toEqual(messages)
    // Of a conversation without a request the criteria come first: they are never lost.
    const [only] = show(messages.slice(0, 1), CRITERIA)
    expect(only).toMatchObject({
      role: 'system',
      content: expect.stringMatching(/^Be brief\..*names the dose/s),
    })
  })

  it('leaks when six consecutive tokens of it are repeated, not five', () => {
    const leaks = leakDetector([[1, 2, 3, 4, 5, 6, 7, 8]])
    expect(leaks([9, 2, 3, 4, 5, 6, 7, 9])).toBe(true)
    expect(leaks([9, 2, 3, 4, 5, 6, 9, 7])).toBe(false)
    expect(leaks([])).toBe(false)
    expect(leaks(Int32Array.of(3, 4, 5, 6, 7, 8))).toBe(true)
  })
})

it('takes its means of a few steps where a run has more than anybody could count', () => {
  const settings = { group: { kind: 'linear' }, decay: { kind: 'linear' } } as const
  const work = (steps: number) =>
    scaffoldWork(settings, { steps, samples: 8, criteria: 11 }, { plain: 100, whole: 200 })
  expect(work(1e9).prompts).toBeCloseTo(work(4000).prompts, 2)
})

describe('the line of a plan', () => {
  it('tells no decay of a scaffold that shows nothing', () => {
    const decay = { kind: 'linear' } as const
    expect(scaffoldLine({ group: { kind: 'none' }, decay }, 'plain')).toBe(
      'scaffold     none: nothing of the rubric is shown',
    )
    expect(scaffoldLine({ group: { kind: 'all' }, decay }, 'plain')).toBe(
      'scaffold     all in the group, linear over the steps, ratio plain',
    )
  })
})
