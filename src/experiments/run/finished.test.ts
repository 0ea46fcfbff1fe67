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
  { id: 'x', accuracy: x, criteria: { one: 1 } },
  ...(y === undefined ? [] : [{ id: 'y', accuracy: y, criteria: { one: 1 } }]),
]

/** Rows of a run as earlier versions wrote them, and its record. */
const leave = (job: Job, finished: boolean) => {
  const dir = runDir(job)
  mkdirSync(dir, { recursive: true })
  const evals = [
    { step: 0, set: 'unseen', n: 1, accuracy: 0.5, items: items(0.5) },
    { step: 2, set: 'unseen', n: 1, accuracy: 0.7, items: items(0.7) },
    { step: 4, set: 'unseen', n: 2, accuracy: 0.6, items: items(0.8, 0.4) },
  ]
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
