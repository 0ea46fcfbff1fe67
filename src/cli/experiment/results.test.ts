import { expect, it } from 'vitest'
import { analyseClaims } from '../../experiments/analysis/claims.ts'
import { fakeContent, fakeRegistration, fakeRuns } from '../../experiments/fake-paper.fixture.ts'
import type { PaperResult } from '../../experiments/results/paper.ts'
import { resultJson, resultLines } from './results.ts'

const [first] = fakeContent().claims as object[]
const registration = fakeRegistration({
  claims: [
    { ...first, id: 'ITEMS', arms: { a: 'better', b: 'plain' }, test: 'mcnemar' },
    { ...first, id: 'RUNS', arms: { a: 'plain', b: 'better' } },
    { ...first, id: 'SAME', arms: { a: 'plain', b: 'worse' }, direction: 'equal' },
  ],
})

/** Twelve of twenty items are solved by one arm only: McNemar's p is 2 of 2^12. */
const runs = fakeRuns(registration).map(run => ({
  ...run,
  evals: run.evals.map(row => ({
    ...row,
    items: Array.from({ length: 20 }, (_, i) => ({
      id: String(i),
      scores: { accuracy: Number(run.arm === 'better' || i < 8) },
    })),
  })),
}))

it('prints the p of the test that decides, and what would have been detected', () => {
  const lines = resultLines(
    {
      registration,
      runs: { done: 40, planned: 40, seconds: 1 },
      claims: analyseClaims(registration, runs),
      controls: [
        { kind: 'random-reward', arm: 'chance', outcome: 'passed', atRegistration: null, note: 'a note' },
      ],
      blocks: [],
      failed: [],
    } as unknown as PaperResult,
    'report.html',
  ).join('\n')
  expect(lines).toMatch(/better − plain: .*, McNemar p 0\.0005 \(corrected 0\.0015\), 10 pairs: reproduced$/m)
  expect(lines).toMatch(/plain − better: .*, p 0\.0020 .*: not reproduced; detectable 0\.0\d+$/m)
  expect(lines).toContain('control random-reward (chance): passed; a note')
  expect(lines).toMatch(/plain − worse: .*: not reproduced; detectable margin 0\.0\d+$/m)
})

it('prints the mean of each arm over the runs that have a value', () => {
  const [own] = analyseClaims(registration, runs)
  const valued = (arm: string, ...values: (number | null)[]) =>
    values.map((value, i) => ({ ...own.runs[i], arm, value }))
  const result = {
    ...{ registration, runs: { done: 40, planned: 40, seconds: 1 }, controls: [], blocks: [], failed: [] },
    claims: [{ ...own, runs: [...valued('better', 0.7, 0.8, null), ...valued('plain', 0.5)] }],
  } as unknown as PaperResult
  expect(resultLines(result, null)).toContain(
    '    means of score on unseen: better 75.0% (2 runs), plain 50.0% (1 run)',
  )
  expect(resultJson(result, 'results', null).claims[0].means).toEqual([
    { arm: 'better', mean: 0.75, runs: 2 },
    { arm: 'plain', mean: 0.5, runs: 1 },
  ])
})

it('shows apart what is not counted, with why, below what is', () => {
  const found = fakeRegistration({
    claims: ['YES', 'RUNS', 'SAME'].map(id => ({
      ...{ ...first, id },
      arms: id === 'SAME' ? { a: 'plain', b: 'better' } : { a: 'better', b: 'plain' },
    })),
    afterwards: {
      notes: ['The judge knew the answer.'],
      apart: [{ claims: ['RUNS'], is: 'without its contrast', why: 'no arm goes without what is claimed' }],
    },
  })
  const lines = resultLines(
    {
      ...{
        registration: found,
        runs: { done: 40, planned: 40, seconds: 1 },
        claims: analyseClaims(found, runs),
      },
      ...{ controls: [], blocks: [], failed: [] },
    } as unknown as PaperResult,
    null,
  )
  expect(lines[1]).toBe('of 3 claims 1 reproduced, 1 not reproduced; 1 apart, which is not counted')
  const at = lines.indexOf('apart, whose status is not counted:')
  expect(lines.findIndex(line => line.startsWith('  SAME:'))).toBeLessThan(at)
  expect(lines[at + 1]).toMatch(/^ {2}RUNS: reproduced/)
  expect(lines[at + 2]).toBe('    without its contrast: no arm goes without what is claimed')
  expect(lines.at(-1)).toBe('  note: The judge knew the answer.')
})
