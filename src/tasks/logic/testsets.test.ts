import { describe, expect, it } from 'vitest'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { shallowBaselines } from './baselines.ts'
import { generateLogicProblems } from './generator.ts'
import { loadProntoQa } from './loaders.ts'
import { measureStructure } from './statistics.fixture.ts'
import { checkTrainingSeed, logicTestSet } from './testsets.ts'

const path = sharedData('prontoqa/dev.jsonl')
const accuracies = (problems: Parameters<typeof shallowBaselines>[0]) =>
  Object.fromEntries(shallowBaselines(problems).map(({ name, accuracy }) => [name, accuracy]))

describe('test sets', () => {
  it('are the same at every call and apart from validation and training problems', () => {
    for (const name of ['train-distribution', 'shortcut-free', 'varied'] as const) {
      const test = logicTestSet(name, { count: 300 })
      expect(logicTestSet(name, { count: 300 })).toEqual(test)
      const contexts = new Set(test.map(problem => problem.context))
      expect(contexts.size).toBe(300)
      const style = name === 'train-distribution' ? 'real' : name
      const others = [
        ...logicTestSet(name, { count: 300, split: 'validation' }),
        ...generateLogicProblems(3000, { style }, 1),
      ]
      expect(others.some(problem => contexts.has(problem.context))).toBe(false)
    }
  })

  it('refuses a training seed that names held-out problems, and real rows without a file', () => {
    expect(() => checkTrainingSeed('held-out:test')).toThrow(/held-out/)
    expect(() => checkTrainingSeed(7)).not.toThrow()
    expect(() => logicTestSet('real')).toThrow(/expected the path of a file/)
  })

  it.skipIf(!path)('shallow cues answer the real rows (skipped without ../shared/data)', () => {
    const real = accuracies(logicTestSet('real', { realPath: path! }))
    expect(real['query negation']).toBeCloseTo(0.6, 6)
    expect(real['last mention of the queried adjective']).toBeCloseTo(0.775, 6)
    expect(real['first mention of the queried adjective']).toBeCloseTo(0.225, 6)
    expect(real['mention whose noun occurs elsewhere']).toBe(1)
    expect(real['majority label of this set']).toBeCloseTo(0.525, 6)
  })

  it.each(['shortcut-free', 'varied'] as const)('the %s set leaves them at chance', name => {
    for (const accuracy of Object.values(accuracies(logicTestSet(name, { count: 4000 })))) {
      expect(accuracy).toBeGreaterThan(0.46)
      expect(accuracy).toBeLessThan(0.54)
    }
    const threeWay = accuracies(logicTestSet(name, { count: 4000, labels: 'three-way' }))
    for (const accuracy of Object.values(threeWay)) expect(accuracy).toBeLessThan(0.37)
  })
})

describe.skipIf(!path)('generated problems against the real rows (skipped without ../shared/data)', () => {
  const real = path ? measureStructure(loadProntoQa(path)) : null
  const generated = measureStructure(generateLogicProblems(4000, {}, 'statistics'))

  it('agree exactly in what never varies', () => {
    for (const field of [
      'distractors',
      'distractorOpposite',
      'distractorOffChain',
      'factLast',
      'ordered',
    ] as const) {
      expect(generated[field], field).toBe(1)
      expect(real![field], field).toBe(1)
    }
  })

  it('agree within the sampling error of 200 rows in what does', () => {
    // 2.6 standard errors of a share, of 200 problems or of the rules in them.
    const near = (a: number, b: number, n: number, name: string) =>
      expect(Math.abs(a - b), `${name}: ${a} vs ${b}`).toBeLessThan(
        2.6 * Math.sqrt(Math.max(b * (1 - b), 0.02) / n),
      )
    for (const field of ['sentences', 'start', 'nodesAfterTarget'] as const) {
      expect(Object.keys(generated[field])).toEqual(Object.keys(real![field]))
      for (const [key, value] of Object.entries(generated[field]))
        near(real![field][key], value, 200, `${field} ${key}`)
    }
    for (const key of ['plural', 'each', 'every'] as const)
      near(real!.templates[key], generated.templates[key], 3200, key)
    near(real!.negatedGold, generated.negatedGold, 200, 'negatedGold')
    near(real!.negatedOther, generated.negatedOther, 1300, 'negatedOther')
    near(real!.negatedQuery, generated.negatedQuery, 200, 'negatedQuery')
    near(real!.labelTrue, generated.labelTrue, 200, 'labelTrue')
    near(real!.distractorBefore, generated.distractorBefore, 200, 'distractorBefore')
  })
})
