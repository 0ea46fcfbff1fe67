import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DataError, NumericError, UsageError } from '../util/errors.ts'
import { readJsonl } from '../util/jsonl.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import {
  creditOnScale,
  parseGradedRow,
  type Rubric,
  type RuleName,
  readRubricFile,
  ruleOf,
  SCORING_RULES,
  type ScoreByRuleOptions,
  scoreByRule,
  stageScores,
  type Verdict,
} from './index.ts'

const rubricOf = (points: readonly number[]): Rubric => ({
  criteria: points.map((p, i) => ({ id: `c${i}`, text: `criterion ${i}`, points: p })),
})
const verdictsOf = (met: readonly (boolean | null)[]): Verdict[] =>
  met.map((value, i) => ({ criterionId: `c${i}`, met: value, source: 'rule' }))
const scoreOf = (
  rule: string,
  points: readonly number[],
  met: readonly (boolean | null)[],
  options: ScoreByRuleOptions = {},
) => scoreByRule(rule, rubricOf(points), verdictsOf(met), options).score

describe('worked examples of the specification', () => {
  it("RLCER's rewards of eight samples (2.5)", () => {
    const k1 = [1, 1, 0, 0, 0, 0, 1, 0]
    const k2 = [0, 0, 0, 1, 1, 0, 0, 0]
    const rewards = k1.map((v, i) => scoreOf('bounded', [3, -4], [v === 1, k2[i] === 1])!)
    for (const [i, expected] of [1, 1, 0.5714, 0, 0, 0.5714, 1, 0.5714].entries())
      expect(rewards[i]).toBeCloseTo(expected, 4)
  })

  it('a rubric of penalties alone: bounded is (raw - MIN) / -MIN, signed is undefined (11, case 5)', () => {
    expect(scoreOf('bounded', [-2, -3], [true, false])).toBeCloseTo((-2 - -5) / 5, 12)
    expect(scoreOf('signed', [-2, -3], [true, false])).toBeNull()
    expect(scoreOf('dr-tulu', [-1, -1], [true, false])).toBe(-1)
  })

  it("RubricEM's stage score of levels (5.2)", () => {
    const criteria = [
      { id: 'a', text: 'a', points: 3, stage: 1 as const },
      { id: 'b', text: 'b', points: 1, stage: 1 as const },
      { id: 'c', text: 'c', points: -2, stage: 1 as const },
      { id: 'd', text: 'd', points: 1, stage: 4 as const },
    ]
    const levels: Verdict[] = [
      { criterionId: 'a', met: true, level: 2, source: 'llm' },
      { criterionId: 'b', met: false, level: 1, source: 'llm' },
      { criterionId: 'c', met: false, level: 1, source: 'llm' },
      { criterionId: 'd', met: null, source: 'llm' },
    ]
    const first = { criteria: criteria.slice(0, 3) }
    expect(scoreByRule('levels', first, levels.slice(0, 3)).score).toBe(0.75)
    expect(stageScores({ criteria }, levels)).toEqual({ 1: 0.75, 2: null, 3: null, 4: null })
    expect(stageScores({ criteria }, levels, { whenUndefined: 0 })[2]).toBe(0)
  })

  it("RaR: all weights below, a pitfall's too (7.3)", () => {
    const categories = ['Essential', 'Important', 'Optional', 'Pitfall']
    const points = [1, 1, 1, -1]
    const criteria = categories.map((category, i) => ({
      id: `c${i}`,
      text: category,
      points: points[i],
      category,
    }))
    const weights = { c0: 1, c1: 0.7, c2: 0.3, c3: 0.9 }
    const score = (met: boolean[]) =>
      scoreByRule('all-weights', { criteria }, verdictsOf(met), { weights }).score!
    expect(score([true, false, false, false])).toBeCloseTo((1 + 0.9) / 2.9, 12)
    expect(score([true, true, true, true])).toBeCloseTo(2 / 2.9, 12)
  })

  it("DR Tulu: the rubric's score (7.1)", () => {
    expect(scoreOf('dr-tulu', [1, 1, 1, -1], [true, true, false, true])).toBeCloseTo(1 / 3, 12)
    expect(scoreOf('dr-tulu', [0.25], [true])).toBe(0.25)
  })

  it('RiT: a mean over criteria, points ignored (3.3)', () => {
    expect(scoreOf('mean', [9, 1, 1, 1, 1], [true, true, true, false, false])).toBeCloseTo(0.6, 12)
  })

  it('an empty rubric has no score by any rule (11, case 4)', () => {
    for (const rule of Object.keys(SCORING_RULES)) {
      expect(scoreOf(rule, [], [])).toBeNull()
      expect(scoreOf(rule, [], [], { whenUndefined: 0 })).toBe(0)
      expect(scoreOf(`veto(saturation(${rule}))`, [], [])).toBeNull()
    }
  })
})

describe('a tree', () => {
  const tree = {
    id: 'root',
    weight: 1,
    children: [
      { id: 'a', weight: 1 },
      {
        id: 'inner',
        weight: 3,
        children: [
          { id: 'b', weight: 1 },
          { id: 'c', weight: 4 },
          { id: 'unjudged', weight: 0 },
        ],
      },
    ],
  }
  const criteria = ['a', 'b', 'c'].map(id => ({ id, text: id, points: 1 }))
  const verdicts = (met: Record<string, boolean | null>): Verdict[] =>
    Object.entries(met).map(([criterionId, value]) => ({ criterionId, met: value, source: 'llm' }))
  const score = (met: Record<string, boolean | null>, options = {}) =>
    scoreByRule('tree', { criteria, tree }, verdicts(met), options).score

  it('is the weighted mean of weighted means', () => {
    expect(score({ a: false, b: true, c: false })).toBeCloseTo((3 * (1 / 5)) / 4, 12)
    expect(score({ a: true, b: false, c: true })).toBeCloseTo((1 + 3 * (4 / 5)) / 4, 12)
  })

  it('drops a leaf from its own siblings, a node when all its leaves are gone', () => {
    expect(score({ a: false, b: true, c: null })).toBe(3 / 4)
    expect(score({ a: true, b: null, c: null })).toBe(1)
    expect(score({})).toBeNull()
    expect(score({ a: false, b: true, c: null }, { nulls: 'as-false' })).toBeCloseTo(3 / 20, 12)
  })

  it('needs a criterion for each leaf', () => {
    expect(() => scoreByRule('tree', { criteria: criteria.slice(1), tree }, [])).toThrow(
      'tree: leaf "a": expected a criterion of this id',
    )
  })
})

describe('veto', () => {
  const critical: Rubric = {
    criteria: [
      { id: 'c0', text: 'must', points: 1, critical: true },
      { id: 'c1', text: 'may', points: 9 },
      { id: 'c2', text: 'must not', points: -5, critical: true },
    ],
  }
  const veto = (met: (boolean | null)[], options = {}, rule = 'signed') =>
    scoreByRule(`veto(${rule})`, critical, verdictsOf(met), options)

  it('zeroes a score once a critical criterion has failed', () => {
    expect(veto([true, true, false])).toMatchObject({ score: 1, vetoedBy: [] })
    expect(veto([false, true, false])).toMatchObject({ score: 0, vetoedBy: ['c0'], parts: { c1: 1 } })
    expect(veto([true, true, true], {}, 'bounded')).toMatchObject({ score: 0, vetoedBy: ['c2'] })
  })

  it('is no reward: a negative score stays', () => {
    expect(veto([true, false, true]).score).toBeCloseTo(-4 / 10, 12)
  })

  it('passes over a failed judge, unless null counts as not met', () => {
    expect(veto([null, true, null])).toMatchObject({ score: 1, vetoedBy: [] })
    expect(veto([null, true, null], { nulls: 'as-false' })).toMatchObject({ score: 0, vetoedBy: ['c0'] })
  })

  it('has a threshold for credits', () => {
    const verdicts: Verdict[] = [{ criterionId: 'c0', met: null, credit: 0.6, source: 'formal' }]
    expect(scoreByRule('veto(signed)', critical, verdicts).vetoedBy).toEqual([])
    expect(scoreByRule('veto(signed)', critical, verdicts, { vetoBelow: 0.7 }).vetoedBy).toEqual(['c0'])
  })
})

describe('saturation', () => {
  it('is 1 - exp(-c x) of a score, mirrored below zero', () => {
    expect(scoreOf('saturation(signed)', [1, 1], [true, false])).toBeCloseTo(1 - Math.exp(-1.5), 12)
    expect(scoreOf('saturation(signed)', [1, -2], [false, true], { saturation: 1 })).toBeCloseTo(
      Math.exp(-2) - 1,
      12,
    )
    expect(() => scoreOf('saturation(mean)', [1], [true], { saturation: 0 })).toThrow(DataError)
  })

  it('keeps one dimension from making up for the others', () => {
    const categories = ['facts', 'facts', 'tone', 'tone']
    const criteria = categories.map((category, i) => ({ id: `c${i}`, text: '', points: 1, category }))
    const score = (met: boolean[]) => scoreByRule('saturation(mean)', { criteria }, verdictsOf(met)).score!
    const half = 1 - Math.exp(-1.5)
    expect(score([true, false, true, false])).toBeCloseTo(half, 12)
    expect(score([true, true, false, false])).toBeCloseTo((1 - Math.exp(-3)) / 2, 12)
    expect(score([true, false, true, false])).toBeGreaterThan(score([true, true, false, false]))
  })

  it('leaves a veto inside it one of the whole, though other dimensions are fine', () => {
    const criteria = ['a', 'b'].map((category, i) => ({
      ...{ id: `c${i}`, text: category, points: 1, category },
      critical: i === 0,
    }))
    const verdicts = criteria.map(({ id }, i): Verdict => ({ criterionId: id, met: i === 1, source: 'llm' }))
    const { score, vetoedBy } = scoreByRule('saturation(veto(mean))', { criteria }, verdicts)
    expect([score, vetoedBy]).toEqual([0, ['c0']])
  })

  it('weighs dimensions by what was judged in them', () => {
    const criteria = [
      { id: 'c0', text: '', points: 3, category: 'a' },
      { id: 'c1', text: '', points: 1, category: 'b' },
      { id: 'c2', text: '', points: 5, category: 'c' },
    ]
    const { score } = scoreByRule('saturation', { criteria }, verdictsOf([true, false, null]))
    expect(score).toBeCloseTo((3 * (1 - Math.exp(-3))) / 4, 12)
  })
})

describe('names', () => {
  it('answers to aliases and nests', () => {
    expect(ruleOf('healthbench')).toBe(SCORING_RULES.signed)
    expect(ruleOf('min-max')).toBe(SCORING_RULES.bounded)
    expect(ruleOf('paperbench')).toBe(SCORING_RULES.tree)
    expect(scoreOf(' veto( saturation( mean ) ) ', [1], [true])).toBeCloseTo(1 - Math.exp(-3), 12)
    expect(ruleOf('veto(levels)').levels).toBe(true)
  })

  it.each(['', 'signd', 'signed(mean)', 'veto(', 'veto(nothing)', 'constructor'])('refuses %j', name => {
    expect(() => ruleOf(name)).toThrow(UsageError)
  })

  it('says what it knows and what was meant', () => {
    expect(() => ruleOf('weigthed')).toThrow(/expected one of signed, bounded, .*did you mean weighted\?/)
  })
})

it('weights replace the size of points, not their sign', () => {
  expect(scoreOf('signed', [1, -1], [true, true], { weights: { c0: 4, c1: 1 } })).toBe(3 / 4)
  expect(() => scoreOf('signed', [1], [true], { weights: { c0: -1 } })).toThrow(
    'weights.c0: expected a number',
  )
})

it('a score that is not finite is an error', () => {
  expect(() => scoreOf('weighted', [1e308, 1e308], [true, true])).toThrow(NumericError)
})

it('a score on a scale is a credit', () => {
  const levels = [
    { low: 1, high: 2, text: 'poor' },
    { low: 3, high: 10, text: 'good' },
  ]
  expect([1, 5.5, 10].map(score => creditOnScale(levels, score))).toEqual([0, 0.5, 1])
  expect(() => creditOnScale(levels, 11)).toThrow('expected a number from 1 to 10, got 11')
})

// Points and verdicts of a random response.
const graded = fc
  .array(
    fc.record({
      points: fc.integer({ min: -10, max: 10 }).filter(p => p !== 0),
      met: fc.option(fc.boolean(), { nil: null }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map(rows => ({ points: rows.map(({ points }) => points), met: rows.map(({ met }) => met) }))
const rules = fc.constantFrom(...(Object.keys(SCORING_RULES) as RuleName[]))
const nulls = fc.constantFrom('drop' as const, 'as-false' as const)
const near = (a: number | null, b: number | null) => {
  if (a === null || b === null) expect(a).toBe(b)
  else expect(a).toBeCloseTo(b, 10)
}

describe('properties', () => {
  it('scores keep their bounds', () => {
    fc.assert(
      fc.property(graded, nulls, ({ points, met }, how) => {
        for (const rule of ['bounded', 'mean', 'all-weights', 'levels', 'tree', 'saturation(mean)', 'veto']) {
          const score = scoreOf(rule, points, met, { nulls: how }) ?? 0
          expect(score).toBeGreaterThanOrEqual(0)
          expect(score).toBeLessThanOrEqual(1)
        }
        for (const rule of ['signed', 'dr-tulu', 'saturation(signed)'])
          expect(scoreOf(rule, points, met, { nulls: how }) ?? 0).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('bounded is the min-max formula, and a positive affine map of signed', () => {
    fc.assert(
      fc.property(graded, ({ points, met }) => {
        const kept = points.filter((_, i) => met[i] !== null)
        const sum = (xs: number[]) => xs.reduce((total, x) => total + x, 0)
        const raw = sum(points.filter((_, i) => met[i] === true))
        const max = sum(kept.map(p => Math.max(p, 0)))
        const min = sum(kept.map(p => Math.min(p, 0)))
        const bounded = scoreOf('bounded', points, met)
        near(bounded, kept.length > 0 ? (raw - min) / (max - min) : null)
        const signed = scoreOf('signed', points, met)
        if (signed !== null) near(bounded, (signed * max - min) / (max - min))
      }),
    )
  })

  it('points may be scaled: only weighted and dr-tulu see it', () => {
    fc.assert(
      fc.property(graded, fc.integer({ min: 2, max: 9 }), rules, ({ points, met }, factor, rule) => {
        fc.pre(rule !== 'dr-tulu')
        const scaled = scoreOf(
          rule,
          points.map(p => p * factor),
          met,
        )
        const plain = scoreOf(rule, points, met)
        near(scaled, plain === null || rule !== 'weighted' ? plain : plain * factor)
      }),
    )
  })

  it('a penalty avoided is a reward met, where all weights count', () => {
    fc.assert(
      fc.property(graded, ({ points, met }) => {
        const mirrored = met.map((value, i) => (points[i] < 0 && value !== null ? !value : value))
        for (const rule of ['all-weights', 'bounded', 'mean', 'tree'])
          near(scoreOf(rule, points, met), scoreOf(rule, points.map(Math.abs), mirrored))
      }),
    )
  })

  it('drop is the rubric without the criterion, as-false a verdict of not met', () => {
    fc.assert(
      fc.property(graded, rules, ({ points, met }, rule) => {
        const kept = met.flatMap((value, i) => (value === null ? [] : [i]))
        const rest = [kept.map(i => points[i]), kept.map(i => met[i])] as const
        if (rule !== 'weighted') near(scoreOf(rule, points, met), scoreOf(rule, ...rest))
        const notMet = met.map(value => value ?? false)
        near(scoreOf(rule, points, met, { nulls: 'as-false' }), scoreOf(rule, points, notMet))
      }),
    )
  })

  it('meeting one more reward never lowers a score, incurring one more penalty never raises it', () => {
    fc.assert(
      fc.property(graded, rules, fc.nat(), ({ points, met }, rule, at) => {
        const judged = met.map(value => value ?? false)
        const i = at % points.length
        const [without, withIt] = [false, true].map(value => scoreOf(rule, points, judged.with(i, value)))
        if (without === null || withIt === null) return
        expect(Math.sign(points[i]) * (withIt - without)).toBeGreaterThanOrEqual(-1e-12)
      }),
    )
  })

  it('parts are the credits, whatever the rule', () => {
    fc.assert(
      fc.property(graded, rules, ({ points, met }, rule) => {
        const { parts, nulls: failed, counts } = scoreByRule(rule, rubricOf(points), verdictsOf(met))
        const expected = met.flatMap((value, i) => (value === null ? [] : [[`c${i}`, Number(value)]]))
        expect(parts).toEqual(Object.fromEntries(expected))
        expect(failed.positive + failed.negative).toBe(met.filter(value => value === null).length)
        expect(counts.positive + counts.negative).toBe(points.length)
      }),
    )
  })
})

const present = sharedData('healthbench/rows.jsonl') !== null
describe.skipIf(!present)('real data (skipped where ../shared/data is absent)', () => {
  it("scores simple-evals' own example of HealthBench", () => {
    const vectors = readJsonl<{
      op: string
      inputs: { points: number[]; met: boolean[] }
      expected: { score: number }
    }>(sharedData('rl-vectors/vectors.jsonl')!).filter(({ op }) => op === 'rubric_score')
    expect(vectors.length).toBeGreaterThan(0)
    for (const { inputs, expected } of vectors)
      expect(scoreOf('signed', inputs.points, inputs.met)).toBe(expected.score)
  })

  it("scores HealthBench's rows as its formula does, to 1e-12, failures dropped", () => {
    for (const [r, { rubric }] of readRubricFile(sharedData('healthbench/rows.jsonl')!).items.entries()) {
      const met = rubric.criteria.map((_, i) => [true, false, null, true, false][(r + i * i) % 5])
      let [earned, possible] = [0, 0]
      for (const [i, { points }] of rubric.criteria.entries()) {
        if (met[i]) earned += points
        if (met[i] !== null) possible += Math.max(points, 0)
      }
      const { score } = scoreByRule('signed', rubric, verdictsOf(met))
      if (possible === 0) expect(score).toBeNull()
      else expect(Math.abs(score! - earned / possible)).toBeLessThan(1e-12)
    }
  })

  interface Node {
    weight: number
    sub_tasks: Node[]
    score?: number
  }
  // The recursion of PaperBench, on its own nodes.
  const expectedScore = ({ sub_tasks, score }: Node): number => {
    if (sub_tasks.length === 0) return score!
    const total = sub_tasks.reduce((sum, { weight }) => sum + weight, 0)
    return sub_tasks.reduce((sum, child) => sum + child.weight * expectedScore(child), 0) / total
  }
  let leaf = 0
  const gradeLeaves = (node: Node): Node => {
    if (node.sub_tasks.length === 0) return { ...node, score: (leaf++ * 7) % 5 < 2 ? 1 : 0 }
    return { ...node, sub_tasks: node.sub_tasks.map(gradeLeaves) }
  }

  it.each(['semantic-self-consistency', 'bridging-data-gaps', 'test-time-model-adaptation'])(
    'rolls %s up as PaperBench does',
    name => {
      const tree = gradeLeaves(JSON.parse(readFileSync(sharedData(`paperbench/${name}.json`)!, 'utf8')))
      const { rubric, verdicts } = parseGradedRow(tree)
      const score = scoreByRule('tree', rubric, verdicts).score!
      expect(score).toBeGreaterThan(0)
      expect(score).toBeLessThan(1)
      expect(Math.abs(score - expectedScore(tree))).toBeLessThan(1e-12)
      // Without failed verdicts the leaves' shares say the same.
      expect(scoreByRule('all-weights', rubric, verdicts).score).toBeCloseTo(score, 12)
      // Nor does it matter whether verdicts are on the leaves or beside the tree.
      const beside = { tree, verdicts: verdicts.map(({ credit }) => credit) }
      expect(
        scoreByRule('tree', ...(Object.values(parseGradedRow(beside)) as [Rubric, Verdict[]])).score,
      ).toBe(score)
    },
  )
})
