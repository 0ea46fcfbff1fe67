import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { saveCheckpoint } from '../model/checkpoint.ts'
import { initWeights } from '../model/weights.ts'
import { freshRecordsModel } from '../recipes/sft/records.ts'
import { modelShapeSchema } from '../train/config.ts'
import { benchRubricem, formatRubricemBenchmark } from './rubricem.ts'

it('measures three things at once, and turns, on the records task', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-bench-rubricem-'))
  const shape = modelShapeSchema.parse({ hiddenSize: 32, layers: 1, heads: 2, maxPositions: 320 })
  const { config, files } = freshRecordsModel(shape, 1).init!
  saveCheckpoint(folder, {
    config,
    weights: initWeights(config, 1),
    files: new Map(Object.entries(files!)),
  })
  const result = await benchRubricem({
    ...{ questions: 2, samples: 2, latencyMs: 10, slots: 2, steps: 1, rounds: 1, threads: 1, folder },
  }).finally(() => rmSync(folder, { recursive: true, force: true }))
  // A proposal for each question; a fresh model's attempts have stages that can be scored, or none.
  expect(result.calls).toBeGreaterThanOrEqual(2)
  for (const each of [result.oneEngine, result.twoEngines]) {
    // Two at a time, of 10 ms each; a timer may be early by a part of a millisecond.
    expect(each.judgeS).toBeGreaterThan((Math.ceil(result.calls / 2) * 9) / 1000)
    for (const { stepS } of [each.oneAhead, each.twoAhead]) expect(stepS).toBeGreaterThan(0)
    expect(each.sumS).toBeCloseTo(each.sampleS + each.judgeS + each.updateS, 6)
  }
  expect(result.several.turns).toBeGreaterThanOrEqual(1)
  for (const rate of [result.several.severalRate, result.several.singleRate, result.several.evenRate])
    expect(rate).toBeGreaterThan(0)
  expect(result.several.placesPerToken).toBeGreaterThanOrEqual(1)
  const text = formatRubricemBenchmark(result).split('\n')
  expect(text).toHaveLength(14)
  expect(text[3]).toContain(`${result.oneEngine.oneAhead.toLongest.toFixed(2)} x the longest`)
})
