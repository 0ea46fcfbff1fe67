import { describe, expect, it } from 'vitest'
import { type EngineBenchmark, formatEngineBenchmark } from './engine.ts'

const RESULT: EngineBenchmark = {
  provider: 'cpu',
  shape: 'standard',
  workload: {
    ...{ layers: 4, hiddenSize: 256, queryWidth: 256 },
    ...{ promptTokens: 16, newTokens: 128, sequence: 256 },
  },
  parameters: 3_300_000,
  loraRank: 0,
  threads: 2,
  engines: 1,
  recompute: false,
  arena: true,
  microBatchTokens: 2048,
  matmulGflops: 300,
  trainStepSeconds: 0.37,
  trainGflops: 255,
  trainToMatmul: 0.85,
  idealTrainSeconds: 0.3,
  trainToIdeal: 1.23,
  groupTrainSeconds: 0.5,
  groupTrainGflops: 200,
  groupTrainToMatmul: 0.67,
  decodeTokensPerSecond: { 1: 1000, 8: 6000, 32: 12_000, 128: 20_000 },
  steadyRowTokensPerSecond: 1500,
  decodeToMatmul: { 1: 0.02, 8: 0.13, 32: 0.26, 128: 0.44 },
  idealDecodeTokensPerSecond: { 1: 3000, 8: 12_000, 32: 20_000, 128: 30_000 },
  decodeToIdeal: { 1: 0.33, 8: 0.5, 32: 0.6, 128: 0.67 },
  sharedPromptTokensPerSecond: { '4x8': 14_000 },
  sharedPromptToMatmul: { '4x8': 0.31 },
  raggedDecode: { prompts: 16, samples: 128, seconds: 0.4, tokens: 4000, longest: 128 },
  optimizerMsPerMillionParams: 1.07,
  adamwMsPerMillionParams: 0.75,
  peakRssMb: 420,
}

describe('the engine benchmark as text', () => {
  it('has a line for every value, with its share of the matrix product', () => {
    const lines = formatEngineBenchmark(RESULT).split('\n')
    expect(lines).toHaveLength(12)
    expect(lines[0]).toMatch(/^matrix product 1024\^3 +300 GFLOP\/s +2 threads$/)
    expect(lines[1]).toMatch(
      /^training step, 16 x 256 tokens +0.37 s, 255 GFLOP\/s +85% of it; 1\.23 x its products alone, 0\.3 s$/,
    )
    expect(lines[5]).toMatch(
      /^decode, 32 rows +12000 tokens\/s +26% of it; 60% of its products alone, 20000$/,
    )
    expect(lines[7]).toMatch(/^decode, 1 row, weights unchanged +1500 tokens\/s$/)
    expect(lines[8]).toMatch(/^decode, 4 prompts x 8 samples +14000 tokens\/s +31% of it$/)
    expect(lines[10]).toMatch(
      /^optimiser +1\.07 ms per million parameters +AdamW alone, on one thread 0\.75$/,
    )
    expect(lines[11]).toMatch(/^peak memory +420 MB$/)
  })

  it('says how many engines the threads were divided among', () => {
    const [line] = formatEngineBenchmark({ ...RESULT, engines: 2 }).split('\n')
    expect(line).toMatch(/ 2 threads; what follows on 2 engines$/)
  })
})
