import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { evalRow } from '../eval-row.fixture.ts'
import { csvOf } from '../export.ts'
import { listRun } from '../listing.ts'
import { compareMany } from './compare.ts'
import { runMean } from './comparisons.ts'
import { runNames } from './groups.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-many-'))
afterAll(() => rmSync(root, { recursive: true }))

const lines = (rows: readonly object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')

/** A run of two steps with one evaluation. */
const fakeRun = (name: string, seed: number, kl: number, accuracy: number): string => {
  const dir = join(root, name)
  mkdirSync(dir)
  const config = { seed, kl, policy: { threads: seed } }
  writeFileSync(
    join(dir, 'config.json'),
    JSON.stringify(
      {
        id: name,
        recipe: 'fake',
        seed,
        steps: 2,
        createdAt: '2026-01-01T00:00:00Z',
        config,
        environment: {},
      },
      null,
      2,
    ),
  )
  writeFileSync(join(dir, 'metrics.jsonl'), lines([1, 2].map(step => ({ step, reward: accuracy * step }))))
  writeFileSync(join(dir, 'evals.jsonl'), lines([evalRow(accuracy, { step: 2, set: 'test', n: 10 })]))
  return dir
}

const DIRS = [
  fakeRun('a1', 1, 0, 0.4),
  fakeRun('a2', 2, 0, 0.6),
  fakeRun('b1', 1, 0.1, 0.5),
  fakeRun('b2', 2, 0.1, 0.72),
]

describe('many runs', () => {
  it('are groups of those that differ in their seed alone, with means and paired differences', () => {
    const { json, text } = compareMany(DIRS)
    expect(json.groups.map(({ label }) => label)).toEqual(['kl=0', 'kl=0.1'])
    expect(json.settings).toEqual([{ name: 'kl', values: [0, 0.1] }])
    const [{ groups }] = json.scores
    expect(groups[0].mean).toBeCloseTo(0.5)
    expect(groups[0].range).toEqual([0.4, 0.6])
    // Pairs: 0.1 and 0.12, too few for an interval.
    expect(groups[1].differenceToFirst?.difference).toBeCloseTo(0.11)
    expect(groups[1].differenceToFirst?.interval).toBeNull()
    expect(groups[1].differenceToFirst?.over).toBe('2 seeds')
    expect(text).toContain('4 runs in 2 groups')
    expect([[1], [1, 2]].map(values => runMean(values).interval)).toEqual([null, null])
    // Student's t with two degrees of freedom: 4.3027 times the standard error.
    const [low, high] = runMean([0.1, 0.12, 0.14]).interval!
    expect([low, high].map(end => Math.abs(end - 0.12))).toEqual([
      expect.closeTo(4.3027 * (0.02 / Math.sqrt(3)), 4),
      expect.closeTo(4.3027 * (0.02 / Math.sqrt(3)), 4),
    ])
  })

  it('have names that tell them apart', () => {
    expect([...runNames(['x/a/run', 'x/b/run']).values()]).toEqual(['a/run', 'b/run'])
    expect([...runNames(['x/a', 'x/b']).values()]).toEqual(['a', 'b'])
  })

  it('are listed by the ends of their files, a torn one too', () => {
    writeFileSync(join(DIRS[0], 'metrics.jsonl'), `${lines([{ step: 1, reward: 0.25 }])}{"step": 2, "rew`)
    expect(listRun(DIRS[0])).toMatchObject({ step: 1, steps: 2, reward: 0.25, status: 'finished' })
    expect(listRun(DIRS[0]).score).toMatchObject({ set: 'test', name: 'accuracy', value: 0.4, step: 2 })
  })

  it('are tables that a spreadsheet reads, and takes no formula from', () => {
    expect(
      csvOf([
        { run: 'a,b', x: 1 },
        { run: '=1+1', y: null, x: -2 },
      ]),
    ).toBe('run,x,y\r\n"a,b",1,\r\n\'=1+1,-2,\r\n')
  })
})
