/** @file A small run on disk, for tests of trackers. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evalRow } from '../eval-row.fixture.ts'
import type { MetricsRow } from '../rows.ts'
import { RunFolder } from '../run-folder.ts'

const CREATED = '2026-03-01T12:00:00.000Z'
export const CREATED_MS = Date.parse(CREATED)

/** Two seconds a step; `reward` is step / 8, which 32 bits hold. */
export const metricsRow = (step: number, more: Partial<MetricsRow> = {}): MetricsRow => ({
  step,
  reward: step / 8,
  criteria: { C1: step / 4, C2: null },
  time: { total: 2 },
  ...more,
})

export interface TrackedRunFixture {
  dir: string
  /** Opens the run, does something with it, and gives the lock back. */
  write(work: (run: RunFolder) => void): void
  /** The steps of a training, with an evaluation at the end. */
  train(from: number, to: number, more?: Partial<MetricsRow>): void
  /** Steps made again: what was recorded from there on goes. */
  again(from: number, to: number, more?: Partial<MetricsRow>): void
  remove(): void
}

/** A run of the name `tiny`, evaluated before its first step. */
export const trackedRun = (): TrackedRunFixture => {
  const root = mkdtempSync(join(tmpdir(), 'gradus-trackers-'))
  const dir = join(root, 'tiny')
  const created = RunFolder.create(dir, {
    config: { steps: 8, optimizer: { learningRate: 0.5 }, note: 'a|b', sets: [1, 2], from: null },
    createdAt: CREATED,
    recipe: 'rit',
    seed: 3,
    steps: 8,
  })
  created.appendEvals([evalRow(0.25, { scores: { accuracy: { value: 0.25, interval: [0.125, 0.5] } } })])
  created.close()
  const write = (work: (run: RunFolder) => void) => {
    const run = RunFolder.open(dir)
    try {
      work(run)
    } finally {
      run.close()
    }
  }
  const train = (from: number, to: number, more?: Partial<MetricsRow>) =>
    write(run => {
      for (let step = from; step <= to; step++) run.appendMetrics(metricsRow(step, more))
      run.appendEvals([evalRow(0.75, { step: to })])
    })
  return {
    dir,
    write,
    train,
    again: (from, to, more) => {
      write(run => run.truncateAfter(from - 1))
      train(from, to, more)
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
