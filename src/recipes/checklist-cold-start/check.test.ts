import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refusals } from '../common/refusals.fixture.ts'
import { checklistColdStart } from './entry.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-check-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SHAPE = { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 96 }
const SMALL = {
  steps: 1,
  batch: 2,
  model: { shape: SHAPE },
  policy: { threads: 1 },
  evaluation: { problems: 1 },
}

describe('plan and run refuse the same, before anything is trained', () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      'heads that do not divide the width',
      { model: { shape: { ...SHAPE, heads: 5 } } },
      /model\.shape: expected heads that divide/,
    ],
    [
      'lists longer than the context',
      { evaluation: { problems: 1, maxTokens: 90 } },
      /90 new ones exceed the context of 96/,
    ],
  ])('%s', async (_, settings, message) => {
    const { plan, run, trained } = await refusals(checklistColdStart, { ...SMALL, ...settings }, folder)
    expect(plan).toMatch(message)
    expect(run).toBe(plan)
    expect(trained).toBe(false)
  })
})
