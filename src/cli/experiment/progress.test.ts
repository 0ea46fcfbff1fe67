import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Job } from '../../experiments/plan/jobs.ts'
import { ExperimentProgress, type Watched } from './progress.ts'

let work: string
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'gradus-progress-'))
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(work, { recursive: true, force: true })
})

const job = (id: string): Job => ({
  id,
  kind: 'arm',
  arm: id,
  start: 'a',
  seed: '1',
  training: { recipe: 'ruscarl', settings: [] },
  steps: 40,
  dir: join(work, id),
  needs: null,
  block: 0,
  configHash: 'x',
  pace: 'arm/ruscarl/x',
  evaluations: 0,
})

const trainedUntil = ({ dir }: Job, step: number) => {
  mkdirSync(join(dir, 'run'), { recursive: true })
  writeFileSync(join(dir, 'run', 'metrics.jsonl'), `{"step":${step}}\n`)
}

const watched = (changes: Partial<Watched> = {}): Watched => ({
  estimator: () => () => 600,
  isComplete: () => false,
  missingMetrics: () => [],
  ...changes,
})

it('says every minute where the running ones are, and counts what they have done off the time left', () => {
  const said: string[] = []
  const [one, two, later] = ['one', 'two', 'later'].map(job)
  const progress = new ExperimentProgress(watched(), [one, two, later], 2, text => said.push(text))
  vi.advanceTimersByTime(60_000)
  expect(said).toEqual([])
  progress.events.onStart?.(one, false)
  progress.events.onStart?.(two, true)
  trainedUntil(one, 10)
  vi.advanceTimersByTime(60_000)
  // 600 s each, two at a time: (450 + 600 + 600) / 2.
  expect(said).toEqual([
    'running one',
    'going on with two',
    '[0/3] one at step 10 of 40, two before its first step · about 13 min 45 s left',
  ])
  progress.close()
  vi.advanceTimersByTime(600_000)
  expect(said).toHaveLength(3)
})

it('says once what a finished run lacks, as soon as it is done', () => {
  const said: string[] = []
  const lacking = 'claims[0].metric: no score on unsene in a finished run of one; did you mean unseen?'
  const experiment = watched({ missingMetrics: jobs => (jobs === undefined ? [] : [lacking]) })
  const [one, again] = [job('one'), job('one')]
  const progress = new ExperimentProgress(experiment, [one, again], 1, text => said.push(text))
  progress.events.onDone?.(one, 30)
  progress.events.onDone?.(again, 30)
  progress.close()
  expect(said.filter(text => text.includes(lacking))).toHaveLength(1)
  expect(said[1]).toMatch(/^warning: .*another hash/)
})
