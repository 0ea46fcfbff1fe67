import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Io } from '../io.ts'
import type { SolverCommandOptions } from '../rule-options.ts'
import { verifyLogic } from './command.ts'

describe('verifyLogic', () => {
  let folder: string
  const printed: string[] = []
  const io: Io = {
    out: { write: text => printed.push(text) },
    err: { write: () => true },
    onInterrupt: () => () => undefined,
  }
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gradus-verify-'))
    printed.length = 0
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  const verify = (rows: unknown[], options?: SolverCommandOptions) => {
    const file = join(folder, 'rows.jsonl')
    writeFileSync(file, rows.map(row => JSON.stringify(row)).join('\n'))
    return verifyLogic(file, io, options)
  }

  it('prints one line a row', async () => {
    const code = await verify([
      { 'premises-FOL': ['∀x (P(x) → Q(x))', 'P(a)'], 'conclusion-FOL': 'Q(a)', label: 'True' },
      { premises: ['Cats are red.', 'Rex is a cat.'], steps: ['Rex is red.', 'Rex is big.'] },
    ])
    expect(code).toBe(0)
    expect(printed.map(line => JSON.parse(line))).toEqual([
      { label: 'True', reason: null },
      {
        steps: [
          { credit: 1, status: 'entailed' },
          { credit: 0.5, status: 'consistent' },
        ],
      },
    ])
  })

  it('goes on after a row that it cannot use, and says so by its exit code', async () => {
    const code = await verify([{ nothing: 1 }, { 'premises-FOL': ['p'], 'conclusion-FOL': 'p' }])
    expect(code).toBe(1)
    expect(JSON.parse(printed[0])).toMatchObject({ label: null, reason: expect.stringContaining('expected') })
    expect(JSON.parse(printed[1])).toEqual({ label: 'True', reason: null })
  })

  it('takes different names for different things where asked', async () => {
    const row = { 'premises-FOL': ['a = b ∨ P(a)'], 'conclusion-FOL': 'P(a)' }
    await verify([row])
    await verify([row], { uniqueNames: true, solverTimeoutMs: 1000, solverLabelTimeoutMs: 5000 })
    expect(printed.map(line => JSON.parse(line).label)).toEqual(['Unknown', 'True'])
    await expect(verify([row], { solverTimeoutMs: 1e9 })).rejects.toThrow(/timeoutMs: expected .* at most/)
  })

  it('names a file that it cannot read', async () => {
    await expect(verifyLogic(join(folder, 'none.jsonl'), io)).rejects.toThrow(/none\.jsonl: cannot be read/)
  })
})
