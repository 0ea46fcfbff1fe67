import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import { rubricAsRewardSchema } from '../rubric-as-reward/config.ts'
import { rubricAsRewardEntry } from '../rubric-as-reward/entry.ts'
import { estimateMemory, memoryLines } from './feasible.ts'
import { wordModel } from './word-models.ts'

const paper = (policy: object = {}) => {
  const preset = rubricAsRewardEntry.presets.paper.config
  const config = rubricAsRewardSchema.parse({
    ...preset,
    policy: { ...(preset.policy as object), ...policy },
  })
  return { config, plan: rubricAsRewardEntry.plan(config) }
}
const memoryOf = (plan: ReturnType<typeof paper>['plan']) =>
  plan.json.memoryBytes as ReturnType<typeof estimateMemory>

describe('the plan of preset paper', () => {
  it('holds the weights once, in 32 bits: the sampler of a large model has no copy', () => {
    const { plan } = paper()
    expect(plan.json.parameters).toBeGreaterThan(3.0e9)
    const adapter = plan.json.trainedParameters as number
    expect(adapter).toBeGreaterThan(5e7)
    expect(memoryOf(plan).weights).toBe(4 * (plan.json.parameters as number))
  })

  it('trains one sequence at a time, and says what dominates', () => {
    const { config, plan } = paper()
    const { microBatchTokens } = z.object({ microBatchTokens: z.int() }).parse(config.policy)
    expect(microBatchTokens).toBeLessThan(600 + config.rollout.maxTokens)
    expect(memoryOf(plan).total).toBeLessThan(48e9)
    const [line] = plan.lines.filter(text => text.includes('mostly'))
    expect(line).toMatch(/mostly weights \d+%/)
    const { plan: kept } = paper({ recompute: false })
    expect(kept.lines.find(text => text.includes('mostly'))).toMatch(
      /mostly activations \d+% \(all layers of one sequence of up to 1,112 tokens at once; policy\.recompute=true/,
    )
    expect(memoryOf(kept).activations).toBeGreaterThan(8 * memoryOf(plan).activations)
  })
})

describe('estimateMemory', () => {
  it.each([
    [75_000, 256, true, 1_023],
    [150_000, 128, true, 1_018],
    [150_000, 128, false, 1_451],
  ])(
    'of a vocabulary that learns is no less than was measured: %i words, width %i',
    (vocabSize, width, tieEmbeddings, measured) => {
      const base = wordModel(LOGIC_VOCABULARY)(rubricAsRewardSchema.parse({}).model.shape)
      const own = { layers: 1, heads: 4, kvHeads: 2, headDim: width / 4, intermediateSize: 2 * width }
      const { total, weights } = estimateMemory(
        { ...base, vocabSize, hiddenSize: width, tieEmbeddings, ...own },
        {
          ...{ lora: null, reference: false, microBatchTokens: 256, sequence: 64, machineBytes: 24e9 },
          draws: [{ rows: 8, prompts: 8, maxRows: 128, promptTokens: 7, newTokens: 57 }],
        },
      )
      // Nothing was sampled, so that the sampler's graph had no copy of the weights.
      expect((total - weights / 2) / 2 ** 20).toBeGreaterThan(measured)
    },
  )

  const shape = rubricAsRewardSchema.parse({}).model.shape
  const options = {
    lora: null,
    reference: false,
    microBatchTokens: 4096,
    sequence: 256,
    draws: [{ rows: 256, prompts: 32, maxRows: 256, promptTokens: 130, newTokens: 96 }],
  }

  it('counts the keys and values of the largest request, of which no more are decoded together than have room', () => {
    const large = { ...wordModel(LOGIC_VOCABULARY)(shape), layers: 30, kvHeads: 3, headDim: 64 }
    const own = { promptTokens: 256, newTokens: 112, maxRows: 128 }
    const rollouts = { ...own, rows: 32, prompts: 4 }
    const evaluation = { ...own, rows: 128, prompts: 128 }
    const cacheOf = (...draws: (typeof rollouts)[]) => estimateMemory(large, { ...options, draws }).cache
    expect(cacheOf(rollouts, evaluation)).toBe(cacheOf(evaluation))
    expect(cacheOf(evaluation)).toBeGreaterThan(3 * cacheOf(rollouts))
    expect(cacheOf(evaluation)).toBeLessThan(2.2 * 2 ** 30)
    expect(cacheOf({ ...evaluation, rows: 1000, prompts: 1000 })).toBeLessThan(2.2 * 2 ** 30)
    expect(cacheOf()).toBe(0)
  })

  it('counts what is asked for: a reference is a copy, longer micro-batches cost in proportion', () => {
    const config = wordModel(LOGIC_VOCABULARY)(shape)
    const plain = estimateMemory(config, options)
    const { total, ...parts } = plain
    expect(total).toBe(Object.values(parts).reduce((a, b) => a + b, 0))
    const withReference = estimateMemory(config, { ...options, reference: true })
    expect(2 * (withReference.optimizer - plain.optimizer)).toBe(plain.weights)
    const second = estimateMemory(config, { ...options, secondEngine: true })
    // Its own weights, and as much again between the engines; the first engine has a copy in the sampler's graph already.
    expect(second.weights).toBe(2 * plain.weights)
    // Two that share the work: weights and gradients in both and between them, moments in halves, and all of them in the first one
    // from its first checkpoint on; a reference in both.
    const shared = estimateMemory(config, { ...options, engines: 2 })
    expect(shared.weights).toBe(2.5 * plain.weights)
    expect(shared.optimizer).toBe(2 * plain.optimizer)
    const sharedReference = estimateMemory(config, { ...options, engines: 2, reference: true })
    expect(sharedReference.optimizer - shared.optimizer).toBe(plain.weights)
    expect(shared.activations).toBe(plain.activations)
    const twice = estimateMemory(config, { ...options, microBatchTokens: 8192 })
    expect(twice.activations).toBe(2 * plain.activations)
    // In place of the copy in the sampler's graph.
    expect(estimateMemory(config, { ...options, sampleBits: 8 }).weights).toBeCloseTo(0.8 * plain.weights)
    const recomputed = estimateMemory(config, { ...options, recompute: true })
    expect(recomputed.activations).toBeLessThan(plain.activations)
    expect(memoryLines(plain, options)[1]).toMatch(
      /policy\.recompute=true.*, or lower policy\.microBatchTokens\)$/,
    )
    expect(memoryLines(recomputed, { ...options, recompute: true })[1]).toMatch(
      /two layers of a micro-batch at once; lower policy\.microBatchTokens\)$/,
    )
  })
})
