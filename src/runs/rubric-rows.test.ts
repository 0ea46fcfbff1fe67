import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NumericError } from '../util/errors.ts'
import { examineRun } from './check-run.ts'
import { readNewRows, readRubricRows } from './readers.ts'
import { loadReportData } from './report/data.ts'
import { buildFakeRun } from './report/fake-run.fixture.ts'
import { part } from './report/page.ts'
import { PageBody } from './report/parts/page.tsx'
import { renderReport, writeReport } from './report/report.ts'
import { rubricCharts, rubricLifetimes, rubricsSection } from './report/rubrics.ts'
import { runPage } from './report/run-page.ts'
import { fakeRubricRows, rubricRow, rubricStatus } from './rubric-row.fixture.ts'
import { RunFolder } from './run-folder.ts'

let root: string
let dir: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gradus-rubric-rows-'))
  dir = join(root, 'run')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('rubrics.jsonl', () => {
  it('is appended, read back, followed, and cut back to the checkpoint at a resume', async () => {
    const run = RunFolder.create(dir, { config: {} })
    const save = (step: number) => run.writeCheckpoint({ step, configHash: 'h', rng: {} }, () => {})
    run.appendMetrics({ step: 1, reward: 1 })
    run.appendRubrics([rubricRow(1), rubricRow(1, { question: 'q2' })])
    await save(1)
    run.appendRubrics([])
    run.appendMetrics({ step: 2, reward: 1 })
    run.appendRubrics([rubricRow(2)])
    run.close()
    expect(readRubricRows(dir)).toHaveLength(3)
    const { rows, position } = readNewRows(dir, 'rubrics')
    expect(rows.map(({ step }) => step)).toEqual([1, 1, 2])
    const before = readFileSync(join(dir, 'rubrics.jsonl'), 'utf8').split('\n').slice(0, 2).join('\n')
    // Killed in the middle of a row.
    appendFileSync(join(dir, 'rubrics.jsonl'), '{"step":3,"que')
    const again = RunFolder.open(dir)
    expect(again.resume('h').step).toBe(1)
    expect(readFileSync(join(dir, 'rubrics.jsonl'), 'utf8')).toBe(`${before}\n`)
    expect(readNewRows(dir, 'rubrics', position).restarted).toBe(true)
    again.appendRubrics([rubricRow(2)])
    again.close()
    expect(readRubricRows(dir).map(({ step }) => step)).toEqual([1, 1, 2])
    expect(examineRun(dir)).toMatchObject({ whole: true })
  })

  it('that was changed speaks against the checkpoint after it', async () => {
    const run = RunFolder.create(dir, { config: {} })
    run.appendMetrics({ step: 1, reward: 1 })
    run.appendRubrics([rubricRow(1), rubricRow(1, { question: 'q2' })])
    await run.writeCheckpoint({ step: 1, configHash: 'h', rng: {} }, () => {})
    run.close()
    rmSync(join(dir, 'rubrics.jsonl'))
    const { examined, whole } = examineRun(dir)
    expect(whole).toBe(false)
    expect(examined.find(({ name }) => name === 'rubrics.jsonl')?.problems[0]).toMatch(/expected 2 rows/)
    const opened = RunFolder.open(dir)
    expect(() => opened.resume('h')).toThrow(/rubrics\.jsonl: expected 2 rows/)
    opened.close()
  })

  it('is missed by nobody where no rubrics evolve', async () => {
    const run = RunFolder.create(dir, { config: {} })
    run.appendMetrics({ step: 1, reward: 1 })
    await run.writeCheckpoint({ step: 1, configHash: 'h', rng: {} }, () => {})
    run.close()
    expect(existsSync(join(dir, 'rubrics.jsonl'))).toBe(false)
    expect(readRubricRows(dir)).toEqual([])
    expect(examineRun(dir).examined.map(({ name }) => name)).not.toContain('rubrics.jsonl')
    expect(renderReport(loadReportData(dir))).not.toContain('Rubrics that evolve')
  })

  it('takes no number that is none', () => {
    const run = RunFolder.create(dir, { config: {} })
    const bad = rubricRow(1, { rubrics: [rubricStatus({ variance: Number.NaN })] })
    expect(() => run.appendRubrics([bad])).toThrow(NumericError)
    expect(() => run.appendRubrics([bad])).toThrow(/rubrics of q1, step 1: rubrics\.0\.variance is NaN/)
    run.close()
  })
})

describe('what a report says of them', () => {
  const born = (id: string, step: number, changes = {}) =>
    rubricStatus({ id, since: step, born: true, description: `about ${id}`, ...changes })

  const rows = [
    rubricRow(1, {
      rubrics: [
        rubricStatus({ id: 'given.g', since: null, stage: 4 }),
        born('1.1.1', 1, { variance: 0.25, score: 0.25 }),
        born('1.2.1', 1, { stage: 2, fate: 'pruned' }),
      ],
      refused: [{ stage: 3, title: 't', description: 'd', rule: 'duplicate', reason: 'r' }],
    }),
    rubricRow(2, { question: 'q2', rubrics: [born('2.1.1', 2)], generationFailure: 'no list' }),
    rubricRow(4, {
      rubrics: [
        rubricStatus({ id: '1.1.1', fate: 'inactive', variance: 0, score: 0.75 }),
        born('4.4.1', 4, { stage: 4 }),
      ],
      refused: [{ stage: null, title: '', description: '', rule: 'malformed', reason: 'r' }],
    }),
  ]

  it('is how many were born and dropped in each step, and how many live', () => {
    const [changes, alive] = rubricCharts(rows)
    expect(changes.x).toEqual([1, 2, 4])
    expect(changes.series.map(({ label, values }) => [label.split(':')[0], values])).toEqual([
      ['added', [2, 1, 1]],
      ['dropped', [1, 0, 0]],
      ['set aside', [0, 0, 1]],
      ['refused', [1, 0, 1]],
    ])
    expect(alive.series.map(({ label, values }) => [label, values])).toEqual([
      ['plan', [1, 2, 1]],
      ['research', [0, 0, 0]],
      ['review', [0, 0, 0]],
      ['answer', [0, 0, 1]],
    ])
    expect(rubricCharts([])).toEqual([])
    const refused = [{ stage: null, title: 'has b', description: '2 points', rule: 'anchors', reason: 'why' }]
    const anew = [{ ...rows[0], rubrics: [], refused }]
    expect([rubricCharts(anew), rubricsSection(anew)?.about]).toEqual([[], 'Proposals refused: anchors 1.'])
    expect(rubricsSection(rows)?.about).toBe(
      '4 rubrics added for 2 questions: 1 dropped because others separated the rollouts better, 1 set aside because no two rollouts differed on them. Proposals refused: duplicate 1, malformed 1. Nothing could be proposed 1 time: the judge failed.',
    )
  })

  it('is of all questions: where all lived equally long, who told the rollouts apart best', () => {
    const course = Array.from({ length: 30 }, (_, q) => {
      const question = `q${q}`
      const own = { id: `${q + 1}.1.1`, since: q + 1, variance: q / 100 }
      return [
        rubricRow(q + 1, { question, rubrics: [rubricStatus({ ...own, born: true })] }),
        rubricRow(q + 4, { question, rubrics: [rubricStatus(own)] }),
      ]
    })
    const [first, second] = rubricLifetimes(course.flat())
    expect([first.question, second.question]).toEqual(['q29', 'q28'])
    const unknown = rubricRow(1, { question: 'new', rubrics: [rubricStatus({ variance: null, born: true })] })
    expect(rubricLifetimes([...course.flat(), unknown]).at(-1)?.question).toBe('new')
  })

  it('is who lived longest, with means over its life; never those that were given', () => {
    const lifetimes = rubricLifetimes(rows)
    expect(lifetimes.map(({ title, since, last }) => [title, since, last])).toHaveLength(4)
    expect(lifetimes[0]).toMatchObject({
      ...{
        question: 'q1',
        stage: 1,
        sign: 'positive',
        title: 'both keys',
        description: 'about 1.1.1',
        weight: 2,
      },
      ...{ since: 1, last: 4, times: 2, score: 0.5, variance: 0.125, fate: 'inactive' },
    })
    expect(rubricLifetimes([])).toEqual([])
    // A journal of changes alone has no row of one that stays.
    const changes = [rubricRow(1, { rubrics: [born('1.1.1', 1)] }), rubricRow(9, { rubrics: [] })]
    expect(rubricLifetimes(changes)[0]).toMatchObject({ since: 1, last: 9, times: 1 })
  })

  it('is text of strangers, which stays text', () => {
    const evil = rubricRow(1, {
      question: '<b>q</b>',
      rubrics: [born('1.1.1', 1, { title: '</td><script>alert(1)</script>', description: '<img src=x>' })],
    })
    const info = { id: 'run', createdAt: '', config: {}, environment: {} }
    const rows = { metrics: [], evals: [], rollouts: [], events: [], rubrics: [evil] }
    const text = part(PageBody, { page: runPage({ info, status: 'running', ...rows }) })
    expect(text).not.toMatch(/<script|<img|<b>q/)
    expect(text).toContain('&lt;script>')
  })

  it('is a section of the page', () => {
    buildFakeRun(dir, { steps: 12 })
    const run = RunFolder.open(dir)
    run.appendRubrics(fakeRubricRows(12, 3))
    run.close()
    const page = readFileSync(writeReport(dir), 'utf8')
    for (const text of [
      'Rubrics that evolve',
      'id="chart-rubric-changes"',
      'id="chart-rubric-active"',
      'Longest lived',
    ])
      expect(page).toContain(text)
  })
})
