import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatSummary, summarise } from '../src/cli/train/summary.ts'
import { metricNamed } from '../src/experiments/metrics/index.ts'
import { readEvals, readMetrics, readRollouts } from '../src/runs/readers.ts'
import { compareRuns } from '../src/runs/report/compare.ts'
import { loadReportData } from '../src/runs/report/data.ts'
import { renderReport } from '../src/runs/report/report.ts'

/** Runs of two steps that earlier code left, untouched but for what is slim: no checkpoints, few settings. */
const FORMER = join(import.meta.dirname, 'former-runs')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-former-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The same run as if code of today had written it. */
const written = (name: string): string => {
  const dir = join(folder, name)
  cpSync(join(FORMER, name), dir, { recursive: true })
  const lines = (rows: readonly object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')
  writeFileSync(join(dir, 'evals.jsonl'), lines(readEvals(dir)))
  writeFileSync(join(dir, 'rollouts.jsonl'), lines(readRollouts(dir)))
  return dir
}

const metricOf = (dir: string, name: string, options: Record<string, unknown>) => {
  const { metric, options: checked } = metricNamed({ name, options }, 'test')
  const metrics = readMetrics(dir)
  const run = { arm: 'a', start: 's', seed: '1', steps: 2, metrics, evals: readEvals(dir) }
  return metric.value({ ...run, probes: {}, seconds: 1 }, checked)
}

/** Evaluations as their files say, without any reader. */
const linesOf = (name: string): Record<string, unknown>[] =>
  readFileSync(join(FORMER, name, 'evals.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

describe.each(['logic', 'packing'])('a run that earlier code left (%s)', name => {
  const former = join(FORMER, name)

  it('is the fixture that it should be', () => {
    const [first] = linesOf(name)
    expect(first).toHaveProperty('accuracy')
    expect(first).not.toHaveProperty('scores')
  })

  it('reads as if it were of today, wherever runs are read', () => {
    const today = written(name)
    expect(readEvals(today)).toEqual(readEvals(former))
    expect(readRollouts(today)).toEqual(readRollouts(former))
    expect(renderReport(loadReportData(former))).toBe(renderReport(loadReportData(today)))
    expect(formatSummary(summarise(former))).toBe(formatSummary(summarise(today)))
    const { json } = compareRuns(former, today)
    expect(json.evals.length).toBeGreaterThan(1)
    for (const { a, b, paired } of json.evals) {
      expect(a).toBe(b)
      expect(paired?.difference ?? 0).toBe(0)
    }
  })

  it('has for experiments the figures that its lines have', () => {
    const set = linesOf(name)[0].set as string
    const last = linesOf(name).findLast(row => row.set === set)!
    const scores = ['accuracy', 'correctAndValid', 'correctAndProved', 'validProofs', 'wellFormed']
    for (const score of [...scores, 'greedyAccuracy', 'greedyCorrectAndValid'])
      expect(metricOf(former, 'score', { set, score }), score).toBe(last[score] ?? null)
    expect(metricOf(former, 'score', {})).toBe(last.accuracy)
  })
})

it('its headline is of what was proved, or of the rubric', () => {
  const [logic, packing] = ['logic', 'packing'].map(name => summarise(join(FORMER, name)))
  expect(formatSummary(logic)).toMatch(/step 0 +step 2\n {2}correct and proved .*\n {2}answers right /)
  expect(formatSummary(packing)).toMatch(/step 0 +step 2\n {2}rubric score .*\n {2}well formed /)
})
