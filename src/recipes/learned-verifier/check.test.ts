import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refusals } from '../common/refusals.fixture.ts'
import { learnedVerifier } from './entry.ts'

let folder: string
const at = (name: string) => join(folder, name)
const write = (name: string, rows: readonly object[]) =>
  writeFileSync(at(name), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-check-'))
  const rows = Array.from({ length: 40 }, (_, i) => ({
    criterion: 'c',
    response: `r ${i}`,
    met: i % 2 === 0,
  }))
  write('rows.jsonl', rows)
  write(
    'one-label.jsonl',
    rows.map(row => ({ ...row, met: true })),
  )
  write('other.jsonl', [{ text: 'hello' }])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SMALL = { steps: 1, batch: 2, policy: { threads: 1 }, evaluation: { rows: 2 } }
const shape = { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 64 }

describe('plan and run refuse the same, before anything is trained', () => {
  it.each<[string, () => Record<string, unknown>, RegExp]>([
    [
      'heads that do not divide the width',
      () => ({ data: { file: at('rows.jsonl') }, model: { shape: { ...shape, heads: 5 } } }),
      /model\.shape: expected heads that divide/,
    ],
    ['rows of one label', () => ({ data: { file: at('one-label.jsonl') } }), /expected rows of both labels/],
    ['rows of another kind', () => ({ data: { file: at('other.jsonl') } }), /other\.jsonl:1/],
  ])('%s', async (_, settings, message) => {
    const { plan, run, trained } = await refusals(learnedVerifier, { ...SMALL, ...settings() }, folder)
    expect(plan).toMatch(message)
    expect(run).toBe(plan)
    expect(trained).toBe(false)
  })

  it('but a plan may name labels that come later, and says so', async () => {
    const settings = { ...SMALL, data: { file: at('later.jsonl') } }
    const { plan, run } = await refusals(learnedVerifier, settings, folder)
    expect(plan).toBeNull()
    expect(run).toMatch(/later\.jsonl: cannot be read/)
    const linesOf = (file: string) =>
      learnedVerifier.plan(learnedVerifier.schema.parse({ data: { file } })).lines.join('\n')
    expect(linesOf(at('later.jsonl'))).toContain('later.jsonl (not there yet')
    expect(linesOf(at('rows.jsonl'))).not.toContain('not there yet')
  })
})
