import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { evalRow } from '../eval-row.fixture.ts'
import { RunFolder } from '../run-folder.ts'
import { exportRun } from './export.ts'
import { Mlflow, mlflowName } from './mlflow.ts'
import { FakeMlflow, type FakeRun } from './servers.fixture.ts'
import { CREATED_MS, metricsRow, type TrackedRunFixture, trackedRun } from './tracked-run.fixture.ts'
import { TrackerError } from './tracker.ts'

let server: FakeMlflow
let tracked: TrackedRunFixture
beforeEach(async () => {
  server = await new FakeMlflow().start()
  tracked = trackedRun()
})
afterEach(async () => {
  await server.stop()
  tracked.remove()
})

const env = {}
const deliver = (more = {}) =>
  exportRun(
    tracked.dir,
    { kind: 'mlflow', uri: server.url, experiment: 'tests' },
    { env, firstWaitMs: 1, tries: 3, timeoutMs: 2000, ...more },
  )
const rewards = ({ metrics }: FakeRun) =>
  metrics.filter(({ key }) => key === 'reward').map(({ step, value }) => [step, value])
const statePath = () => {
  const [name] = readdirSync(join(tracked.dir, 'trackers'))
  return join(tracked.dir, 'trackers', name)
}

/** Steps made again: other timings, and perhaps other rewards. */
const again = (from: number, to: number, more = {}) =>
  tracked.again(from, to, { time: { total: 3 }, ...more })

describe('a run on MLflow', () => {
  it('has name, settings, metrics at their steps and times, and its end; nothing where there is no value', async () => {
    tracked.train(1, 2)
    expect(await deliver()).toMatchObject({ rows: 4, sent: 4, replaced: false })
    expect([...server.experiments.keys()]).toEqual(['tests'])
    expect(server.runs).toHaveLength(1)
    const [{ name, params, tags, metrics, status }] = server.runs
    expect(name).toBe('tiny')
    expect(params).toMatchObject({ 'optimizer.learningRate': '0.5', sets: '[1,2]', from: 'null' })
    expect(tags).toMatchObject({ 'gradus.recipe': 'rit', 'gradus.seed': '3' })
    expect(status).toBe('KILLED')
    expect(metrics.filter(({ step }) => step === 2)).toEqual([
      { key: 'reward', value: 0.25, timestamp: CREATED_MS + 4000, step: 2 },
      { key: 'criteria/C1', value: 0.5, timestamp: CREATED_MS + 4000, step: 2 },
      { key: 'time/total', value: 2, timestamp: CREATED_MS + 4000, step: 2 },
      { key: 'eval/real/accuracy', value: 0.75, timestamp: CREATED_MS + 4000, step: 2 },
    ])
  })

  it('has nothing twice when it is delivered twice, and what is new when it has grown', async () => {
    tracked.train(1, 2)
    await deliver()
    const { length } = server.runs[0].metrics
    expect(await deliver()).toMatchObject({ rows: 4, sent: 0 })
    expect(server.runs).toHaveLength(1)
    expect(server.runs[0].metrics).toHaveLength(length)
    tracked.train(3, 3)
    expect(await deliver()).toMatchObject({ rows: 6, sent: 2 })
    expect(rewards(server.runs[0])).toEqual([1, 2, 3].map(n => [n, n / 8]))
  })

  it('keeps one value a step when steps are made again with the same metrics', async () => {
    tracked.train(1, 4)
    await deliver()
    again(3, 4)
    tracked.train(5, 5)
    expect(await deliver()).toMatchObject({ sent: 2, replaced: false })
    expect(server.runs).toHaveLength(1)
    expect(rewards(server.runs[0])).toEqual([1, 2, 3, 4, 5].map(n => [n, n / 8]))
  })

  it('is another run when steps are made again with other metrics, and the first one says so', async () => {
    tracked.train(1, 4)
    await deliver()
    again(3, 4, { reward: 0.875 })
    expect(await deliver()).toMatchObject({ replaced: true })
    const [first, second] = server.runs
    expect(first.tags['gradus.replaced']).toContain('a later run')
    expect(rewards(first)).toEqual([1, 2, 3, 4].map(n => [n, n / 8]))
    expect(rewards(second)).toEqual([
      [1, 0.125],
      [2, 0.25],
      [3, 0.875],
      [4, 0.875],
    ])
    expect(await deliver()).toMatchObject({ sent: 0, replaced: false })
    expect(server.runs).toHaveLength(2)
  })

  it('is another run when an evaluation is one of another step now', async () => {
    tracked.train(1, 4)
    await deliver()
    again(3, 5)
    expect(await deliver()).toMatchObject({ rows: 7, sent: 7, replaced: true })
  })

  it('is the same run where an evaluation that is made again asks its judge less', async () => {
    const evaluate = (judgeCalls: number) =>
      tracked.write(run => {
        run.truncateAfter(0)
        run.appendMetrics(metricsRow(1))
        run.appendEvals([evalRow(0.5, { step: 1, judgeCalls })])
      })
    evaluate(16)
    await deliver()
    evaluate(0)
    expect(await deliver()).toMatchObject({ sent: 0, replaced: false })
  })

  it('is another run when the run is begun again in its folder', async () => {
    await deliver()
    tracked.write(run => {
      run.restart({
        ...{ config: { steps: 8, optimizer: { learningRate: 99 } }, recipe: 'rit', seed: 7, steps: 8 },
        createdAt: '2026-03-02T12:00:00.000Z',
      })
      run.appendEvals([evalRow(0.25, { scores: { accuracy: { value: 0.25, interval: [0.125, 0.5] } } })])
    })
    expect(await deliver()).toMatchObject({ rows: 1, sent: 1, replaced: true })
    expect(server.runs.at(-1)!.params).toMatchObject({ 'optimizer.learningRate': '99' })
  })

  it.each(['', '\n', '\0\0', '{"identity":"a",', '{"identity":"a"}', 'x\n'])(
    'is not sent again by itself where the note of it is damaged: %j',
    async damaged => {
      await deliver()
      writeFileSync(statePath(), damaged)
      await expect(deliver()).rejects.toThrow(/expected what a tracker has of the run.*remove that file/)
      expect(server.runs).toHaveLength(1)
      rmSync(statePath())
      await deliver()
      expect(server.runs).toHaveLength(2)
    },
  )

  it('has ended with its last row, whenever it is delivered', async () => {
    tracked.train(1, 2)
    await deliver()
    expect(server.runs[0].endTime).toBe(CREATED_MS + 4000)
  })

  it.each([
    ['a page in place of an answer', { status: 200, body: '<html>log in</html>' }],
    ['words that are none', { status: 502, body: { error_code: 3, message: { text: 'no' } } }],
  ])('survives %s at any request, and loses nothing', async (_, mood) => {
    tracked.train(1, 2)
    await deliver({ env: { MLFLOW_TRACKING_TOKEN: 'hush' } })
    const { length } = server.requests
    const expected = server.runs[0].metrics
    for (let nth = 1; nth < length; nth++) {
      rmSync(statePath())
      server.runs.length = 0
      server.next = [...Array<'well'>(nth).fill('well'), mood]
      await deliver({ env: { MLFLOW_TRACKING_TOKEN: 'hush' } })
      expect(server.runs[0].metrics).toEqual(expected)
    }
  })

  it.each([
    { runs: null },
    { runs: 5 },
    { runs: [null] },
    { runs: [{ info: { run_id: 'r1' }, data: { tags: null } }] },
    { runs: [{ info: { run_id: 'r1' }, data: { tags: [null] } }] },
  ])('says what is wrong of an answer to a search that is %j', async body => {
    tracked.train(1, 1)
    await deliver()
    server.next = ['well', { status: 200, body }]
    const failure = await deliver({ tries: 1 }).catch(error => error)
    if (failure instanceof Error) expect(failure).toBeInstanceOf(TrackerError)
    else expect(failure.rows).toBe(3)
  })

  it('has settings without half a character, which its database would refuse', async () => {
    const dir = join(tracked.dir, '..', 'long')
    const text = `${'x'.repeat(498)}\u{1f600}${'y'.repeat(9)}`
    RunFolder.create(dir, { config: { text }, createdAt: '2026-03-01T12:00:00.000Z', recipe: 'rit' }).close()
    await exportRun(dir, { kind: 'mlflow', uri: server.url, experiment: 'tests' }, { env })
    expect(server.runs[0].params.text).toBe(`${'x'.repeat(498)}…`)
    expect(mlflowName(`${'x'.repeat(232)}\u{20000}${'y'.repeat(30)}`)).not.toMatch(/\p{Surrogate}/u)
  })

  it('is delivered anew where somebody has removed it', async () => {
    tracked.train(1, 2)
    await deliver()
    server.runs.length = 0
    expect(await deliver()).toMatchObject({ sent: 4 })
    expect(rewards(server.runs[0])).toHaveLength(2)
  })

  it.each([
    ['503', 503],
    ['429', 429],
    ['a line that breaks', 'cut'],
    ['an answer that is lost', 'silent'],
  ] as const)('survives %s at any request, without a second run or point', async (_, mood) => {
    tracked.train(1, 2)
    await deliver()
    const { length } = server.requests
    const expected = server.runs[0]
    for (let nth = 0; nth < length; nth++) {
      rmSync(statePath())
      server.runs.length = 0
      server.experiments.clear()
      server.next = [...Array<'well'>(nth).fill('well'), mood]
      await deliver()
      expect(server.runs).toHaveLength(1)
      const { metrics, params } = server.runs[0]
      expect({ metrics, params }).toEqual({ metrics: expected.metrics, params: expected.params })
    }
  })

  it('has no point twice where a kill came while rows were on their way', async () => {
    tracked.train(1, 1)
    await deliver()
    tracked.train(2, 3)
    // The server takes them, nobody hears of it, and the steps are made again with other timings.
    server.next = ['well', 'well', 'well', 'silent']
    await expect(deliver({ tries: 1 })).rejects.toThrow('the connection failed')
    expect(rewards(server.runs[0])).toHaveLength(3)
    again(2, 3)
    await deliver()
    expect(rewards(server.runs[0])).toEqual([1, 2, 3].map(n => [n, n / 8]))
    expect(server.runs).toHaveLength(1)
    // Made again with other metrics.
    tracked.train(4, 5)
    server.next = ['well', 'well', 'well', 'silent']
    await expect(deliver({ tries: 1 })).rejects.toThrow('the connection failed')
    again(4, 4, { reward: 0 })
    await deliver()
    expect(server.runs).toHaveLength(2)
    expect(rewards(server.runs[1])).toEqual([...[1, 2, 3].map(n => [n, n / 8]), [4, 0]])
  })

  it.each(['{"identity":7}', '[1]'])('says so where %s stands for what has arrived', async text => {
    tracked.train(1, 1)
    await deliver()
    writeFileSync(statePath(), `${text}\n`)
    await expect(deliver()).rejects.toThrow('expected what a tracker has of the run, got something else')
  })

  it('goes in requests that the server takes, whatever the names and however many', async () => {
    const criteria = Object.fromEntries(
      Array.from({ length: 700 }, (_, i) => [`criterion ${i} ${'x'.repeat(300)}: 50% "ö"/../!`, i]),
    )
    tracked.write(run => {
      run.appendMetrics(metricsRow(1, { criteria }))
      run.appendMetrics(metricsRow(2, { criteria }))
    })
    await deliver()
    const keys = server.runs[0].metrics.filter(({ step }) => step === 2).map(({ key }) => key)
    expect(new Set(keys).size).toBe(702)
  })

  it('says who asks, and never in the folder of the run', async () => {
    tracked.train(1, 1)
    await deliver({ env: { MLFLOW_TRACKING_TOKEN: 'hush' } })
    expect(server.requests.every(({ headers }) => headers.authorization === 'Bearer hush')).toBe(true)
    await deliver({
      env: { MLFLOW_TRACKING_TOKEN: 'hush', MLFLOW_TRACKING_USERNAME: 'ann', MLFLOW_TRACKING_PASSWORD: 'b' },
    })
    expect(server.requests.at(-1)!.headers.authorization).toBe('Basic YW5uOmI=')
    expect(readFileSync(statePath(), 'utf8')).not.toContain('hush')
    server.mood = 401
    await expect(deliver({ env: { MLFLOW_TRACKING_TOKEN: 'hush' } })).rejects.toThrow(
      'no service Bearer ***;',
    )
  })

  it('says what is wrong in the words of the server', async () => {
    tracked.train(1, 1)
    server.mood = 401
    await expect(deliver()).rejects.toThrow(/status 401: no service; MLFLOW_TRACKING_TOKEN/)
    expect(server.requests).toHaveLength(1)
    server.mood = 302
    await expect(deliver()).rejects.toThrow(/status 302/)
    server.mood = 'hang'
    await expect(deliver({ timeoutMs: 50, tries: 2 })).rejects.toThrow('no complete answer within 0.05 s')
    await server.stop()
    await expect(deliver()).rejects.toThrow('the connection failed (ECONNREFUSED)')
  })

  it.each([
    [null, 'expected the address of a server, got none'],
    ['localhost', 'expected an address such as'],
    ['sqlite:///mlflow.db', 'expected an http or https address, got one of sqlite:'],
    ['http://ann:b@host', 'secrets never are: give them as MLFLOW_TRACKING_USERNAME'],
  ])('is not sent to %s', (uri, message) => {
    expect(() => new Mlflow({ uri, experiment: null }, { env })).toThrow(message)
  })

  it('is not delivered by an export while it trains', async () => {
    const run = RunFolder.open(tracked.dir)
    await expect(deliver()).rejects.toThrow(/tiny/)
    run.close()
    expect(server.requests).toEqual([])
  })
})

it('Names keep what MLflow takes, and different ones stay different', () => {
  expect(mlflowName('eval/train distribution/größe.v-1_x')).toBe('eval/train distribution/größe.v-1_x')
  expect(mlflowName('a:b%')).toBe('a_3a_b_25_')
  expect(mlflowName('/a//../.')).toBe('_/a/_/_2e__2e_/_2e_')
  const long = mlflowName(`x/${'y'.repeat(400)}`)
  expect(long).toHaveLength(250)
  expect(mlflowName(`x/${'y'.repeat(401)}`)).not.toBe(long)
})
