import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../model/checkpoint.ts'
import { readEvals } from '../../runs/readers.ts'
import { sftEntry } from '../sft/entry.ts'
import { startConfig } from '../sft/start.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-without-steps-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const shape = { hiddenSize: 32, layers: 1, heads: 2 }
const few = { problems: 4 }
const TINY: Record<string, { maxPositions: number; evaluation: object; task?: object }> = {
  'logic-cold-start': {
    ...{ maxPositions: 256, evaluation: { ...few, maxTokens: 16 } },
    task: { tests: { hops: [1, 2] } },
  },
  'checklist-cold-start': { maxPositions: 96, evaluation: few },
  'arithmetic-cold-start': { maxPositions: 256, evaluation: { ...few, maxTokens: 16 } },
  'records-cold-start': { maxPositions: 320, evaluation: few },
  'chat-cold-start': { maxPositions: 512, evaluation: few },
}

describe('a cold start without steps', () => {
  it.each(Object.keys(TINY))(
    '%s tests its fresh weights once, saves them, and is finished',
    async name => {
      const { run, plan } = sftEntry
      const { maxPositions, evaluation, task = {} } = TINY[name]
      const config = startConfig(name, {
        ...{ steps: 0, policy: { threads: 1 }, evaluation, task },
        model: { shape: { ...shape, maxPositions } },
      }) as never
      expect(plan(config).lines.join('\n')).toContain('0 steps')
      const dir = join(folder, name)
      const result = await run(config, { dir, resume: false })
      expect(result).toMatchObject({ step: 0, finished: true })
      expect(loadConfig(result.checkpoint!).hiddenSize).toBe(shape.hiddenSize)
      const evals = readEvals(dir)
      expect(evals.length).toBeGreaterThan(0)
      expect(evals.every(({ step, n }) => step === 0 && n === few.problems)).toBe(true)
      expect(existsSync(join(dir, 'report.html'))).toBe(true)
      expect(await run(config, { dir, resume: true })).toMatchObject({ step: 0, finished: true })
      expect(readEvals(dir)).toEqual(evals)
    },
    120_000,
  )
})
