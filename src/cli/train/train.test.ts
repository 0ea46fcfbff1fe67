import { existsSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { readEvals, readMetrics } from '../../runs/index.ts'
import { assertWebGpu } from '../../tensor/index.ts'
import { cli, Sandbox, SLOW_MS, tinyColdStart } from '../cli.fixture.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

it('does not begin a training whose weights this machine has no memory for, and leaves no run', async () => {
  const shape = { hiddenSize: 16_384, layers: 512, heads: 128 }
  const file = sandbox.write('large.yaml', tinyColdStart(1, { model: { shape } }))
  const out = sandbox.path('run')
  const { code, err } = await cli(['train', file, '--out', out, '--quiet'])
  expect(err).toMatch(/this machine cannot train it: its weights and optimiser alone need about .* of memory/)
  expect(err).toContain('policy.kind: tinker')
  expect([code, existsSync(out)]).toEqual([1, false])
  const plan = await cli(['train', file, '--dry-run'])
  expect([plan.code, plan.out]).toEqual([0, expect.stringContaining('not feasible on this machine')])
})

it('evaluates the start alone for a baseline, and trains on from it', { timeout: SLOW_MS }, async () => {
  const file = sandbox.write('start.yaml', tinyColdStart(2))
  const out = sandbox.path('baseline')
  expect((await cli(['train', file, '--out', out, '--baseline', '--quiet'])).code).toBe(0)
  expect([readMetrics(out).length, readEvals(out).map(({ step }) => step)]).toEqual([0, [0]])
  expect((await cli(['train', file, '--out', out, '--resume', '--quiet'])).code).toBe(0)
  expect(readMetrics(out)).toHaveLength(2)
})

it('plans nothing on a device that is not there', async () => {
  const starts = await assertWebGpu().then(
    () => true,
    () => false,
  )
  const file = sandbox.write('gpu.yaml', tinyColdStart(1, { policy: { provider: 'webgpu' } }))
  const { code, err } = await cli(['train', file, '--dry-run'])
  expect([code, /webgpu/i.test(err)]).toEqual(starts ? [0, false] : [1, true])
})
