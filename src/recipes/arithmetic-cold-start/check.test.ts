import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refusals } from '../common/refusals.fixture.ts'
import { arithmeticColdStart } from './entry.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-check-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SHAPE = { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 160 }
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
      'thinking longer than the context',
      { evaluation: { problems: 1, maxTokens: 150 } },
      /150 new ones exceed the context of 160/,
    ],
  ])('%s', async (_, settings, message) => {
    const { plan, run, trained } = await refusals(arithmeticColdStart, { ...SMALL, ...settings }, folder)
    expect(plan).toMatch(message)
    expect(run).toBe(plan)
    expect(trained).toBe(false)
  })

  it('and bounds the wrong way round are refused by the schema', () => {
    expect(() => arithmeticColdStart.schema.parse({ operations: { min: 6, max: 4 } })).toThrow(
      /min at most max/,
    )
    expect(() => arithmeticColdStart.schema.parse({ rubric: { criteria: { min: 9, max: 6 } } })).toThrow(
      /min at most max/,
    )
  })
})
