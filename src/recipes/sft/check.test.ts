import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scheduleAt } from '../../rl/schedules.ts'
import { refusals } from '../common/refusals.fixture.ts'
import { sftRecipeSchema } from './config.ts'
import { sftEntry } from './entry.ts'
import { startConfig } from './start.fixture.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-check-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SHAPE = { hiddenSize: 32, layers: 1, heads: 2 }
const SMALL = { steps: 1, batch: 2, policy: { threads: 1 }, evaluation: { problems: 1 } }
const shaped = (maxPositions: number, more: object = {}) => ({
  model: { shape: { ...SHAPE, maxPositions, ...more } },
})

describe('plan and run refuse the same of a task, before anything is trained', () => {
  it.each<[string, string, Record<string, unknown>, RegExp]>([
    [
      'heads that do not divide the width',
      'arithmetic-cold-start',
      shaped(160, { heads: 5 }),
      /model\.shape: expected heads that divide/,
    ],
    [
      'thinking longer than the context',
      'arithmetic-cold-start',
      { ...shaped(160), evaluation: { problems: 1, maxTokens: 150 } },
      /150 new ones exceed the context of 160/,
    ],
    [
      'lists longer than the context',
      'checklist-cold-start',
      { ...shaped(96), evaluation: { problems: 1, maxTokens: 90 } },
      /90 new ones exceed the context of 96/,
    ],
    ['no room for a reflection', 'records-cold-start', shaped(200), /exceed the context of 200/],
    [
      'questions to a judge longer than the context',
      'chat-cold-start',
      shaped(128),
      /maxPositions: expected at least 256, got 128/,
    ],
    [
      'a model of other words',
      'records-cold-start',
      { model: { folder: 'package:models/packing-start' } },
      /expected a model of the records task's/,
    ],
    [
      'no model where one is named',
      'arithmetic-cold-start',
      { model: { folder: tmpdir() } },
      /holds no model/,
    ],
    [
      'an adapter of fresh weights',
      'arithmetic-cold-start',
      { 'model.lora': {} },
      /model\.lora: expected null/,
    ],
    [
      'a file beside a task',
      'arithmetic-cold-start',
      { data: 'rows.jsonl' },
      /data: expected nothing beside task/,
    ],
    [
      'samples where one answer a problem is evaluated',
      'records-cold-start',
      { evaluation: { problems: 1, samples: 2 } },
      /evaluation\.samples: expected 1/,
    ],
  ])('%s', async (_, name, settings, message) => {
    const config = startConfig(name, { ...SMALL, ...settings })
    const { plan, run, trained } = await refusals(sftEntry, config, folder)
    expect(plan).toMatch(message)
    expect(run).toBe(plan)
    expect(trained).toBe(false)
  })

  it('and a task whose model a server would train', () => {
    const policy = { kind: 'tinker', url: 'http://a:1', model: 'm' }
    expect(() => sftEntry.plan(startConfig('arithmetic-cold-start', { policy }))).toThrow(
      /task: expected null with policy\.kind tinker/,
    )
  })

  it('and bounds the wrong way round are refused by the schema', () => {
    const wrong = { min: 6, max: 4 }
    for (const key of ['task.operations', 'task.rubric.criteria'])
      expect(() => startConfig('arithmetic-cold-start', { [key]: wrong })).toThrow(/min at most max/)
  })
})

it("preset paper-rlcer has the numbers of RLCER's Table 2", () => {
  const config = sftRecipeSchema.parse(sftEntry.presets['paper-rlcer'].config)
  const { steps, batch, maxTokens, model, optimizer } = config
  expect(model).toMatchObject({ folder: 'models/Qwen3-8B-Base', lora: null })
  expect([maxTokens, optimizer.weightDecay]).toEqual([32_768, 0.1])
  // Five epochs of 20,000 rows of each role.
  expect(steps * batch).toBe(5 * 40_000)
  const { learningRate } = optimizer
  // Warm-up over .01 of the steps to 2e-5, and a cosine to 2e-6: half of its way is halfway.
  expect(learningRate).toMatchObject({ kind: 'cosine', warmup: 0.01 * steps })
  const at = (step: number) => scheduleAt(learningRate, step, steps)
  expect(at(250)).toBeCloseTo(2e-5, 12)
  expect(at((250 + steps) / 2)).toBeCloseTo(1.1e-5, 12)
  expect(at(steps)).toBeCloseTo(2e-6, 12)
})
