import { describe, expect, it } from 'vitest'
import type { PairStatistics } from '../analysis/analysis.ts'
import type { PaperResult } from '../results/paper.ts'
import { paperSummary } from './report.ts'

const statistics = (difference: number): PairStatistics => ({
  n: 8,
  meanA: 0.5 + difference,
  meanB: 0.5,
  difference,
  interval: [difference - 0.01, difference + 0.02],
  sd: 0.02,
  startError: null,
  p: 0.0078,
  pContrary: 1,
  pairsAlone: { interval: [difference - 0.01, difference + 0.02], p: 0.0078, pContrary: 1 },
  margin: null,
  robust: { estimate: difference, interval: [difference + 0.001, difference + 0.01] },
  detectable: 0.025,
  byStart: { a: difference + 0.04, b: difference - 0.04 },
  startsP: 0.02,
})

const metric = { name: 'score', options: { set: 'unseen trips' } }

const result = {
  registration: {
    paper: 'p',
    title: 'A title',
    seeds: [1, 2, 3, 4],
    starts: [{ name: 'a' }, { name: 'b' }],
    steps: 10,
    test: { problems: 2048 },
    cut: ['Ten seeds.'],
    file: 'experiments/p.yaml',
    hash: 'abcdef0123456789ffff',
    controls: { of: 'new', metric },
    afterwards: { defaults: {}, armDefaults: {}, notes: [], apart: [] },
  },
  registered: { registeredAt: '2026-01-02T03:04:05.000Z', rule: 1, versions: {} },
  rule: 3,
  failed: [],
  trainedWith: [],
  analysedWith: { versions: { gradus: '0.1.0' }, machine: {} },
  blocks: [],
  claims: [
    {
      claim: {
        id: 'P-1',
        statement: 'New | better.',
        metric,
        reference: 0,
        direction: 'greater',
        smallestEffect: 0.01,
      },
      comparisons: [
        {
          a: 'new',
          b: 'old',
          equal: 'steps',
          items: null,
          reason: 'by the rule',
          statistics: statistics(0.1),
          p: 0.0078,
          adjustedP: 0.0156,
          status: 'reproduced',
        },
        {
          a: 'new',
          b: 'older',
          equal: 'tokens',
          items: null,
          reason: 'by the rule',
          statistics: null,
          p: 1,
          adjustedP: 1,
          status: 'inconclusive',
        },
        {
          a: 'new',
          b: 'third',
          equal: 'steps',
          items: null,
          reason: 'by the rule',
          statistics: statistics(0.001),
          p: 0.9,
          adjustedP: 1,
          status: 'inconclusive',
        },
      ],
      share: null,
      p: 1,
      adjustedP: 1,
      status: 'inconclusive',
      atRegistration: { rule: 1, status: 'not reproduced', reason: 'an earlier rule' },
      reason: 'new − third: the interval includes 0',
      runs: [],
    },
    {
      claim: { id: 'P-2', statement: 'Often.', metric, reference: 0, atLeast: 0.8, test: 'share' },
      comparisons: [],
      share: { hits: 7, n: 8, interval: [0.52, 0.98] },
      adjustedP: null,
      status: 'inconclusive',
      atRegistration: { rule: 1, status: 'inconclusive', reason: '7 of 8 runs' },
      reason: '7 of 8 runs',
      runs: [0.2, 0.4].map(known => ({
        ...{ arm: 'new', start: 'a', seed: 1, value: 1 },
        details: { rise: 0.001, known, lastStep: 100 * known },
      })),
    },
  ],
  controls: [
    {
      kind: 'random-reward',
      arm: 'chance',
      outcome: 'passed',
      above: statistics(0.3),
      gain: statistics(-0.2),
    },
  ],
  absentControls: [{ kind: 'flipped-verdicts', reason: 'no time | no need' }],
  arms: [{ arm: 'new', summary: 'the method', runs: 8, planned: 8, steps: 10, tokens: 1234.5, seconds: 61 }],
  runs: { done: 24, planned: 24, seconds: 1464 },
} as unknown as PaperResult

describe('summary of a paper', () => {
  const text = paperSummary(result)

  it('has a row for every comparison, as the report has', () => {
    expect(text).toContain(
      '| P-1; New \\| better. | inconclusive; not reproduced by rule 1, at registration | new − old: 60.0% / 50.0%; differs between cold starts: a +14.0, b +6.0 | +10.0; +9.0 to +12.0 | .0078 | – | 8 | 1.0000 |',
    )
    expect(text).toContain('| P-1 |  | new − older, at equal tokens: – | – | – | – | 0 |  |')
    expect(text).toContain(
      '| P-1 |  | new − third: 50.1% / 50.0%; differs between cold starts: a +4.1, b −3.9 | +0.1; −0.9 to +2.1 | .9000 | 2.5 | 8 |  |',
    )
    expect(text).toContain('share of runs, at least 80.0% | 7 of 8; 52.0% to 98.0% |')
  })

  it('says why a claim was not reproduced, and what has to be known beside the values', () => {
    expect(text).toContain('### P-1: inconclusive: new − third: the interval includes 0')
    expect(text).toContain(
      '- new − third: +0.1, −0.9 to +2.1. Trimmed mean +0.1 [+0.2, +1.1], which says otherwise than the mean: a few runs make it.',
    )
    expect(text).toContain('p .0078, by itself corrected .0156; reproduced')
    expect(text).toContain(
      'new: peak above the first value by 0.001; share of steps with a value 20.0% to 40.0%; last step with one 20 to 40.',
    )
    expect(text).toContain('- new: 100.0%, 100.0% to 100.0%')
  })

  it('tells controls, absent ones, and what was cut', () => {
    expect(text).toContain(
      '| random-reward; chance | passed | +30.0; +29.0 to +32.0 | −20.0; −21.0 to −18.0 | 8 |',
    )
    expect(text).toContain('no time \\| no need')
    expect(text).toContain('- Ten seeds.')
    expect(text).toContain('registered 2026-01-02 03:04 · as abcdef0123456789')
  })

  it('has judge calls where an arm had a judge', () => {
    expect(text).toContain('| Arm | Runs | Steps | Generated tokens | Time a run |')
    const arms = [...result.arms, { ...result.arms[0], arm: 'judged', judgeCalls: 5888.2 }]
    const judged = paperSummary({ ...result, arms })
    expect(judged).toContain('| new; the method | 8 | 10 | 1,235 | – | 1 min 01 s |')
    expect(judged).toContain('| judged; the method | 8 | 10 | 1,235 | 5,888 | 1 min 01 s |')
  })

  it('keeps bars inside their cells', () => {
    const claims = text.split('\n').filter(line => line.startsWith('| P-'))
    const bars = new Set(claims.map(row => row.match(/(?<!\\)\|/g)!.length))
    expect([...bars]).toEqual([9])
  })
})
