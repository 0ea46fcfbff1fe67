import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readEvents } from '../../runs/index.ts'
import { readEventFiles } from '../../runs/trackers/events.fixture.ts'
import { FakeMlflow } from '../../runs/trackers/servers.fixture.ts'
import { cli, Sandbox, SLOW_MS, tinyModel, tinyReinforcement } from '../cli.fixture.ts'

const sandbox = new Sandbox()
const server = new FakeMlflow()
const run = () => sandbox.path('run')
const file = () => sandbox.path('rl.yaml')

beforeAll(async () => {
  await server.start()
  const model = await tinyModel(sandbox)
  sandbox.write(
    'rl.yaml',
    tinyReinforcement(model, 2, {
      checkpoint: { every: 1 },
      trackers: [
        { kind: 'tensorboard', folder: sandbox.path('logs') },
        { kind: 'mlflow', uri: server.url, experiment: 'cli' },
      ],
    }),
  )
}, SLOW_MS)
afterAll(async () => {
  await server.stop()
  sandbox.remove()
})

const rewards = () => server.runs.at(-1)!.metrics.flatMap(({ key, step }) => (key === 'reward' ? [step] : []))
const scalars = (folder: string) => readEventFiles(sandbox.path(folder, 'run')).flatMap(each => each.scalars)

describe('gradus train with trackers', () => {
  it(
    'sends every step, on a resume too, and trains on when they are gone',
    async () => {
      expect((await cli(['train', file(), '--out', run()])).code).toBe(0)
      expect(rewards()).toEqual([1, 2])
      expect(server.runs[0]).toMatchObject({ name: 'run', status: 'FINISHED' })
      const more = await cli(['train', file(), '--out', run(), '--resume', '--set', 'steps=3'])
      expect(more.code).toBe(0)
      expect(server.runs).toHaveLength(1)
      expect(rewards()).toEqual([1, 2, 3])
      server.mood = 404
      // Trackers are no part of what is computed: a resume may change them.
      const one = `trackers=[{kind: mlflow, uri: "${server.url}", experiment: cli}]`
      const gone = await cli(['train', file(), '--out', run(), '--resume', '--set', 'steps=4', '--set', one])
      expect(gone.code).toBe(0)
      expect(gone.err).toContain('nothing more is sent there while this training goes on')
      expect(gone.err).toContain(`gradus export ${run()} --mlflow ${server.url} --experiment cli`)
      expect(readEvents(run()).some(({ message }) => message.includes('were not delivered'))).toBe(true)
      server.mood = 'well'
    },
    2 * SLOW_MS,
  )

  it(
    'is refused, also as a plan, where a tracker cannot be told an address',
    async () => {
      const { MLFLOW_TRACKING_URI: before } = process.env
      delete process.env.MLFLOW_TRACKING_URI
      try {
        const plan = ['train', file(), '--set', 'trackers=[{kind: mlflow}]', '--out', sandbox.path('other')]
        for (const args of [plan, [...plan, '--dry-run']]) {
          const { code, err } = await cli(args)
          expect(code).toBe(1)
          expect(err).toContain('trackers[0]: mlflow: expected the address of a server, got none')
        }
        expect(readdirSync(sandbox.path('.'))).not.toContain('other')
      } finally {
        if (before !== undefined) process.env.MLFLOW_TRACKING_URI = before
      }
    },
    SLOW_MS,
  )
})

describe('gradus export to trackers', () => {
  it('delivers what is missing, once', async () => {
    const args = [
      'export',
      run(),
      '--mlflow',
      server.url,
      '--experiment',
      'cli',
      '--tensorboard',
      sandbox.path('later'),
    ]
    const first = await cli(args)
    expect(first.code).toBe(0)
    expect(first.out).toMatch(/run: [12] of \d+ rows sent to MLflow at /)
    expect(rewards()).toEqual([1, 2, 3, 4])
    expect((await cli(args)).out).toMatch(/run: 0 of \d+ rows sent to MLflow/)
    expect(rewards()).toEqual([1, 2, 3, 4])
    expect(scalars('later').flatMap(({ tag, step }) => (tag === 'reward' ? [step] : []))).toEqual([
      1, 2, 3, 4,
    ])
    const [row] = (await cli([...args, '--json'])).out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(row).toMatchObject({ dir: run(), replaced: false })
  })

  it('names what it cannot deliver, with exit code 1', async () => {
    server.mood = 401
    const { code, err } = await cli(['export', run(), '--mlflow', server.url, '--experiment', 'cli'])
    server.mood = 'well'
    expect(code).toBe(1)
    expect(err).toContain(`${run()}: MLflow at ${server.url}: status 401`)
  })

  it('refuses options that do not go together', async () => {
    for (const args of [
      ['--experiment', 'x'],
      ['--project', 'x'],
      ['--tensorboard', 'x', '--csv'],
      ['--mlflow', server.url, '--out', 'x'],
      ['--csv', '--json'],
    ])
      expect((await cli(['export', run(), ...args])).code).toBe(2)
  })

  it('writes a table, as values or as JSON, to a file as it prints it', async () => {
    for (const form of ['--csv', '--json']) {
      const file = sandbox.path(`table${form}`)
      const { code, out } = await cli(['export', run(), form, '--out', file])
      expect([code, out]).toEqual([0, ''])
      expect(readFileSync(file, 'utf8')).toBe((await cli(['export', run(), form])).out)
    }
  })
})
