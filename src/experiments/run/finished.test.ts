import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fakeRegistration } from '../fake-paper.fixture.ts'
import { beforeTraining } from '../metrics/index.ts'
import { type Job, jobsOf, runDir, workFolders } from '../plan/jobs.ts'
import { finishedRuns } from './finished.ts'
import { readRecord, writeRecord } from './ledger.ts'

let work: string
let jobs: Job[]
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'gradus-finished-'))
  const registration = fakeRegistration({ seeds: [1] })
  jobs = jobsOf(registration, workFolders(work, registration), () => ({ steps: 4 }))
})
afterEach(() => rmSync(work, { recursive: true, force: true }))

const items = (x: number, y?: number) => [
  { id: 'x', scores: { accuracy: x }, criteria: { one: 1 } },
  ...(y === undefined ? [] : [{ id: 'y', scores: { accuracy: y }, criteria: { one: 1 } }]),
]

const evalOf = (step: number, n: number, value: number, ...scores: [number, number?]) => ({
  ...{ step, set: 'unseen', n, primary: 'accuracy', scores: { accuracy: { value } } },
  items: items(...scores),
})

/** Rows of a run, and its record. */
const leave = (job: Job, finished: boolean) => {
  const dir = runDir(job)
  mkdirSync(dir, { recursive: true })
  const evals = [evalOf(0, 1, 0.5, 0.5), evalOf(2, 1, 0.7, 0.7), evalOf(4, 2, 0.6, 0.8, 0.4)]
  const metrics = [1, 2, 3, 4].map(step => ({ step, tokens: 10 }))
  const lines = (rows: readonly object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')
  writeFileSync(join(dir, 'evals.jsonl'), lines(evals))
  writeFileSync(join(dir, 'metrics.jsonl'), lines(metrics))
  writeRecord(job, { ...readRecord(job), finished, seconds: 7 })
}

it('finished runs are read with evaluations in one scale, and items where they are compared', () => {
  const [, first, second] = jobs
  leave(first, true)
  leave(second, false)
  const [run, ...others] = finishedRuns(jobs)
  expect(others).toEqual([])
  expect(run).toMatchObject({ arm: 'better', start: 'a', seed: '1', steps: 4, seconds: 7 })
  // On the easy one of two problems .5 and .7, in the end .8 of .6.
  expect(run.evals.map(({ step, scores, items: kept }) => [step, scores.accuracy.value, kept])).toEqual([
    [0, expect.closeTo(0.3, 12), [{ id: 'x', scores: { accuracy: 0.5 } }]],
    [2, expect.closeTo(0.5, 12), undefined],
    [
      4,
      0.6,
      [
        { id: 'x', scores: { accuracy: 0.8 } },
        { id: 'y', scores: { accuracy: 0.4 } },
      ],
    ],
  ])
  expect(beforeTraining(run).evals[0].scores.accuracy.value).toBeCloseTo(0.3, 12)
})
