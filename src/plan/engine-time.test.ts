import { describe, expect, it } from 'vitest'
import { TINY } from '../policy/local/tiny-model.fixture.ts'
import { forwardFlop, sizeOf } from '../recipes/common/model-size.ts'
import { learningTime, samplingTime } from '../recipes/common/step-time.ts'
import type { StepWork } from '../recipes/common/step-work.ts'
import { checkRun, knownLengths } from './check-run.ts'
import { fitDecoding, measuredSpeed, parseEngineSpeed } from './engine-time.ts'

/** A machine on which a step takes 1 ms a layer and 0.1 ms a row, whoever shares a prompt. */
const rateOf = (rows: number) => rows / (2e-3 + 1e-4 * rows)
/** Operations of a token in the benchmark, and in samples of 32, which look back less far. */
const FLOP_A_TOKEN = 2e6 + 4 * 2 * 64 * 80
const EARLIER = (2e6 + 4 * 2 * 64 * 32) / FLOP_A_TOKEN

const SPEED = parseEngineSpeed(
  {
    ...{
      threads: 1,
      engines: 1,
      recompute: false,
      parameters: 1e6,
      trainGflops: 100,
      groupTrainGflops: 50,
      optimizerMsPerMillionParams: 1,
    },
    decodeTokensPerSecond: { 1: rateOf(1), 8: rateOf(8), 32: rateOf(32), 128: rateOf(128) },
    sharedPromptTokensPerSecond: { '4x8': rateOf(32), '16x8': rateOf(128) },
    // Those of 128 rows that end together at 32 tokens: 128 steps of 2 ms, and 4096 tokens; and a quarter more.
    raggedDecode: {
      prompts: 16,
      samples: 128,
      seconds: 1.25 * (128 * 2e-3 + 4096 * 1e-4 * EARLIER),
      tokens: 4096,
      longest: 128,
    },
    workload: { layers: 2, hiddenSize: 64, queryWidth: 64, promptTokens: 16, newTokens: 128 },
  },
  'test',
)
const MEASURED = measuredSpeed(SPEED)

describe('the engine by its measurements', () => {
  it('finds what a layer and what a row take', () => {
    for (const shared of [false, true]) {
      const { secondsPerLayer, secondsPerFlop } = fitDecoding(SPEED, shared)
      expect(secondsPerLayer).toBeCloseTo(1e-3, 8)
      expect(secondsPerFlop * FLOP_A_TOKEN).toBeCloseTo(1e-4, 9)
    }
  })

  it('never finds less than nothing for a layer', () => {
    const odd = {
      ...SPEED,
      decodeTokensPerSecond: { 1: 1000, 8: 900, 32: 800 },
      sharedPromptTokensPerSecond: {},
    }
    const { secondsPerLayer, secondsPerFlop } = fitDecoding(odd, false)
    expect(secondsPerLayer).toBe(0)
    expect(secondsPerFlop).toBeGreaterThan(0)
  })

  it('says what is missing in a file', () => {
    expect(() => parseEngineSpeed({ threads: 1 }, 'bench.json')).toThrow(/bench\.json: .*parameters/s)
  })

  const size = sizeOf(TINY)
  const draw = { prompts: 4, promptTokens: 10, samples: 32, newTokens: 20, longestTokens: 40 }

  it('decodes batch after batch, each as long as its longest', () => {
    const one = samplingTime(size, draw, 32, MEASURED)
    const four = samplingTime(size, draw, 8, MEASURED)
    expect(four - one).toBeCloseTo(MEASURED.raggedness * 3 * 40 * size.layers * 1e-3, 6)
  })

  it('takes longer where samples end at different times, as the benchmark says', () => {
    // Reading the prompts is not in the measurements above: 16 x 16 tokens at 50 GFLOP/s.
    const read = (256 * (2e6 + 4 * 2 * 64 * 8)) / 50e9
    const even = 128 * 2e-3 + 4096 * 1e-4 * EARLIER
    expect(MEASURED.raggedness).toBeCloseTo((1.25 * even) / (even + read), 6)
    const quick = measuredSpeed({ ...SPEED, raggedDecode: { ...SPEED.raggedDecode, seconds: 1e-3 } })
    expect(quick.raggedness).toBe(1)
    const together = { ...draw, longestTokens: 20, newTokens: 20 }
    const apart = { ...draw, longestTokens: 20, newTokens: 19.999 }
    expect(samplingTime(size, apart, 32, MEASURED) / samplingTime(size, together, 32, MEASURED)).toBeCloseTo(
      MEASURED.raggedness,
      2,
    )
  })

  it('learns forward once and backward twice, and leaves out groups without a spread', () => {
    const learning = {
      ...{ trained: 1e6, lora: null, reference: false },
      ...{ epochs: 1, minibatches: 2, recompute: false, supervised: false },
    }
    const forward = forwardFlop(size, 40, 5) + forwardFlop(size, 640, 20)
    expect(learningTime(size, [draw], learning, MEASURED)).toBeCloseTo((3 * forward) / 50e9 + 0.002, 9)
    expect(learningTime(size, [draw], learning, MEASURED, 0.5)).toBeCloseTo((1.5 * forward) / 50e9 + 0.002, 9)
    // Layers that are computed again go forward once more in each epoch.
    expect(learningTime(size, [draw], { ...learning, recompute: true }, MEASURED)).toBeCloseTo(
      (4 * forward) / 50e9 + 0.002,
      9,
    )
    // Rows of their own go at the rate of long sequences.
    expect(learningTime(size, [draw], { ...learning, supervised: true }, MEASURED)).toBeCloseTo(
      (3 * forward) / 100e9 + 0.002,
      9,
    )
  })
})

describe('a run beside its plan', () => {
  const work: StepWork = {
    ...{ model: 'tiny', shape: TINY, lora: null, reference: false, critic: false, scorings: 0 },
    ...{
      steps: 10,
      minibatches: 1,
      epochs: 1,
      judges: [],
      maxRows: 128,
      microBatchTokens: 2048,
      recompute: false,
      supervised: false,
    },
    roles: [
      { name: 'reasoner', groups: 4, samples: 8, promptTokens: 10, newTokens: 40 },
      { name: 'rubricator', groups: 32, samples: 1, promptTokens: 30, newTokens: 60 },
    ],
  }
  const rollouts = [
    ...[10, 20].map(tokens => ({ role: 'reasoner', tokens })),
    ...[30, 50].map(tokens => ({ role: 'rubricator', tokens })),
  ].map(row => ({ step: 2, problemId: 'p', prompt: '', response: '', reward: 0, ...row }))
  const time = (sample: number) => ({ sample, grade: 0.5, update: 2 })
  const metrics = [
    { step: 1, tokens: 9999, time: time(90) },
    ...[1, 2, 3].map(sample => ({
      step: 1 + sample,
      tokens: 1760,
      zeroVarianceGroups: 0.25,
      time: time(sample),
    })),
  ]

  it('takes the lengths of roles from rows that were kept, and how many there were from the steps', () => {
    // Kept: 15 and 40 on average, so 32 x 55 = 1760 tokens a step.
    const lengths = knownLengths(work, metrics.slice(1), rollouts)
    expect(lengths.get('reasoner')).toEqual({ newTokens: 15, longestTokens: 20 })
    expect(lengths.get('rubricator')).toEqual({ newTokens: 40, longestTokens: 50 })
    const inTurns = { ...work, roles: work.roles.map(role => ({ ...role, turns: 3 })) }
    expect(knownLengths(inTurns, [{ step: 1, tokens: 9 }], rollouts).get('reasoner')?.newTokens).toBe(15)
    const twice = knownLengths(work, [{ step: 1, tokens: 3520 }], rollouts)
    expect(twice.get('reasoner')).toEqual({ newTokens: 30, longestTokens: 30 })
  })

  it('compares medians without the first step', () => {
    const run = { work, metrics, rollouts, dropsZero: true, speed: SPEED }
    const check = checkRun(run)
    expect(check).toMatchObject({ steps: 3, learntShare: 0.75 })
    expect([check.sampling.measured, check.grading.measured, check.update.measured]).toEqual([2, 0.5, 2])
    expect(check.grading).toMatchObject({ planned: null, ratio: null })
    expect(check.sampling.ratio).toBeCloseTo(check.sampling.planned! / 2, 9)
  })

  it('refuses a run that says nothing', () => {
    const none = { work, metrics: metrics.slice(0, 1), rollouts, dropsZero: true, speed: SPEED }
    expect(() => checkRun(none)).toThrow(/two steps or more/)
  })
})
