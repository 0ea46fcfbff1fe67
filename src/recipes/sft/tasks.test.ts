import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadTokenizer } from '../../model/tokenizer.ts'
import { readEvals, readMetrics, withoutTimings } from '../../runs/readers.ts'
import { ARITHMETIC_TOKENS } from '../../tasks/arithmetic/index.ts'
import { ARITHMETIC_PIECES } from '../../tasks/arithmetic/vocabulary.ts'
import { CHECKLIST_TOKENS, wordToken } from '../../tasks/checklist/index.ts'
import type { RunResult } from '../common/recipe.ts'
import type { SftConfig } from './config.ts'
import { sftEntry } from './entry.ts'
import { runSftRecipe } from './run.ts'
import { startConfig } from './start.fixture.ts'

const SLOW_MS = 120_000

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-arithmetic-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SMALL = {
  steps: 6,
  batch: 8,
  model: { shape: { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 192 } },
  policy: { threads: 1 },
  optimizer: { learningRate: { kind: 'constant', peak: 3e-3 } },
  evaluation: { problems: 8, maxTokens: 24 },
  checkpoint: { every: 3 },
}
const config = startConfig('arithmetic-cold-start', SMALL)

const run = (name: string, resume = false, stopAfter = 100): Promise<RunResult> => {
  let steps = 0
  const events = { onStep: () => steps++, shouldStop: () => steps >= stopAfter }
  return runSftRecipe(config, { dir: join(folder, name), resume, events })
}

const rowsOf = (name: string) => readMetrics(join(folder, name)).map(withoutTimings)

describe('sft on a task', () => {
  it(
    'learns from demonstrations, and leaves a checkpoint that reads the pieces of arithmetic',
    async () => {
      const { checkpoint, finished } = await run('whole')
      expect(finished).toBe(true)
      const losses = readMetrics(join(folder, 'whole')).map(({ loss }) => loss as number)
      expect(losses).toHaveLength(6)
      expect(losses[5]).toBeLessThan(losses[0])
      const tokenizer = loadTokenizer(checkpoint!)
      expect(tokenizer.encode('\nplan 3 steps')).toEqual(ARITHMETIC_PIECES.encode('\nplan 3 steps'))
      expect(tokenizer.eosId).toBe(ARITHMETIC_TOKENS.eos)
      expect(readEvals(join(folder, 'whole')).map(({ step, set, n }) => [step, set, n])).toEqual([
        [6, 'unseen', 8],
        [6, 'hints', 8],
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

  it(
    'leaves labels on what a given checkpoint writes, without learning anything',
    async () => {
      const { checkpoint } = await run('before')
      const of = (start: string) => ({
        ...config,
        ...{
          steps: 0,
          task: { ...config.task!, labels: 12 } as SftConfig['task'],
          model: { ...config.model, folder: start },
        },
      })
      const dir = join(folder, 'labels')
      const labelled = await runSftRecipe(of(checkpoint!), { dir, resume: false })
      expect(labelled).toMatchObject({ step: 0, finished: true })
      const rows = readFileSync(join(dir, 'labels.jsonl'), 'utf8').trim().split('\n')
      expect(rows).toHaveLength(12)
      await expect(runSftRecipe(of(folder), { dir: join(folder, 'none'), resume: false })).rejects.toThrow(
        /model\.folder: .* holds no model/,
      )
      const { lines } = sftEntry.plan(
        startConfig('arithmetic-cold-start', { 'model.folder': 'later', steps: 0, 'task.labels': 5 }),
      )
      expect(lines.join('\n')).toMatch(/model {8}later.*labels {7}5 rows/s)
    },
    SLOW_MS,
  )

  it(
    'learns lists, and leaves a checkpoint that reads the words of packing',
    async () => {
      const dir = join(folder, 'packing')
      const model = { shape: { ...SMALL.model.shape, maxPositions: 96 } }
      const packing = startConfig('checklist-cold-start', { ...SMALL, model })
      const { checkpoint } = await runSftRecipe(packing, { dir, resume: false })
      const tokenizer = loadTokenizer(checkpoint!)
      expect(tokenizer.encode('beach tent')).toEqual([wordToken('beach'), wordToken('tent')])
      expect(tokenizer.eosId).toBe(CHECKLIST_TOKENS.eos)
      expect(readEvals(dir).map(({ step, set, n }) => [step, set, n])).toEqual([
        [6, 'unseen trips', 8],
        [6, 'full scaffold', 8],
      ])
    },
    SLOW_MS,
  )

  it.each([
    ['checklist-cold-start', '25% of them with hints'],
    ['arithmetic-cold-start', '25% of the others with hints'],
  ])('says what %s would do', (name, words) => {
    const plan = sftEntry.plan(startConfig(name, { steps: 7, 'task.hinted': 0.25 }))
    expect(plan.json).toMatchObject({ steps: 7 })
    expect(plan.lines.join('\n')).toContain(words)
  })
})
