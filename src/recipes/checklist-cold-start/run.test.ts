import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadTokenizer } from '../../model/tokenizer.ts'
import { readEvals, readMetrics, withoutTimings } from '../../runs/readers.ts'
import { CHECKLIST_TOKENS, wordToken } from '../../tasks/checklist/index.ts'
import type { RunResult } from '../common/recipe.ts'
import { checklistPhaseSchema } from './config.ts'
import { checklistColdStart } from './entry.ts'
import { runChecklistColdStart } from './run.ts'

const SLOW_MS = 120_000

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-cold-start-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const config = checklistPhaseSchema.parse({
  steps: 6,
  batch: 8,
  model: { shape: { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 96 } },
  policy: { threads: 1 },
  optimizer: { learningRate: { kind: 'constant', peak: 3e-3 } },
  evaluation: { problems: 8 },
  checkpoint: { every: 3 },
})

const run = (name: string, resume = false, stopAfter = 100): Promise<RunResult> => {
  let steps = 0
  const events = { onStep: () => steps++, shouldStop: () => steps >= stopAfter }
  return runChecklistColdStart(config, { dir: join(folder, name), resume, events })
}

const rowsOf = (name: string) => readMetrics(join(folder, name)).map(withoutTimings)

describe('checklist-cold-start', () => {
  it(
    'learns from demonstrations, and leaves a checkpoint that reads the words of packing',
    async () => {
      const { checkpoint, finished } = await run('whole')
      expect(finished).toBe(true)
      const losses = readMetrics(join(folder, 'whole')).map(({ loss }) => loss as number)
      expect(losses).toHaveLength(6)
      expect(losses[5]).toBeLessThan(losses[0])
      const tokenizer = loadTokenizer(checkpoint!)
      expect(tokenizer.encode('beach tent')).toEqual([wordToken('beach'), wordToken('tent')])
      expect(tokenizer.eosId).toBe(CHECKLIST_TOKENS.eos)
      const evals = readEvals(join(folder, 'whole'))
      expect(evals.map(({ step, set, n }) => [step, set, n])).toEqual([
        [6, 'unseen trips', 8],
        [6, 'full scaffold', 8],
      ])
    },
    SLOW_MS,
  )

  it(
    'goes on where it was stopped, as if it had not been',
    async () => {
      expect(await run('stopped', false, 4)).toMatchObject({ step: 4, finished: false })
      expect(await run('stopped', true)).toMatchObject({ step: 6, finished: true })
      expect(rowsOf('stopped')).toEqual(rowsOf('whole'))
    },
    SLOW_MS,
  )

  it('says what it would do', () => {
    const plan = checklistColdStart.plan(checklistColdStart.schema.parse({ steps: 7, hinted: 0.25 }))
    expect(plan.json).toMatchObject({ steps: 7 })
    expect(plan.lines.join('\n')).toContain('25% of them with hints')
  })
})
