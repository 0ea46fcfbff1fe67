import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readMetrics, withoutTimings } from '../../runs/index.ts'
import { cli, Sandbox, SLOW_MS, tinyModel, tinyReinforcement } from '../cli.fixture.ts'
import { axesOf, axisLabel, combinationsOf, splitValues } from './axes.ts'

const sandbox = new Sandbox()
let file: string
beforeAll(async () => {
  const model = await tinyModel(sandbox)
  file = sandbox.write('rl.yaml', tinyReinforcement(model, 2, { checkpoint: { every: 1 } }))
}, SLOW_MS)
afterAll(() => sandbox.remove())

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const out = () => sandbox.path('sweep')
const SET = ['--set', 'seed=1,2', '--set', 'loss.preset=trl:dapo,verl:gspo']
const args = () => ['sweep', file, ...SET, '--out', out(), '--jobs', '2']
const RUNS = [
  'seed-1-preset-trl_dapo',
  'seed-1-preset-verl_gspo',
  'seed-2-preset-trl_dapo',
  'seed-2-preset-verl_gspo',
]
const rowsOf = (run: string) => readMetrics(sandbox.path(...run.split('/'))).map(withoutTimings)
const ended = (child: ChildProcess) => new Promise<void>(resolve => child.once('exit', () => resolve()))

describe('values of a sweep', () => {
  it('are parted at commas outside quotes and brackets', () => {
    expect(splitValues('1,2, 3')).toEqual(['1', '2', '3'])
    expect(splitValues('[1, 2],[3]')).toEqual(['[1, 2]', '[3]'])
    expect(splitValues('{a: 1, b: 2},"x, y"')).toEqual(['{a: 1, b: 2}', '"x, y"'])
    expect(axesOf(['seed=1,2', 'a.b=[1, 2]'])).toEqual([
      { key: 'seed', values: [1, 2] },
      { key: 'a.b', values: [[1, 2]] },
    ])
  })

  it('are combined, the seed slowest', () => {
    const combinations = combinationsOf(axesOf(['a=x,y', 'seed=1,2']))
    expect(combinations).toEqual([
      { seed: 1, a: 'x' },
      { seed: 1, a: 'y' },
      { seed: 2, a: 'x' },
      { seed: 2, a: 'y' },
    ])
    expect(axisLabel(combinations[0])).toBe('a=x')
  })

  it('are refused where they are no values', () => {
    expect(() => axesOf(['seed'])).toThrow('expected key=value')
    expect(() => axesOf(['seed=1,,2'])).toThrow('got an empty one')
    expect(() => axesOf(['seed=1,1'])).toThrow('expected each value once, got 1 again')
    expect(() => axesOf(['seed=1', 'seed=2'])).toThrow('expected once, got twice')
  })
})

describe('gradus sweep', { timeout: SLOW_MS }, () => {
  it('plans, and refuses what a run would refuse, before anything runs', async () => {
    const plan = await cli([...args(), '--dry-run', '--json'])
    expect(JSON.parse(plan.out).runs.map(({ name }: { name: string }) => name)).toEqual(RUNS)
    const wrong = await cli(['sweep', file, '--set', 'rollout.samples=4,many', '--out', out()])
    expect(wrong.code).toBe(2)
    expect(wrong.err).toContain('rollout.samples: expected')
    expect((await cli(['sweep', file, '--set', 'seed=1', '--out', out()])).err).toContain('several values')
    expect(existsSync(out())).toBe(false)
  })

  it('goes on after a kill, and every run is what a single one would be', async () => {
    const child = spawn(process.execPath, [main, ...args()], { stdio: 'ignore' })
    const end = ended(child)
    const first = sandbox.path('sweep', RUNS[0], 'checkpoints', 'latest')
    while (child.exitCode === null && !existsSync(first)) await wait(20)
    child.kill('SIGKILL')
    await end
    const { code, out: text, err } = await cli(args())
    expect(err).toContain('[')
    expect(code).toBe(0)
    expect(text).toContain('4 runs in 2 groups')
    expect(text).toMatch(/loss\.preset=verl:gspo +2 +2 [\s\S]* to the first.* \(2 seeds\)/)
    expect(existsSync(sandbox.path('sweep', 'compare.html'))).toBe(true)
    const single = ['--set', 'seed=2', '--set', 'loss.preset=trl:dapo', '--out', sandbox.path('single')]
    expect((await cli(['train', file, ...single, '--quiet'])).code).toBe(0)
    expect(rowsOf(`sweep/${RUNS[2]}`)).toEqual(rowsOf('single'))
  })

  it('runs nothing that is done, adds what is new, and refuses what was changed', async () => {
    const again = await cli([...args(), '--json'])
    expect(again.code).toBe(0)
    expect(JSON.parse(again.out)).toMatchObject({ runs: 4, failed: [] })
    const more = args().map(word => (word === 'seed=1,2' ? 'seed=1,2,3' : word))
    const plan = JSON.parse((await cli([...more, '--dry-run', '--json'])).out)
    expect(plan.runs.filter(({ done }: { done: boolean }) => !done)).toHaveLength(2)
    const other = await cli([...args(), '--set', 'rollout.samples=8'])
    expect(other.code).toBe(1)
    expect(other.err).toContain('made with other settings (rollout.samples 4 then, 8 now)')
    const axes = await cli(['sweep', file, '--set', 'seed=1,2', '--out', out()])
    expect(axes.err).toContain('there is a sweep over seed, loss.preset here')
  })

  it('is seen by runs, compare and export', async () => {
    const list = JSON.parse((await cli(['runs', out(), '--json'])).out)
    expect(list).toHaveLength(4)
    expect(list[0]).toMatchObject({ recipe: 'rubric-as-reward', status: 'finished', step: 2, steps: 2 })
    expect((await cli(['runs', out()])).out).toContain('4 runs')
    const page = sandbox.path('page.html')
    const compared = await cli(['compare', out(), '--json', '--html', page])
    expect(JSON.parse(compared.out).groups.map(({ label }: { label: string }) => label)).toEqual([
      'loss.preset=trl:dapo',
      'loss.preset=verl:gspo',
    ])
    expect(sandbox.read('page.html')).toContain('Settings that differ')
    // Without the sweep's own record its runs are parted by what their settings resolve to.
    rmSync(sandbox.path('sweep', 'sweep.json'))
    expect(JSON.parse((await cli(['compare', out(), '--json'])).out).groups).toHaveLength(2)
    const csv = (await cli(['export', out(), '--csv'])).out.trimEnd().split('\r\n')
    expect(csv).toHaveLength(1 + 4 * 2)
    expect(csv[0]).toMatch(/^run,recipe,seed,step,reward/)
    expect(csv[1].startsWith(`${RUNS[0]},rubric-as-reward,1,1,`)).toBe(true)
    const evals = (await cli(['export', out(), '--rows', 'evals', '--csv'])).out
    expect(evals.split('\r\n')[0]).toContain('scores.correctAndProved.value')
  })
})
