import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exportRun } from './export.ts'
import { FakeTrackio } from './servers.fixture.ts'
import { type TrackedRunFixture, trackedRun } from './tracked-run.fixture.ts'

let server: FakeTrackio
let tracked: TrackedRunFixture
beforeEach(async () => {
  server = await new FakeTrackio().start()
  tracked = trackedRun()
})
afterEach(async () => {
  await server.stop()
  tracked.remove()
})

const deliver = (more = {}) =>
  exportRun(
    tracked.dir,
    { kind: 'trackio', uri: server.url, project: 'tests' },
    { env: { TRACKIO_WRITE_TOKEN: 'secret' }, firstWaitMs: 1, ...more },
  )
const rewards = () =>
  server.logs.flatMap(({ step, metrics: { reward } }) => (reward === undefined ? [] : [[step, reward]]))

describe('a run on trackio', () => {
  it('has its settings and every row once, however often it is delivered', async () => {
    tracked.train(1, 2)
    expect(await deliver()).toMatchObject({ rows: 4, sent: 4 })
    expect(server.logs.map(({ step, metrics }) => [step, metrics])).toEqual([
      [0, { 'eval/real/accuracy': 0.25, 'eval/real/accuracy/low': 0.125, 'eval/real/accuracy/high': 0.5 }],
      [1, { reward: 0.125, 'criteria/C1': 0.25, 'time/total': 2 }],
      [2, { reward: 0.25, 'criteria/C1': 0.5, 'time/total': 2 }],
      [2, { 'eval/real/accuracy': 0.75 }],
    ])
    expect(server.logs[0]).toMatchObject({
      project: 'tests',
      run: 'tiny',
      config: { 'optimizer.learningRate': '0.5', 'gradus.recipe': 'rit' },
    })
    expect(await deliver()).toMatchObject({ sent: 0 })
    server.next = ['well', 'well', 'silent']
    tracked.train(3, 4)
    await deliver()
    expect(rewards()).toEqual([1, 2, 3, 4].map(n => [n, n / 8]))
  })

  it('has all metrics of a step that was on its way when a kill came, once', async () => {
    tracked.train(1, 2)
    server.next = ['well', 'well', 503]
    await expect(deliver({ tries: 1 })).rejects.toThrow('status 503')
    tracked.again(2, 2, { time: { total: 3 } })
    await deliver()
    expect(
      server.logs.flatMap(({ step, metrics }) => ('reward' in metrics ? [[step, metrics]] : [])),
    ).toEqual([
      [1, { reward: 0.125, 'criteria/C1': 0.25, 'time/total': 2 }],
      [2, { reward: 0.25, 'criteria/C1': 0.5, 'time/total': 3 }],
    ])
  })

  it('is another run when steps have other metrics', async () => {
    tracked.train(1, 2)
    await deliver()
    tracked.again(2, 2, { reward: 1 })
    expect(await deliver()).toMatchObject({ replaced: true })
    const ids = [...new Set(server.logs.map(log => log.run_id))]
    expect(ids).toHaveLength(2)
    expect(server.logs.filter(log => log.run_id === ids[1]).map(({ metrics }) => metrics.reward)).toEqual([
      undefined,
      0.125,
      1,
      undefined,
    ])
  })

  it('survives a page in place of an answer, and loses nothing', async () => {
    tracked.train(1, 1)
    server.next = ['well', 'well', { status: 200, body: '<html>log in</html>' }]
    await deliver()
    expect(rewards()).toEqual([[1, 0.125]])
  })

  it('is refused without the token, and by a server of another version', async () => {
    tracked.train(1, 1)
    await expect(deliver({ env: {} })).rejects.toThrow(/write_token is required.*TRACKIO_WRITE_TOKEN holds/)
    server.apiVersion = 2
    await expect(deliver()).rejects.toThrow('expected version 1 of its API, got 2')
  })
})
