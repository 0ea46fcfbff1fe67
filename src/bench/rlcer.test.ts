import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { saveCheckpoint } from '../model/checkpoint.ts'
import { initWeights } from '../model/weights.ts'
import { freshArithmeticModel } from '../recipes/reasoning/arithmetic.ts'
import { modelShapeSchema } from '../train/config.ts'
import { benchRlcer, formatRlcerBenchmark } from './rlcer.ts'
import { slowVerifier } from './rlcer-judged.ts'
import { SlowJudge } from './slow-judge.ts'

it('measures verification, steps and a slow verifier on the arithmetic task', {
  timeout: 240_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-bench-rlcer-'))
  const shape = modelShapeSchema.parse({ hiddenSize: 32, layers: 1, heads: 2, maxPositions: 256 })
  const { config, files } = freshArithmeticModel(shape, 1).init!
  saveCheckpoint(folder, {
    config,
    weights: initWeights(config, 1),
    files: new Map(Object.entries(files!)),
  })
  const result = await benchRlcer({
    ...{ questions: 4, samples: 2, criteria: 6, latencyMs: 5, slots: 8 },
    ...{ steps: 2, rounds: 1, threads: 1, folder, constrained: true },
  }).finally(() => rmSync(folder, { recursive: true, force: true }))
  const { verification, step, judged } = result
  expect(verification).toMatchObject({ rubrics: 8, verdicts: 8 * 2 * 6 })
  expect(verification.medianMs).toBeGreaterThan(0)
  for (const value of Object.values(step)) expect(value).toBeGreaterThan(0)
  // Held to the grammar, it writes rubrics: the verifier is asked, once for each rubric and response.
  expect(judged.calls).toBeGreaterThan(0)
  expect(judged.calls).toBeLessThanOrEqual(16)
  expect(judged.cachedCalls).toBe(0)
  expect(judged.overlap).toBeGreaterThanOrEqual(0)
  const text = formatRlcerBenchmark(result).split('\n')
  expect(text).toHaveLength(5)
  expect(text[2]).toContain(`${step.ratio.toFixed(2)} times as long`)
})

it('a slow verifier takes no more calls at a time than it has slots', async () => {
  const judge = new SlowJudge(10, 3)
  const model = slowVerifier(judge)
  const startMs = performance.now()
  const ask = { messages: [{ role: 'user' as const, content: '1. (reward, 2 points) x' }] }
  const answers = await Promise.all(Array.from({ length: 20 }, () => model.complete(ask)))
  expect(answers[0].text).toContain('[true]')
  expect(judge).toMatchObject({ calls: 20, busiest: 3 })
  // Seven rounds of three; a timer may be early by a part of a millisecond.
  expect(performance.now() - startMs).toBeGreaterThan(7 * 9)
})
