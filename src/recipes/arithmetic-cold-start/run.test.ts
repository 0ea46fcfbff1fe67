import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadTokenizer } from '../../model/tokenizer.ts'
import { readEvals, readMetrics, withoutTimings } from '../../runs/readers.ts'
import {
  ARITHMETIC_TOKENS,
  decodeText,
  encodeText,
  evidenceOf,
  isMet,
  readCriterion,
} from '../../tasks/arithmetic/index.ts'
import type { RunResult } from '../common/recipe.ts'
import { arithmeticPhaseSchema } from './config.ts'
import { demonstrations } from './demonstrations.ts'
import { arithmeticColdStart } from './entry.ts'
import { runArithmeticColdStart } from './run.ts'

const SLOW_MS = 120_000

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-arithmetic-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const config = arithmeticPhaseSchema.parse({
  steps: 6,
  batch: 8,
  model: { shape: { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 192 } },
  policy: { threads: 1 },
  optimizer: { learningRate: { kind: 'constant', peak: 3e-3 } },
  evaluation: { problems: 8, maxTokens: 24 },
  checkpoint: { every: 3 },
})

const run = (name: string, resume = false, stopAfter = 100): Promise<RunResult> => {
  let steps = 0
  const events = { onStep: () => steps++, shouldStop: () => steps >= stopAfter }
  return runArithmeticColdStart(config, { dir: join(folder, name), resume, events })
}

const rowsOf = (name: string) => readMetrics(join(folder, name)).map(withoutTimings)

describe('arithmetic-cold-start', () => {
  it('shows both roles, and hints that the demonstration follows', () => {
    const drawn = Array.from({ length: 40 }, (_, i) => demonstrations(config)(i + 1)).flat()
    expect(demonstrations(config)(7)).toEqual(drawn.slice(48, 56))
    const texts = drawn.map(({ promptTokens, responseTokens }) =>
      [promptTokens, responseTokens].map(decodeText),
    )
    const rubrics = texts.filter(([, response]) => response.startsWith('{'))
    expect(rubrics.length / texts.length).toBeGreaterThan(0.3)
    expect(rubrics.length / texts.length).toBeLessThan(0.5)
    expect(rubrics.every(([prompt]) => prompt.endsWith('\n<rubric>'))).toBe(true)
    const told = texts.filter(([prompt]) => /\n(do|avoid) /.test(prompt))
    expect(told.length).toBeGreaterThan(20)
    for (const [prompt, response] of told) {
      const [question, ...lines] = prompt.trim().split('\n')
      const numbers = question.trim().split(' ')
      const problem = {
        id: '',
        start: Number(numbers[0]),
        operations: Array.from({ length: (numbers.length - 1) / 2 }, (_, i) => ({
          operator: numbers[2 * i + 1] as '+',
          operand: Number(numbers[2 * i + 2]),
        })),
      }
      const evidence = evidenceOf(problem, response.slice(0, response.indexOf('</think>')), null)
      for (const line of lines.slice(0, -1)) {
        const [, word, criterion] = /^(do|avoid) (.*)$/.exec(line)!
        expect(isMet(readCriterion(criterion)!, evidence), `${line}: ${response}`).toBe(word === 'do')
      }
    }
  })

  it(
    'learns from demonstrations, and leaves a checkpoint that reads the pieces of arithmetic',
    async () => {
      const { checkpoint, finished } = await run('whole')
      expect(finished).toBe(true)
      const losses = readMetrics(join(folder, 'whole')).map(({ loss }) => loss as number)
      expect(losses).toHaveLength(6)
      expect(losses[5]).toBeLessThan(losses[0])
      const tokenizer = loadTokenizer(checkpoint!)
      expect(tokenizer.encode('\nplan 3 steps')).toEqual(encodeText('\nplan 3 steps'))
      expect(tokenizer.eosId).toBe(ARITHMETIC_TOKENS.eos)
      expect(readEvals(join(folder, 'whole')).map(({ step, set, n }) => [step, set, n])).toEqual([
        [6, 'unseen', 8],
        [6, 'not told', 8],
        [6, 'told', 8],
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
      const steps0 = { ...config, steps: 0, labels: 12, start: checkpoint! }
      const dir = join(folder, 'labels')
      const labelled = await runArithmeticColdStart(steps0, { dir, resume: false })
      expect(labelled).toMatchObject({ step: 0, finished: true })
      const rows = readFileSync(join(dir, 'labels.jsonl'), 'utf8').trim().split('\n')
      expect(rows).toHaveLength(12)
      await expect(
        runArithmeticColdStart({ ...steps0, start: folder }, { dir: join(folder, 'none'), resume: false }),
      ).rejects.toThrow(/start: .* holds no model/)
      const plan = arithmeticColdStart.plan(
        arithmeticColdStart.schema.parse({ start: 'later', steps: 0, labels: 5 }),
      )
      expect(plan.lines.join('\n')).toMatch(/model {8}later.*labels {7}5 rows/s)
    },
    SLOW_MS,
  )

  it('says what it would do', () => {
    const plan = arithmeticColdStart.plan(arithmeticColdStart.schema.parse({ steps: 7, hinted: 0.25 }))
    expect(plan.json).toMatchObject({ steps: 7 })
    expect(plan.lines.join('\n')).toContain('25% of the others with hints')
  })
})
