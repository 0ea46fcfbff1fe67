import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { saveRunState } from '../../runs/run-state.ts'
import { fakeContent, fakeRegistration } from '../fake-paper.fixture.ts'
import { type Job, jobsOf, workFolders } from '../plan/jobs.ts'
import { calibrate, readPaces } from './calibration.ts'
import type { Execute } from './runner.ts'

let work: string
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'gradus-calibration-'))
})
afterEach(() => rmSync(work, { recursive: true, force: true }))

const jobs = (changes: object = {}): Job[] => {
  const registration = fakeRegistration(changes)
  return jobsOf(registration, workFolders(work, registration), () => ({ steps: 10 }))
}

/** Leaves what two steps of training would, in a folder that must still be there. */
const train: Execute = async ({ dir, training }) => {
  mkdirSync(dir, { recursive: true })
  await new Promise(done => setTimeout(done, 20))
  const settings = Object.assign({}, ...training.settings)
  const write = (file: string, rows: object[]) =>
    writeFileSync(join(dir, file), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  const steps = [1, 2].slice(0, settings.steps)
  // Most of it is the first step's warming up; 0.01 s stand for what is left of the 20 ms beside it.
  write(
    'metrics.jsonl',
    steps.map(step => ({ step, time: { total: step === 1 ? 0.008 : 0.002 } })),
  )
  expect(settings.evaluation.every).toBe(1)
  const sizes = [300, 200, 2000]
  write(
    'evals.jsonl',
    [0, ...steps].map(step => ({ step, set: 'unseen', n: sizes[step], primary: 'accuracy', scores: {} })),
  )
  const folder = join(dir, 'checkpoints', 'step-000002')
  mkdirSync(folder, { recursive: true })
  saveRunState(folder, { step: 2, configHash: 'x', rng: {}, recipe: { finished: true, trainedMs: 0 } })
  return { finished: true }
}

const never = new AbortController().signal

it('times each kind of job once, and leaves nothing but what it found', async () => {
  const timed: string[] = []
  const all = jobs()
  await calibrate(all, all, { work, execute: train }, never, text => timed.push(text))
  expect(timed).toEqual([
    'timing checklist-cold-start: 2 steps and its evaluations',
    'timing ruscarl: 2 steps and its evaluations',
  ])
  const { perStep, perEvaluation, fixed } = readPaces(work).get(all[1].pace)!
  expect(perStep).toBeCloseTo(0.005)
  expect(fixed).toBeGreaterThan(0)
  expect(perEvaluation / (fixed + perEvaluation)).toBeCloseTo(200 / 2500)
  expect(readdirSync(work)).toEqual(['paces.json'])
  await calibrate(all, all, { work, execute: train }, never, text => timed.push(text))
  expect(timed).toHaveLength(2)
})

it('of two commands in one folder, neither disturbs the other', async () => {
  const { arms } = fakeContent() as { arms: Record<string, object> }
  const other = jobs({ arms: Object.fromEntries(Object.keys(arms).map(arm => [arm, { recipe: 'other' }])) })
  const both = [jobs(), other].map((all, i) =>
    // The second begins while the first is at it.
    new Promise(done => setTimeout(done, 10 * i)).then(() =>
      calibrate(all, all, { work, execute: train }, never, () => {}),
    ),
  )
  await Promise.all(both)
  const paces = [jobs()[0], jobs()[1], other[1]].map(({ pace }) => pace)
  expect([...readPaces(work).keys()].toSorted()).toEqual(paces.toSorted())
})

it('times an arm without steps apart, and does not take it for the recipe', async () => {
  const { arms } = fakeContent() as { arms: Record<string, object> }
  const all = jobs({ arms: { ...arms, random: { ...arms.random, steps: 0 } } })
  const [start, plain, , , untrained] = all
  // All but the arm without steps is done.
  await calibrate([untrained], all, { work, execute: train }, never, () => {})
  expect(readPaces(work).get(untrained.pace)).toMatchObject({ perStep: 0, perEvaluation: 0 })
  expect(readPaces(work).has(plain.pace)).toBe(false)
  await calibrate([start, plain], all, { work, execute: train }, never, () => {})
  expect(readPaces(work).get(plain.pace)!.perStep).toBeGreaterThan(0)
})

it('times another preset, other settings of all arms or another test set again', () => {
  const paces = [{}, { preset: 'quick' }, { settings: {} }, { test: { problems: 4 } }, { title: 'Another' }]
  const [first, ...others] = paces.map(changes => jobs(changes)[1].pace)
  expect(others.map(pace => pace === first)).toEqual([false, false, false, true])
})

it('begins no further training once it is asked to stop', async () => {
  const stop = new AbortController()
  let launched = 0
  const execute: Execute = async (launch, signal) => {
    launched++
    stop.abort()
    return train(launch, signal)
  }
  const all = jobs()
  // The cold start of two steps that the arm is timed on leaves its checkpoint as it stops.
  await calibrate([all[1]], all, { work, execute }, stop.signal, () => {})
  expect(launched).toBe(1)
})

it('begins an arm with the model that it is given, and times nothing for that', async () => {
  const model = join(work, 'model')
  mkdirSync(model)
  writeFileSync(join(model, 'model.safetensors'), 'weights')
  const all = jobs({ starts: [{ name: 'a', model }] })
  const models: unknown[] = []
  const execute: Execute = (launch, stop) => {
    models.push(launch.training.settings.at(-1)?.model)
    return train(launch, stop)
  }
  await calibrate(all, all, { work, execute }, never, () => {})
  expect(models).toEqual([{ folder: model }])
})
