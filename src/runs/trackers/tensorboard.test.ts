import { appendFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { evalRow } from '../eval-row.fixture.ts'
import { readEventFiles } from './events.fixture.ts'
import { exportRun } from './export.ts'
import { CREATED_MS, metricsRow, type TrackedRunFixture, trackedRun } from './tracked-run.fixture.ts'

let tracked: TrackedRunFixture
let logs: string
beforeEach(() => {
  tracked = trackedRun()
  logs = join(tracked.dir, '..', 'logs')
})
afterEach(() => tracked.remove())

const files = () => readEventFiles(join(logs, 'tiny'))
const points = () =>
  files().flatMap(({ scalars }) => scalars.map(({ step, tag, value }) => [step, tag, value]))
const bytes = () =>
  readdirSync(join(logs, 'tiny')).map(name => [name, readFileSync(join(logs, 'tiny', name)).toString('hex')])
const write = () => exportRun(tracked.dir, { kind: 'tensorboard', folder: logs })

const START = [
  [0, 'eval/real/accuracy', 0.25],
  [0, 'eval/real/accuracy/low', 0.125],
  [0, 'eval/real/accuracy/high', 0.5],
]
const step = (n: number, reward = n / 8) => [
  [n, 'reward', reward],
  [n, 'criteria/C1', n / 4],
  [n, 'time/total', 2],
]

describe("TensorBoard's files", () => {
  it('hold every metric at its step, in the order of the steps; those without a value are left out', async () => {
    tracked.train(1, 2)
    expect(await write()).toMatchObject({ rows: 4, sent: 4, replaced: false })
    expect(points()).toEqual([...START, ...step(1), ...step(2), [2, 'eval/real/accuracy', 0.75]])
    const [{ name, version, texts, scalars }] = files()
    expect(name).toMatch(/^events\.out\.tfevents\.1772366400\.gradus-[0-9a-f]{8}\.1$/)
    expect(version).toBe('brain.Event:2')
    expect(texts['settings/text_summary']).toContain('| optimizer.learningRate | 0.5 |')
    expect(texts['settings/text_summary']).toContain('| note | a\\|b |')
    // The beginning of the run, and two seconds a step.
    expect(scalars.map(({ wallTimeS }) => wallTimeS - CREATED_MS / 1000)).toEqual([
      0, 0, 0, 2, 2, 2, 4, 4, 4, 4,
    ])
  })

  it('are the same however often they are written, and grow with the run', async () => {
    tracked.train(1, 2)
    await write()
    const before = bytes()
    await write()
    expect(bytes()).toEqual(before)
    tracked.train(3, 3)
    await write()
    expect(bytes()[0][0]).toBe(before[0][0])
    expect(bytes()[0][1].startsWith(before[0][1])).toBe(true)
    expect(points().filter(([, tag]) => tag === 'reward')).toEqual([1, 2, 3].map(n => [n, 'reward', n / 8]))
  })

  it('have each step once where steps were made again, as a file of another name', async () => {
    tracked.train(1, 4)
    await write()
    tracked.write(run => run.truncateAfter(2))
    await write()
    expect(files()).toHaveLength(1)
    expect(files()[0].name).toMatch(/\.2$/)
    expect(points()).toEqual([...START, ...step(1), ...step(2)])
    tracked.train(3, 3, { reward: 0.5 })
    await write()
    expect(files()[0].name).toMatch(/\.2$/)
    expect(points()).toEqual([
      ...START,
      ...step(1),
      ...step(2),
      ...step(3, 0.5),
      [3, 'eval/real/accuracy', 0.75],
    ])
    tracked.write(run => run.truncateAfter(2))
    tracked.train(3, 3, { reward: 0.25 })
    await write()
    expect(files()).toHaveLength(1)
    expect(points().filter(([n, tag]) => n === 3 && tag === 'reward')).toEqual([[3, 'reward', 0.25]])
  })

  it('are mended where a kill cut a record, or something else stands in them', async () => {
    tracked.train(1, 3)
    await write()
    const whole = bytes()[0][1]
    const path = () => join(logs, 'tiny', readdirSync(join(logs, 'tiny'))[0])
    for (const cut of [0, 5, 100, whole.length / 2 - 3]) {
      truncateSync(path(), cut)
      await write()
      expect(bytes()[0][1]).toBe(whole)
    }
    appendFileSync(path(), 'not of ours')
    await write()
    expect(bytes()[0][1]).toBe(whole)
  })

  it('hold metrics that 32 bits do not', async () => {
    tracked.train(1, 1, { reward: 1e39, gradNorm: -1e300 })
    await write()
    expect(points()).toEqual(
      expect.arrayContaining([
        [1, 'reward', Number.POSITIVE_INFINITY],
        [1, 'gradNorm', Number.NEGATIVE_INFINITY],
      ]),
    )
  })

  it('of another run stay as they are', async () => {
    mkdirSync(join(logs, 'tiny'), { recursive: true })
    writeFileSync(join(logs, 'tiny', 'events.out.tfevents.1.gradus-00000000.1'), '')
    await expect(write()).rejects.toThrow('expected a folder of this run alone')
    expect(readdirSync(join(logs, 'tiny'))).toEqual(['events.out.tfevents.1.gradus-00000000.1'])
  })

  it('have every evaluation of a step, also of one set twice', async () => {
    tracked.write(run => run.appendMetrics(metricsRow(1)))
    const rows = [
      evalRow(0.5, { step: 1 }),
      evalRow(0.625, { step: 1 }),
      evalRow(1, {
        step: 1,
        set: 'other',
        figures: { words: 3 },
        bySource: { a: { n: 1, scores: { x: { value: 2 } } } },
      }),
    ]
    tracked.write(run => run.appendEvals(rows))
    await write()
    expect(points().slice(6)).toEqual([
      [1, 'eval/real/accuracy', 0.5],
      [1, 'eval/real/accuracy', 0.625],
      [1, 'eval/other/accuracy', 1],
      [1, 'eval/other/words', 3],
      [1, 'eval/other/a/x', 2],
    ])
  })
})
