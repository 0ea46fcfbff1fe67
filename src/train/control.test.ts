import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { appendControl, type ControlRequest } from '../runs/control.ts'
import { RunFolder } from '../runs/run-folder.ts'
import { checkpointSteps } from '../runs/run-state.ts'
import { FakePolicy } from './fake-policy.fixture.ts'
import { runSteps } from './steps.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-control-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Without<T> = T extends unknown ? Omit<T, 'id' | 'at'> : never
type Request = Without<ControlRequest>

const at = '2026-01-01T00:00:00.000Z'
const ask = (dir: string, request: Request, id: string = request.action) =>
  appendControl(dir, { ...request, id, at } as ControlRequest)

/** Trains ten steps that compute nothing; `during` is called in the middle of each. */
const trained = async (name: string, during: (step: number, dir: string) => void, ahead?: Request) => {
  const dir = join(folder, name)
  const run = RunFolder.create(dir, { config: {} })
  if (ahead) ask(dir, ahead)
  const messages: string[] = []
  const truncation = 0.5
  const result = await runSteps(
    new FakePolicy(),
    run,
    { steps: 10 },
    {
      trainStep: async step => {
        during(step, dir)
        return { step, reward: 0, truncationRate: truncation }
      },
      evaluate: async () => [],
    },
    0,
    { onMessage: text => messages.push(text) },
  )
  run.close()
  const events = readFileSync(join(dir, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  return { ...result, dir, messages, events, saved: checkpointSteps(join(dir, 'checkpoints')) }
}

describe('a training that is asked for something', () => {
  it('stops after the step, with a checkpoint, and says so among its events', async () => {
    const { step, finished, saved, events } = await trained('stop', (step, dir) => {
      if (step === 3) ask(dir, { action: 'stop' })
    })
    expect({ step, finished, saved }).toEqual({ step: 3, finished: false, saved: [3] })
    expect(events.filter(({ control }) => control)).toMatchObject([
      { step: 3, control: 'stop', request: 'stop' },
    ])
  })

  it('saves after the step and goes on', async () => {
    const { step, saved } = await trained('save', (step, dir) => {
      if (step === 4) ask(dir, { action: 'save' })
    })
    expect({ step, saved }).toEqual({ step: 10, saved: [4, 10] })
  })

  it('waits while it is paused, saves meanwhile, and goes on', async () => {
    const steps: [number, number][] = []
    const { step, messages, saved, events } = await trained('pause', (step, dir) => {
      steps.push([step, performance.now()])
      if (step !== 2) return
      ask(dir, { action: 'pause' })
      setTimeout(() => ask(dir, { action: 'save' }), 400)
      setTimeout(() => ask(dir, { action: 'go-on' }), 1_200)
    })
    expect(step).toBe(10)
    expect(steps[2][1] - steps[1][1]).toBeGreaterThan(1_100)
    expect(messages).toContain('paused after step 2')
    expect(saved).toContain(2)
    expect(events.flatMap(({ control }) => control ?? [])).toEqual(['pause', 'save', 'go-on'])
  })

  it('does not do what was asked of the process before it', async () => {
    const { step } = await trained('earlier', () => {}, { action: 'stop' })
    expect(step).toBe(10)
  })

  it("takes a monitor's new threshold, and refuses one that is none", async () => {
    const { events } = await trained('threshold', (step, dir) => {
      if (step !== 1) return
      ask(dir, { action: 'threshold', monitor: 'truncation', thresholds: { rate: 0.9 } }, 'a')
      ask(dir, { action: 'threshold', monitor: 'truncation', thresholds: { rate: 9 } }, 'b')
      ask(dir, { action: 'threshold', monitor: 'nothing', thresholds: null }, 'c')
    })
    // Half of the responses are cut off: far above the usual threshold of a tenth, below the new one.
    expect(events.filter(({ turn }) => turn === 'on')).toEqual([])
    expect(events.map(({ control, request }) => [control, request])).toEqual([
      ['threshold', 'a'],
      ['refused', 'b'],
      ['refused', 'c'],
    ])
    const found = await trained('usual threshold', () => {})
    expect(found.events.filter(({ turn }) => turn === 'on')).toMatchObject([{ monitor: 'truncation' }])
  })
})
