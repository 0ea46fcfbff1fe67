import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { readReference } from '../../policy/tinker/checkpoint.ts'
import { readMetrics, withoutTimings } from '../../runs/readers.ts'
import { baseModel, startTinkerServer, type TinkerServer } from '../../serve/tinker/index.ts'
import { cli, SLOW_MS } from '../cli.fixture.ts'
import {
  checkForm,
  checkLearning,
  checkMethod,
  METHODS,
  remoteSettings,
  startFolder,
  train,
} from './remote-checks.fixture.ts'

const dir = mkdtempSync(join(tmpdir(), 'gradus-remote-'))

const serve = (state: string): Promise<TinkerServer> =>
  startTinkerServer({
    models: [...new Set(METHODS.map(([, model]) => startFolder(model))), join(dir, 'chat')].map(folder =>
      baseModel(folder, folder),
    ),
    engine: { threads: 1, spinning: false },
    state: join(dir, state),
    limits: { drainNoticeMs: 1, drainMs: 5000 },
  })

let server: TinkerServer
beforeAll(async () => {
  writeTinyChat(join(dir, 'chat'), 8192)
  server = await serve('state')
}, SLOW_MS)
afterAll(async () => {
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

const remote = (model: string) => remoteSettings(server.url, model)

/** Two rows of what an assistant says, as the recipe sft reads them. */
const writeRows = (): string => {
  const path = join(dir, 'rows.jsonl')
  const rows = ['yes', 'no', 'yes'].map((answer, i) => ({
    messages: [
      { role: 'user', content: `Question ${i}?` },
      { role: 'assistant', content: answer },
    ],
  }))
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return path
}

describe('gradus train with a policy on a server', () => {
  it.each(METHODS)('runs the quick method of %s', { timeout: SLOW_MS }, async (...method) => {
    const out = join(dir, method[0])
    const rows = await checkMethod(method, { url: server.url, out, steps: 1 })
    if (method[0] === 'ruscarl') await checkForm(method, rows, join(dir, 'here'))
  })

  it('knows the log-probs of this process, and learns', { timeout: SLOW_MS }, async () => {
    await checkLearning(server.url, 'packing-start')
  })

  it('learns from demonstrations: the loss falls, and rows have the fields of a run in this process', {
    timeout: SLOW_MS,
  }, async () => {
    const model = join(dir, 'chat')
    const set = [`data=${writeRows()}`, 'holdOut=1', 'steps=6', 'batch=2', 'optimizer.learningRate.peak=0.02']
    const [there, here] = [join(dir, 'sft'), join(dir, 'sft-here')]
    await train('sft', 'chat', [...set, ...remote(model)], there)
    const near = [`model.folder=${model}`, 'policy.threads=1', 'model.lora.rank=4', 'model.lora.alpha=32']
    await train('sft', 'chat', [...set, ...near], here)
    const [rows, local] = [readMetrics(there), readMetrics(here)]
    expect(rows.at(-1)!.loss).toBeLessThan(rows[0].loss as number)
    // The same adapter, drawn by the same seed: the same losses.
    rows.forEach((row, i) => {
      expect(Object.keys(row)).toEqual(Object.keys(local[i]))
      expect(row.loss as number).toBeCloseTo(local[i].loss as number, 3)
    })
  })

  it('goes on where it was stopped, on a server that was started anew with its storage, and says so where that is lost', {
    timeout: SLOW_MS,
  }, async () => {
    const set = [`data=${writeRows()}`, 'holdOut=1', 'steps=6', 'batch=2', 'checkpoint.every=1']
    const command = (url: string, name: string) => [
      ...['train', 'sft', '--out', join(dir, name)],
      ...[...set, ...remote(join(dir, 'chat')), `policy.url=${url}`].flatMap(one => ['--set', one]),
    ]
    const whole = await cli([...command(server.url, 'whole'), '--quiet'])
    expect([whole.err, whole.code]).toEqual(['', 0])
    const first = await serve('its-state')
    let found = false
    const stopped = await cli(command(first.url, 'stopped'), {
      onProgress: (err, interrupt) => {
        if (found || !err.includes('supervised 1/6')) return
        found = true
        interrupt()
      },
    })
    expect([stopped.code, stopped.out]).toEqual([130, expect.stringContaining('policy.kind=tinker')])
    await first.close()
    const lost = await serve('another-state')
    const refused = await cli([...command(lost.url, 'stopped'), '--resume'])
    expect(refused.code).toBe(1)
    expect(refused.err).toMatch(/does not have the checkpoint tinker:.*given the storage of the one before/s)
    await lost.close()
    const second = await serve('its-state')
    const resumed = await cli([...command(second.url, 'stopped'), '--resume', '--quiet'])
    expect([resumed.err, resumed.code]).toEqual(['', 0])
    const rows = (name: string) => readMetrics(join(dir, name)).map(row => withoutTimings(row))
    expect(rows('stopped')).toEqual(rows('whole'))
    // Two checkpoints stay in the run, and no others of it at the server.
    const kept = readdirSync(join(dir, 'stopped', 'checkpoints')).filter(name => name.startsWith('step-'))
    const paths = kept.map(name => readReference(join(dir, 'stopped', 'checkpoints', name)).state)
    const { checkpoints } = (await (await fetch(`${second.url}/api/v1/checkpoints`)).json()) as {
      checkpoints: { tinker_path: string; checkpoint_type: string }[]
    }
    const states = checkpoints.filter(({ checkpoint_type: type }) => type === 'training')
    expect(states.map(({ tinker_path: path }) => path).sort()).toEqual(paths.sort())
    await second.close()
  })
})
