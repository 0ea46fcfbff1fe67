import { describe, expect, it } from 'vitest'
import { ConfigError, NumericError } from '../util/errors.ts'
import { alg1Utility, d62Utility, gate, utilityOf } from './acceptance.ts'
import { readReflection } from './reflection-format.ts'
import { checkWindow, countFallbacks, freshBatches, windowRetrieval, windowStep } from './window.ts'

describe('the window', () => {
  it('has K fresh steps with similar questions, then the same batches with their own reflections', () => {
    const steps = Array.from({ length: 8 }, (_, i) => windowStep(i + 1))
    expect(steps.map(({ phase }) => phase[0]).join('')).toBe('fffrrrff')
    expect(steps.map(({ batch }) => batch)).toEqual([0, 1, 2, 0, 1, 2, 3, 4])
    expect(steps.map(({ firstStep }) => firstStep)).toEqual([1, 2, 3, 1, 2, 3, 7, 8])
    expect(steps.map(({ window }) => window)).toEqual([0, 0, 0, 0, 0, 0, 1, 1])
    expect(steps.map(({ retrieval }) => retrieval[0]).join('')).toBe('cccwwwcc')
    expect(steps.map(({ reflects }) => reflects)).toEqual([true, true, true, false, false, false, true, true])
  })

  it('reflects in repeated steps where Algorithm 1 is followed', () => {
    expect([1, 4].map(step => windowStep(step, { reflectOnRepeat: true }).reflects)).toEqual([true, true])
  })

  it('has K steps between a batch and its repetition, whatever K', () => {
    for (const steps of [1, 2, 3, 5])
      for (let step = 1; step <= 6 * steps; step++) {
        const plan = windowStep(step, { steps })
        expect(step - plan.firstStep).toBe(plan.phase === 'repeat' ? steps : 0)
        expect(windowStep(plan.firstStep, { steps })).toMatchObject({ batch: plan.batch, phase: 'fresh' })
      }
  })

  it('refuses K = 1 with deferral, and what is no step (11.19)', () => {
    expect(() => checkWindow({ steps: 1 }, 1)).toThrow(ConfigError)
    expect(() => checkWindow({ steps: 1 }, 1)).toThrow('window.steps: expected at least 2, got 1')
    expect(() => checkWindow({ steps: 2 }, 2)).toThrow('window.steps: expected at least 3, got 2')
    expect(() => checkWindow({ steps: 1 }, 0)).not.toThrow()
    expect(() => checkWindow({}, 2)).not.toThrow()
    expect(() => checkWindow({ steps: 2.5 }, 0)).toThrow('positive integer')
    expect(() => windowStep(0)).toThrow('from 1 on')
  })

  it('draws as many fresh batches as its steps have', () => {
    for (let total = 0; total < 20; total++) {
      const batches = new Set(Array.from({ length: total }, (_, i) => windowStep(i + 1).batch))
      expect(freshBatches(total)).toBe(batches.size)
    }
  })

  it('asks for similar questions where a reflection is missing, and counts that', () => {
    expect(windowRetrieval(windowStep(4), 3)).toEqual({ mode: 'within', fallback: true, top: 3 })
    expect(windowRetrieval(windowStep(1))).toEqual({ mode: 'cross', fallback: true })
    expect(countFallbacks([{ fellBack: true }, { fellBack: false }, { fellBack: true }])).toBe(2)
  })
})

describe('utility and gate', () => {
  const scores = { diagnosticAccuracy: 0.5, specificity: 1, scopeAndBalance: 0 }

  it('has both definitions', () => {
    expect(d62Utility(scores)).toBeCloseTo(0.4 * 0.5 + 0.3)
    expect(alg1Utility({ within: 0.8, cross: 0.3 })).toBeCloseTo(0.55)
    expect(utilityOf('d62', scores)).toBe(d62Utility(scores))
    expect(utilityOf('alg1', scores)).toBe(0.5)
    expect([utilityOf('d62', null), utilityOf('alg1', null)]).toEqual([null, null])
    expect(d62Utility({ diagnosticAccuracy: 1, specificity: 1, scopeAndBalance: 1 })).toBe(1)
  })

  it.each([1.1, -0.1, Number.NaN])('refuses a score of %s', score => {
    expect(() => d62Utility({ ...scores, specificity: score })).toThrow(NumericError)
    expect(() => alg1Utility({ within: score, cross: 0 })).toThrow('within: expected a number from 0 to 1')
  })

  const candidate = (u: number | null, valid = true) => ({ u, valid })

  it('keeps the best valid candidate, of equal ones the first', () => {
    expect(gate([candidate(0.2), candidate(0.7), candidate(0.7)])).toEqual({
      rewards: [0.2, 0.7, 0.7],
      accepted: 1,
    })
    expect(gate([candidate(0)])).toEqual({ rewards: [0], accepted: 0 })
  })

  it('gives an invalid candidate 0 and never keeps it (11.20)', () => {
    expect(gate([candidate(0.9, false), candidate(0.1)])).toEqual({ rewards: [0, 0.1], accepted: 1 })
    expect(gate([candidate(0.9, false), candidate(null, false)])).toEqual({ rewards: [0, 0], accepted: null })
  })

  it('knows nothing of a candidate that the judge failed on', () => {
    expect(gate([candidate(null), candidate(0.3)])).toEqual({ rewards: [null, 0.3], accepted: 1 })
    expect(gate([candidate(null)])).toEqual({ rewards: [null], accepted: null })
    expect(gate([])).toEqual({ rewards: [], accepted: null })
  })

  it('keeps what meets the threshold, and nothing below it', () => {
    expect(gate([candidate(0.5)], 0.5).accepted).toBe(0)
    expect(gate([candidate(0.49)], 0.5)).toEqual({ rewards: [0.49], accepted: null })
    expect(() => gate([candidate(Number.NaN)])).toThrow(NumericError)
    expect(() => gate([], Number.NaN)).toThrow(ConfigError)
  })
})

describe('the two blocks of a reflection', () => {
  const text = (rubrics: string, takeaways: string) =>
    `<reflection_rubrics>${rubrics}</reflection_rubrics>\n<reflection_takeaways>${takeaways}</reflection_takeaways>`

  it('are read where they are alone, once each and in order', () => {
    expect(
      readReflection(`\n${text('\nname a date\n', '\n- look first\n  then cite\n2) check\n')} `),
    ).toEqual({
      valid: true,
      rubrics: 'name a date',
      takeaways: ['look first then cite', 'check'],
    })
    expect(readReflection(text('r', 'one lesson\nover two lines'))).toMatchObject({
      takeaways: ['one lesson over two lines'],
    })
  })

  it.each([
    ['', /<reflection_rubrics> once, got it 0/],
    [`Sure! ${text('r', 't')}`, /nothing around/],
    [`${text('r', 't')}\nDone.`, /nothing around/],
    [`${text('r', 't')}${text('r', 't')}`, /got it 2 times/],
    [text('', '- t'), /expected rubrics/],
    [text('r', ' \n'), /got 0/],
    [text('r', '- a\n- b\n- c\n- d\n- e'), /expected 1 to 4 takeaways, got 5/],
    [text('r', 't').replace('</reflection_takeaways>', ''), /once, got it 0/],
    ['<reflection_takeaways>t</reflection_takeaways><reflection_rubrics>r</reflection_rubrics>', /in order/],
    [text('r <reflection_takeaways>', 't'), /got it 2 times/],
  ])('are refused otherwise: %j', (bad, problem) => {
    expect(readReflection(bad)).toEqual({ valid: false, problem: expect.stringMatching(problem) })
  })

  it('are read in time that grows with their length, whatever they hold', () => {
    const long = '<reflection_rubrics>'.repeat(20_000)
    expect(readReflection(long).valid).toBe(false)
    expect(readReflection(text(' '.repeat(100_000), ' '.repeat(100_000))).valid).toBe(false)
  })
})
