import { describe, expect, it } from 'vitest'
import type { PairStatistics } from '../analysis/analysis.ts'
import type { PaperResult } from '../results/paper.ts'
import { paperSummary } from './summary.ts'

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
  registered: { registeredAt: '2026-01-02T03:04:05.000Z', rule: 1 },
  rule: 3,
  blocks: [],
  claims: [
    {
      claim: { id: 'P-1', statement: 'New | better.', metric, reference: 0 },
      comparisons: [
        {
          a: 'new',
          b: 'old',
          equal: 'steps',
          statistics: statistics(0.1),
          p: 0.0078,
          adjustedP: 0.0156,
          status: 'reproduced',
        },
        {
          a: 'new',
          b: 'older',
          equal: 'tokens',
          statistics: null,
          p: 1,
          adjustedP: 1,
          status: 'inconclusive',
        },
        {
          a: 'new',
          b: 'third',
          equal: 'steps',
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
      claim: { id: 'P-2', statement: 'Often.', metric, reference: 0, atLeast: 0.8 },
      comparisons: [],
      share: { hits: 7, n: 8, interval: [0.52, 0.98] },
      adjustedP: null,
      status: 'inconclusive',
      atRegistration: { rule: 1, status: 'inconclusive', reason: '7 of 8 runs' },
      reason: '7 of 8 runs',
      runs: [0.2, 0.4].map(known => ({ arm: 'new', details: { rise: 0.001, known, lastStep: 100 * known } })),
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

  it('has a row for every comparison, with what the report has', () => {
    expect(text).toContain(
      '| P-1 | all 3 |  |  |  |  |  | 1.0000 | 1.0000 | **inconclusive** | not reproduced |',
    )
    expect(text).toContain(
      '|  | new − old | 60.0% / 50.0% | +10.0 [+9.0, +12.0] | +10.0 [+10.1, +11.0] | – | 8 | .0078 | .0156 | reproduced |  |',
    )
    expect(text).toContain(
      '|  | new − older, at equal tokens | – | – | – | – | 0 | 1.0000 | 1.0000 | inconclusive |  |',
    )
    expect(text).toContain(
      '|  | new − third | 50.1% / 50.0% | +0.1 [−0.9, +2.1] | +0.1 [+0.2, +1.1] | 2.5 | 8 | .9000 | 1.0000 | inconclusive |  |',
    )
    expect(text).toContain('| status (rule 3) | at registration (rule 1) |')
    expect(text).toContain('share of runs, at least 80.0%')
    expect(text).toContain('7 of 8 [52.0%, 98.0%]')
  })

  it('says why a claim was not reproduced, and what has to be known beside the figures', () => {
    expect(text).toContain('- **P-1**: new − third: the interval includes 0.')
    expect(text).toContain(
      '- **P-1**: new − third is +0.1 [+0.2, +1.1] by the trimmed mean, which says otherwise than the mean',
    )
    expect(text).toContain('- **P-1**: new − old differs between cold starts: a +14.0, b +6.0.')
    expect(text).toContain(
      '- **P-2**: new: peak above the first value by 0.001; share of steps with a value 20.0% to 40.0%; last step with one 20 to 40.',
    )
  })

  it('tells controls, absent ones, and what was cut', () => {
    expect(text).toContain(
      '| random-reward | chance | +30.0 [+29.0, +32.0] | −20.0 [−21.0, −18.0] | **passed** |',
    )
    expect(text).toContain('no time \\| no need')
    expect(text).toContain('- Ten seeds.')
    expect(text).toContain('registered 2026-01-02 03:04 as `abcdef0123456789`')
  })

  it('has judge calls where an arm had a judge', () => {
    expect(text).toContain('| arm | what | runs | tokens a run | time a run |')
    const arms = [...result.arms, { ...result.arms[0], arm: 'judged', judgeCalls: 5888.2 }]
    const judged = paperSummary({ ...result, arms })
    expect(judged).toContain('| new | the method | 8 | 1,235 | – | 1 min 01 s |')
    expect(judged).toContain('| judged | the method | 8 | 1,235 | 5,888 | 1 min 01 s |')
  })

  it('keeps bars inside their cells', () => {
    const rows = text.split('\n').filter(line => line.startsWith('| '))
    const widths = new Set(rows.map(row => row.match(/(?<!\\)\|/g)!.length))
    expect(Math.max(...widths)).toBe(12)
  })
})
