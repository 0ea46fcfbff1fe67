import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evalRowOf } from '../../runs/eval-row.fixture.ts'
import { RunFolder } from '../../runs/index.ts'
import { loadReportData } from '../../runs/report/data.ts'
import { buildFakeRun } from '../../runs/report/fake-run.fixture.ts'
import { renderReport } from '../../runs/report/report.ts'
import { formatSummary, stepTime, summarise, summaryJson } from './summary.ts'

describe('the summary of a run', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gradus-summary-'))
    buildFakeRun(join(folder, 'run'), { steps: 20 })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('tells what each criterion gained or lost, and names the optimisation tax', () => {
    const text = formatSummary(summarise(join(folder, 'run')))
    const lines = text.split('\n').filter(line => /^ {4}C\d /.test(line))
    expect(lines.slice(0, 3).map(line => line.trim().split(/\s+/)[0])).toEqual(['C2', 'C4', 'C5'])
    expect(lines[0]).toMatch(/C2\s+7\d\.\d ->\s+9\d\.\d\s+\+1\d\.\d \[\+1\d\.\d, \+\d\d\.\d\]$/)
    expect(lines[1]).toMatch(
      /C4\s+\d\d\.\d ->\s+\d\d\.\d\s+−\d\.\d \[−\d\.\d, −\d\.\d\] {3}optimisation tax$/,
    )
    expect(lines[2]).not.toContain('tax')
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
    expect(text).toContain('real: 4 problems (2 at step 0)')
    expect(text).toContain('on the 2 problems of both, answers right: 0.0 -> 100.0, +100.0 points')
  })

  it('says where graders failed on some verdicts', () => {
    const run = RunFolder.create(join(folder, 'missing'), { config: {} })
    run.appendEvals([
      evalRowOf([0, 0], { judgeNullRate: 0 }),
      evalRowOf([1, 1], { step: 9, judgeNullRate: 0.0312 }),
    ])
    run.close()
    const missing = '3.1% of verdicts missing at step 9'
    expect(formatSummary(summarise(run.dir))).toContain(`  ${missing}: graders failed on them`)
    expect(renderReport(loadReportData(run.dir))).toContain(
      'Graders failed on some verdicts: after 9 steps 3.1% of verdicts missing.',
    )
  })

  it('has the balance over labels for machines', () => {
    const { sets } = summaryJson(summarise(join(folder, 'run')))
    expect(sets[0].after?.balance).toMatchObject({ trueBias: 0.03 })
    expect(sets[0].after).not.toHaveProperty('items')
  })
})
