import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evalRow, evalRowOf } from '../../runs/eval-row.fixture.ts'
import { RunFolder } from '../../runs/index.ts'
import { loadReportData } from '../../runs/report/data.ts'
import { buildFakeRun } from '../../runs/report/fake-run.fixture.ts'
import { renderReport } from '../../runs/report/report.ts'
import { evalLine, formatSummary, stepTime, summarise, summaryJson } from './summary.ts'

describe('the summary of a run', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gradus-summary-'))
    buildFakeRun(join(folder, 'run'), { steps: 20 })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('tells what each criterion gained or lost, and names the optimisation tax', () => {
    const text = formatSummary(summarise(join(folder, 'run')))
    expect(text).toMatch(/\nC2 step validity +\d\d\.\d% +9\d\.\d% +\+1\d\.\d; \+1\d\.\d to \+\d\d\.\d\n/)
    // Once; what else test sets have stands in the report.
    expect(text.match(/C2 step validity/g)).toHaveLength(1)
    expect(text).toMatch(/\nC4 premise use; optimisation tax .*% +−\d\.\d; −\d\.\d to −\d\.\d\n/)
    expect(text).not.toMatch(/\nC5 .*optimisation tax/)
    expect(text).toMatch(/After 20 steps +\d\d\.\d%; \d\d\.\d to \d\d\.\d% /)
  })

  it('counts as stages only what makes up a step: no calls of a judge beside it', () => {
    const calls = { judgeCalls: 40, judgeCallCount: 9, verifierCallCount: 64, verifierCachedShare: 0.5 }
    const time = { sample: 2, grade: 1, gradeBusy: 3, ...calls, verifierCall: 0.5, update: 1, total: 5 }
    const { total, stages } = stepTime([{ step: 1, time }])!
    expect(total).toBe(5)
    expect(Object.keys(stages)).toEqual(['sample', 'grade', 'update', 'rest'])
    expect(stages.rest).toEqual({ seconds: 1, share: 0.2 })
  })

  it('compares over the problems of both evaluations where the first had fewer', () => {
    const run = RunFolder.create(join(folder, 'grown'), { config: {} })
    run.appendEvals([evalRowOf([0, 0]), evalRowOf([1, 1, 0, 0], { step: 9 })])
    run.close()
    const text = formatSummary(summarise(run.dir))
    expect(text).toMatch(/Before .* 2\n/)
    expect(text).toMatch(/After 9 steps .* 4$/m)
    expect(text).toContain('answers right 0.0% → 100.0%, +100.0 points')
    expect(text).toContain('2 problems).')
  })

  it('fits a terminal whatever was trained on: what changed most of hundreds of criteria, and three sets', () => {
    const run = RunFolder.create(join(folder, 'many'), { config: {} })
    const named = (of: (i: number) => number) =>
      Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`c${i}`, of(i)]))
    for (const [step, gain] of [0, 0.5].entries())
      for (const set of ['a', 'b', 'c', 'd', 'e'])
        run.appendEvals([
          evalRowOf([0, step], {
            step,
            set,
            criteria: named(i => 0.1 + (i === 77 ? gain : i === 5 ? gain / 5 : 0)),
          }),
        ])
    run.close()
    const text = formatSummary(summarise(run.dir))
    expect(text.split('\n').length).toBeLessThan(60)
    expect(text).toMatch(/\nc77 +10\.0% +60\.0% +\+50\.0\n/)
    expect(text).toMatch(/\nc5 +10\.0% +20\.0% +\+10\.0\n/)
    expect(text).toContain('284 more, which changed no more.')
    expect(text).toContain('2 more test sets.')
  })

  it('is empty of a run that has nothing yet, and has no table without rows', () => {
    const run = RunFolder.create(join(folder, 'empty'), { config: {} })
    expect(formatSummary(summarise(run.dir))).toBe('')
    run.appendEvals([evalRowOf([0], { criteria: {} }), evalRowOf([1], { step: 1, criteria: { a: null } })])
    run.close()
    expect(formatSummary(summarise(run.dir))).not.toContain('Criterion')
    expect(stepTime([{ step: 1, time: { sample: 0, total: 0 } }])).toBeNull()
  })

  it('says where graders failed on some verdicts', () => {
    const run = RunFolder.create(join(folder, 'missing'), { config: {} })
    run.appendEvals([
      evalRowOf([0, 0], { judgeNullRate: 0 }),
      evalRowOf([1, 1], { step: 9, judgeNullRate: 0.0312 }),
    ])
    run.close()
    const missing = 'Graders failed on some verdicts: after 9 steps 3.1% of verdicts missing.'
    expect(formatSummary(summarise(run.dir))).toContain(missing)
    expect(renderReport(loadReportData(run.dir))).toContain(missing)
  })

  it('has the balance over labels for machines', () => {
    const { sets } = summaryJson(summarise(join(folder, 'run')))
    expect(sets[0].after?.balance).toMatchObject({ trueBias: 0.03 })
    expect(sets[0].after).not.toHaveProperty('items')
  })
})

it('an evaluation in a line says how many verdicts it lacks', () => {
  const line = (judgeNullRate?: number) => evalLine(evalRow(0.884, { step: 12, n: 16, judgeNullRate }))
  expect(line()).toBe('step 12, real: answers right 88.4% (16 problems)')
  expect(line(0)).toBe(line())
  expect(line(0.0312)).toBe('step 12, real: answers right 88.4% (16 problems, 3.1% of verdicts missing)')
  expect(line(0.0001)).toContain('(16 problems, less than 0.1% of verdicts missing)')
})
