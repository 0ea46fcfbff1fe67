import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { examineRun, readEvents, readMetrics, readRunInfo, withoutTimings } from '../../runs/index.ts'
import { loadReportData } from '../../runs/report/data.ts'
import { cli, Sandbox, SLOW_MS, tinyModel, tinyReinforcement } from '../cli.fixture.ts'

const sandbox = new Sandbox()
let model: string
/** Runs of 2 and of 4 steps, which several tests go on from, each with a copy of its own. */
beforeAll(async () => {
  model = await tinyModel(sandbox)
  for (const steps of [2, 4]) await train(settings(steps), '--out', sandbox.path(`of ${steps}`))
}, SLOW_MS)
afterAll(() => sandbox.remove())

/** A rate that does not depend on where the run ends. */
const CONSTANT = { learningRate: { kind: 'constant', peak: 1e-3 } }

const settings = (steps: number, more: object = {}) =>
  sandbox.write(
    `rl-${steps}.yaml`,
    tinyReinforcement(model, steps, { optimizer: CONSTANT, checkpoint: { every: 2, keepLast: 9 }, ...more }),
  )

const metricsOf = (run: string) => readMetrics(sandbox.path(run)).map(withoutTimings)
const statusOf = (run: string) => loadReportData(sandbox.path(run)).status
const errorsOf = (run: string) => readEvents(sandbox.path(run)).filter(({ level }) => level === 'error')
const bytesOf = (...path: string[]) => readFileSync(sandbox.path(...path)).toString('base64')

const train = async (...args: string[]) => {
  const result = await cli(['train', ...args, '--quiet'])
  expect(result.err).toBe('')
  expect(result.code).toBe(0)
}

const copied = (steps: 2 | 4, run: string) =>
  cpSync(sandbox.path(`of ${steps}`), sandbox.path(run), { recursive: true, verbatimSymlinks: true })

const gone = (child: ChildProcess) => new Promise<void>(resolve => child.once('exit', () => resolve()))

describe('a run that is taken further', { timeout: SLOW_MS }, () => {
  it('takes the steps that a longer one takes', async () => {
    await train(settings(6), '--out', sandbox.path('long'))
    copied(4, 'short')
    expect(statusOf('short')).toBe('finished')
    await train('--out', sandbox.path('short'), '--resume', '--set', 'steps=6')
    expect(metricsOf('short')).toEqual(metricsOf('long'))
    expect(bytesOf('short', 'checkpoints', 'step-000006', 'model.safetensors')).toBe(
      bytesOf('long', 'checkpoints', 'step-000006', 'model.safetensors'),
    )
    expect(statusOf('short')).toBe('finished')
    const { steps, extensions } = readRunInfo(sandbox.path('short'))
    expect(steps).toBe(6)
    expect(extensions).toMatchObject([{ step: 4, before: { steps: 4 } }])
    expect(readEvents(sandbox.path('short'))).toContainEqual(
      expect.objectContaining({
        level: 'info',
        message: 'settings changed after step 4: steps 4 then, 6 now',
      }),
    )
    expect(examineRun(sandbox.path('short')).whole).toBe(true)
  })

  it('goes on also when it was killed before it had saved anything under the new settings', async () => {
    copied(2, 'killed')
    const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
    const args = ['train', '--out', sandbox.path('killed'), '--resume', '--quiet']
    const further = [...args, '--set', 'steps=60', '--set', 'checkpoint.every=0']
    const child = spawn(process.execPath, [main, ...further], { stdio: 'ignore' })
    const end = gone(child)
    while (child.exitCode === null && metricsOf('killed').length < 4) await wait(5)
    child.kill('SIGKILL')
    await end
    expect(statusOf('killed')).toBe('stopped')
    // The settings are those of the run by now: nothing needs to be said again.
    await train('--out', sandbox.path('killed'), '--resume', '--set', 'steps=6')
    expect(metricsOf('killed')).toEqual(metricsOf('long'))
  })

  it('is refused an end that lies behind it, and every other change, without a mark in the run', async () => {
    copied(4, 'healthy')
    const refused = async (...set: string[]) => {
      const { code, err } = await cli([
        ...['train', '--out', sandbox.path('healthy'), '--resume', '--quiet'],
        ...set.flatMap(each => ['--set', each]),
      ])
      expect(code).toBe(1)
      return err
    }
    const changes = await refused('rollout.samples=5', 'steps=9')
    expect(changes).toContain('(rollout.samples 4 then, 5 now); on a resume steps, maxMinutes and')
    expect(changes).toContain('--from RUN in place of --resume')
    expect(errorsOf('healthy')).toEqual([])
    expect(statusOf('healthy')).toBe('finished')
    expect(readRunInfo(sandbox.path('healthy')).steps).toBe(4)
    rmSync(sandbox.path('healthy', 'checkpoints', 'latest'))
    rmSync(sandbox.path('healthy', 'checkpoints', 'step-000004'), { recursive: true })
    expect(await refused('steps=2')).toContain('steps: expected more than the 2 that the run has behind it')
    expect(errorsOf('healthy')).toEqual([])
  })
})

describe('a fork', { timeout: SLOW_MS }, () => {
  it('begins with weights and optimiser of another run, under settings of its own', async () => {
    copied(4, 'parent')
    await train('--from', sandbox.path('parent', '2'), '--out', sandbox.path('fork'), '--set', 'steps=0')
    const { forkedFrom, config } = readRunInfo(sandbox.path('fork'))
    expect(forkedFrom).toEqual({ run: sandbox.path('parent'), step: 2 })
    expect(config).toMatchObject({ model: { folder: sandbox.path('fork', 'forked-from') }, steps: 0 })
    const kept = (name: string) => bytesOf('fork', 'forked-from', name)
    for (const name of ['model.safetensors', 'optimizer.safetensors'])
      expect(kept(name)).toBe(bytesOf('parent', 'checkpoints', 'step-000002', name))
  })

  it('uses the optimiser: the same weights alone learn otherwise', async () => {
    const [step, more] = [sandbox.path('parent', 'checkpoints', 'step-000004'), ['--set', 'steps=2']]
    await train(settings(2), '--from', step, '--out', sandbox.path('with'), ...more)
    await train(settings(2), '--out', sandbox.path('without'), '--set', `model.folder=${step}`)
    const [first, second] = [metricsOf('with'), metricsOf('without')]
    expect(first[0].reward).toBe(second[0].reward)
    expect(bytesOf('with', 'checkpoints', 'step-000002', 'model.safetensors')).not.toBe(
      bytesOf('without', 'checkpoints', 'step-000002', 'model.safetensors'),
    )
  })

  it('goes on by itself when its parent is gone', async () => {
    copied(2, 'mother')
    const args = ['train', '--from', sandbox.path('mother'), '--out', sandbox.path('child')]
    let isAsked = false
    const stopped = await cli(args, {
      onProgress: (err, interrupt) => {
        if (isAsked || !/reinforcement +1\/2/.test(err)) return
        isAsked = true
        interrupt()
      },
    })
    expect(stopped.code).toBe(130)
    expect(stopped.out).toContain(`gradus train --out ${sandbox.path('child')} --resume`)
    rmSync(sandbox.path('mother'), { recursive: true })
    await train('--out', sandbox.path('child'), '--resume')
    expect(metricsOf('child')).toHaveLength(2)
  })

  it('says what it cannot begin with, and leaves nothing behind', async () => {
    const asked = async (...args: string[]) => {
      const { code, err } = await cli(['train', ...args, '--out', sandbox.path('none'), '--quiet'])
      expect(code).toBeGreaterThan(0)
      expect(existsSync(sandbox.path('none'))).toBe(false)
      return err
    }
    expect(await asked('--from', sandbox.path('nowhere'))).toContain('found no run there')
    expect(await asked('--from', sandbox.path('parent', '3'))).toContain('got those of steps 2, 4')
    expect(await asked('--from', sandbox.path('parent'), '--resume')).toContain('expected one of the two')
    expect(await asked('--from', sandbox.path('parent'), '--set', 'task.hops=99')).toContain('task')
    expect(await asked()).toContain('expected a recipe or a YAML file, got neither')
  })
})

describe('rows and a rubric that changed meanwhile', { timeout: SLOW_MS }, () => {
  const row = (id: string) => JSON.stringify({ id, prompt: `Say something about ${id}.` })
  const rubric = (max: number) => ({
    criteria: [
      {
        ...{ id: 'short', text: 'Is short.', points: 1 },
        verifier: { kind: 'rule', fn: 'length', params: { max } },
      },
    ],
  })
  it('refuse a resume by the name of the file, and nothing else does', async () => {
    const rows = ['a', 'b', 'c', 'd'].map(row)
    const file = sandbox.write('own.jsonl', rows.join('\n'))
    const judged = sandbox.write('own-rubric.json', JSON.stringify(rubric(9)))
    const config = sandbox.write('own.yaml', {
      recipe: 'ruscarl',
      model: { folder: writeTinyChat(sandbox.path('chat')) },
      task: { kind: 'conversations', file, rubric: judged, holdOut: 2 },
      scaffold: { group: { kind: 'none' } },
      steps: 1,
      rollout: { prompts: 2, samples: 2, maxTokens: 6 },
      evaluation: { every: 0, problems: 2, samples: 1, scaffolded: false },
      checkpoint: { every: 1 },
      policy: { threads: 1 },
    })
    const out = sandbox.path('own')
    await train(config, '--out', out)
    const files = readRunInfo(out).files!
    expect(files.map(({ path }) => path)).toEqual([file, judged])
    const further = () => cli(['train', '--out', out, '--resume', '--set', 'steps=2', '--quiet'])
    const refusedFor = async (path: string) => {
      const { code, err } = await further()
      expect(code).toBe(1)
      expect(err).toContain(`${path}: changed since ${out} began (SHA-256 `)
      expect(err).toContain('--from RUN in place of --resume')
      expect(readMetrics(out)).toHaveLength(1)
      expect(errorsOf('own')).toEqual([])
    }
    sandbox.write('own-rubric.json', JSON.stringify(rubric(5)))
    await refusedFor(judged)
    sandbox.write('own-rubric.json', JSON.stringify(rubric(9)))
    sandbox.write('own.jsonl', [...rows, row('e')].join('\n'))
    await refusedFor(file)
    sandbox.write('own.jsonl', rows.join('\n'))
    expect(await further()).toMatchObject({ code: 0, err: '' })
    expect(readMetrics(out)).toHaveLength(2)
  })
})
