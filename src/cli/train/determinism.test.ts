import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readMetrics, withoutTimings } from '../../runs/index.ts'
import { cli, Sandbox, SLOW_MS, tinyColdStart, tinyModel, tinyReinforcement } from '../cli.fixture.ts'

const sandbox = new Sandbox()
let model: string
beforeAll(async () => {
  model = await tinyModel(sandbox)
}, SLOW_MS)
afterAll(() => sandbox.remove())

const metricsOf = (run: string) => readMetrics(sandbox.path(run)).map(withoutTimings)
const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))

const train = async (file: string, run: string, ...more: string[]) => {
  const result = await cli(['train', file, '--out', sandbox.path(run), '--quiet', ...more])
  expect(result.err).toBe('')
  expect(result.code).toBe(0)
}

const exited = (child: ChildProcess) => new Promise<void>(resolve => child.once('exit', () => resolve()))

/** Starts a run as a process of its own and kills it, without any warning, some steps after a checkpoint. */
const killAfterCheckpoint = async (file: string, run: string, leastSteps: number) => {
  const child = spawn(process.execPath, [main, 'train', file, '--out', sandbox.path(run), '--quiet'], {
    stdio: 'ignore',
  })
  const gone = exited(child)
  while (child.exitCode === null) {
    const ready = existsSync(sandbox.path(run, 'checkpoints', 'latest'))
    if (ready && readMetrics(sandbox.path(run)).length >= leastSteps) break
    await wait(5)
  }
  child.kill('SIGKILL')
  await gone
  expect(child.signalCode).toBe('SIGKILL')
}

const reinforcement = (steps: number, more: object = {}) =>
  sandbox.write(`rl-${steps}.yaml`, tinyReinforcement(model, steps, { checkpoint: { every: 3 }, ...more }))

describe('determinism', { timeout: SLOW_MS }, () => {
  it('gives the same metrics for the same seed, and others for another', async () => {
    const file = reinforcement(3)
    await train(file, 'a')
    await train(file, 'b')
    await train(file, 'c', '--set', 'seed=2')
    expect(metricsOf('a')).toHaveLength(3)
    expect(metricsOf('b')).toEqual(metricsOf('a'))
    expect(metricsOf('c')).not.toEqual(metricsOf('a'))
  })

  // On one engine and thread, and in cold starts: kills.test.ts, at any moment.
  it('continues a killed reinforcement as if nothing had happened, on two engines and threads', async () => {
    const file = reinforcement(14, { policy: { engines: 2, threads: 2 } })
    await train(file, 'whole')
    await killAfterCheckpoint(file, 'killed', 5)
    expect(metricsOf('killed').length).toBeLessThan(14)
    await train(file, 'killed', '--resume')
    expect(metricsOf('killed')).toEqual(metricsOf('whole'))
  })

  it('stops at Ctrl+C after the step, says how to go on, and ends up with the same metrics', async () => {
    const file = reinforcement(4)
    await train(file, 'uninterrupted')
    const args = ['train', file, '--out', sandbox.path('stopped')]
    const stopped = await cli(args, {
      onProgress: (err, interrupt) => {
        if (/reinforcement 1\/4/.test(err) && !err.includes('stopping')) interrupt()
      },
    })
    expect(stopped.code).toBe(130)
    expect(stopped.err).toContain('stopping after this step')
    expect(stopped.out).toContain(`gradus train ${file} --out ${sandbox.path('stopped')} --resume`)
    expect(metricsOf('stopped')).toHaveLength(1)
    await train(file, 'stopped', '--resume')
    expect(metricsOf('stopped')).toEqual(metricsOf('uninterrupted'))
  })
})

describe('cold start as a phase', { timeout: SLOW_MS }, () => {
  const phases = (name: string) => {
    const { recipe: _recipe, ...phase } = tinyColdStart(4)
    const settings = tinyReinforcement('', 3, { model: {}, coldStart: phase })
    return sandbox.write(name, settings)
  }

  it('goes on after a stop in the first phase and does not repeat what is finished', async () => {
    const file = phases('phases.yaml')
    await train(file, 'phases-whole')
    const stopped = await cli(['train', file, '--out', sandbox.path('phases')], {
      onProgress: (err, interrupt) => {
        if (err.includes('supervised 1/4') && !err.includes('stopping')) interrupt()
      },
    })
    expect(stopped.code).toBe(130)
    expect(stopped.out).toMatch(/^stopped after step [1-3] of 4 \(supervised\); go on with:$/m)
    expect(existsSync(sandbox.path('phases', 'metrics.jsonl'))).toBe(false)
    await train(file, 'phases', '--resume')
    expect(metricsOf('phases/cold-start')).toEqual(metricsOf('phases-whole/cold-start'))
    expect(metricsOf('phases')).toEqual(metricsOf('phases-whole'))
    const again = await cli(['train', file, '--out', sandbox.path('phases'), '--resume'])
    expect(again.code).toBe(0)
    expect(again.err).toContain('nothing is left to do')
  })
})
