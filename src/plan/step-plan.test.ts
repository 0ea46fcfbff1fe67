import { describe, expect, it } from 'vitest'
import { knownShape } from '../recipes/common/known-models.ts'
import { cacheBytes, forwardFlop, sizeNamed } from '../recipes/common/model-size.ts'
import type { StepWork } from '../recipes/common/step-work.ts'
import { RECIPES } from '../recipes/index.ts'
import { ASSUMPTIONS, assumed, parseAssumptions } from './assumptions.ts'
import { gpuMemory } from './gpu-memory.ts'
import { parseGpus } from './gpus.ts'
import { resolvedPreset } from './plan.fixture.ts'
import { drawTime, placeCopies } from './sampling-time.ts'
import { type PlanRequest, planRange, planStep } from './step-plan.ts'
import { updateTime } from './update-time.ts'

const QWEN_7B = sizeNamed('Qwen2.5-7B-Instruct', 'test')

/** Everything as good as promised, so that a time is arithmetic. */
const IDEAL = {
  ...assumed('usual'),
  ...{ trainUtilisation: 1, prefillUtilisation: 1, bandwidthUtilisation: 1, stepOverheadMs: 0 },
}

const workOf = (name: 'ruscarl' | 'rlcer'): StepWork =>
  RECIPES[name].plan(resolvedPreset(RECIPES[name], 'paper')).work!

const QWEN_7B_WORK: StepWork = {
  ...workOf('ruscarl'),
  ...{ shape: knownShape('Qwen2.5-7B-Instruct'), lora: null, reference: false, critic: false },
}

describe('sizes of models', () => {
  it('are those of the published ones', () => {
    // The model cards: 7.61 billion, 6.53 without embeddings; 32.8 billion; 8.2 billion.
    expect(QWEN_7B.parameters / 1e9).toBeCloseTo(7.62, 1)
    expect(QWEN_7B.active / 1e9).toBeCloseTo(6.53 + (152_064 * 3584) / 1e9, 1)
    expect(sizeNamed('Qwen/Qwen3-32B', 'test').parameters / 1e9).toBeCloseTo(32.8, 1)
    expect(sizeNamed('Qwen3-8B', 'test').parameters / 1e9).toBeCloseTo(8.19, 1)
    expect(sizeNamed('Llama-3.1-8B-Instruct', 'test').parameters / 1e9).toBeCloseTo(8.03, 1)
    expect(() => sizeNamed('Gwen-7B', '--model')).toThrow(/--model: expected a folder with config.json/)
  })

  it('make operations and bytes', () => {
    // 28 layers, 4 key heads of 128, keys and values, two bytes.
    expect(cacheBytes(QWEN_7B)).toBe(28 * 4 * 128 * 2 * 2)
    // Two a parameter; scores and sums of values over 1000 places: 4 x 28 x 3584 x 1000.
    expect(forwardFlop(QWEN_7B, 10, 1000)).toBe(10 * (2 * QWEN_7B.active + 4 * 28 * 3584 * 1000))
  })
})

describe('decoding', () => {
  const gpus = parseGpus('H100:1')
  const one = { prompts: 1, promptTokens: 0, newTokens: 100, longestTokens: 100 }

  it('reads all weights for every token of a single row', () => {
    const { seconds, bound } = drawTime(
      QWEN_7B,
      gpus,
      { together: 1, copies: 1, rows: 100 },
      { ...one, samples: 1 },
      IDEAL,
    )
    const weights = (100 * 2 * QWEN_7B.active) / 3.35e12
    expect(seconds / weights).toBeCloseTo(1, 1)
    expect(bound).toBe('weights')
  })

  it('is bound by arithmetic with many rows, and by what it does between tokens with a slow sampler', () => {
    const at = (samples: number, use = IDEAL) =>
      drawTime(QWEN_7B, gpus, { together: 1, copies: 1, rows: 1e6 }, { ...one, samples }, use)
    expect(at(2000).bound).toBe('arithmetic')
    expect(at(2000).seconds).toBeCloseTo(forwardFlop(QWEN_7B, 2000 * 100, 50) / 989e12, 6)
    const slow = at(8, { ...IDEAL, stepOverheadMs: 25 })
    expect(slow.bound).toBe('overhead')
    expect(slow.seconds).toBeGreaterThan(2.5)
  })

  it('takes turns where memory has no room for all rows', () => {
    const draw = { ...one, samples: 64 }
    const room = drawTime(QWEN_7B, gpus, { together: 1, copies: 1, rows: 64 }, draw, IDEAL).seconds
    const half = drawTime(QWEN_7B, gpus, { together: 1, copies: 1, rows: 32 }, draw, IDEAL).seconds
    expect(half / room).toBeGreaterThan(1.8)
  })

  it('puts a large model on several GPUs', () => {
    const judge = sizeNamed('Qwen3-32B', 'test')
    // 65.5 GB of weights: half an H100's memory is not enough, nor is that of two.
    expect(placeCopies(judge, parseGpus('H100:8'), 0, 1000)).toMatchObject({ together: 2, copies: 4 })
    expect(placeCopies(judge, parseGpus('B200:8'), 0, 1000)).toMatchObject({ together: 1, copies: 8 })
  })
})

it('learning is six operations a parameter and token, four under an adapter', () => {
  const learning = { ...QWEN_7B_WORK, supervised: true, epochs: 1, minibatches: 1 }
  const learnt = [{ samples: 100, promptTokens: 0, newTokens: 1000 }]
  const gpus = parseGpus('H100:4')
  const full = updateTime(gpus, learnt, QWEN_7B, learning, IDEAL)
  const flop = 3 * forwardFlop(QWEN_7B, 1e5, 500)
  expect(full.flop).toBe(flop)
  expect(full.learning).toBeCloseTo(flop / (4 * 989e12), 9)
  // A ring over four GPUs sends three quarters twice, in two bytes.
  expect(full.gradientBytes).toBe(2 * 0.75 * 2 * QWEN_7B.parameters)
  const of = (changes: Partial<StepWork>) =>
    updateTime(gpus, learnt, QWEN_7B, { ...learning, ...changes }, IDEAL).flop / flop
  expect(of({ lora: { rank: 8, alpha: 16, targetModules: ['q_proj'] } })).toBeCloseTo(2 / 3, 9)
  expect(of({ critic: true })).toBeCloseTo(2 + 1 / 3, 9)
})

it('sharded memory is sixteen bytes a trained parameter', () => {
  const state = (gpus: number) => gpuMemory(QWEN_7B, QWEN_7B_WORK, parseGpus(`H100:${gpus}`), 1).state
  expect(state(1)).toBe(16 * QWEN_7B.parameters)
  expect(state(8)).toBe(2 * QWEN_7B.parameters)
})

describe('the plan of RuscaRL', () => {
  const work = workOf('ruscarl')
  const request: PlanRequest = {
    work,
    gpus: parseGpus('H200:8'),
    grading: { kind: 'model', size: sizeNamed('Qwen3-32B', 'test'), gpus: parseGpus('H200:8') },
    set: {},
  }

  it('asks as many calls as the paper says', () => {
    // C.6: 64 x 8 x 11.5.
    expect(planStep(request, 'usual').judge!.callsPerStep).toBe(5888)
  })

  it('has the step times of the paper within its range, and what is usual within a factor of two', () => {
    // C.6: 40, 60 and 15 s; 115 s in turn, 75 s overlapped.
    const plan = planRange(request)
    const printed = { sampling: 40, grading: 60, update: 15, inTurn: 115, overlapped: 75 } as const
    for (const [stage, seconds] of Object.entries(printed) as [keyof typeof printed, number][]) {
      expect(plan.quick.seconds[stage]!).toBeLessThan(seconds)
      expect(plan.slow.seconds[stage]!).toBeGreaterThan(seconds)
      expect(plan.usual.seconds[stage]! / seconds).toBeGreaterThan(0.5)
      expect(plan.usual.seconds[stage]! / seconds).toBeLessThan(2)
    }
  })

  it('says how fast a judge must be to stay hidden, and is bound by one that is slower', () => {
    const { judge, seconds } = planStep({ ...request, grading: { kind: 'unknown' } }, 'usual')
    expect(seconds).toMatchObject({ grading: null, inTurn: null, overlapped: null })
    const at = (callsPerSecond: number) =>
      planStep({ ...request, grading: { kind: 'rate', callsPerSecond } }, 'usual')
    const [fast, slow] = [at(1.01 * judge!.callsPerSecond), at(judge!.callsPerSecond / 4)]
    expect(fast.seconds.overlapped).toBeCloseTo(
      fast.seconds.sampling + fast.seconds.update + fast.seconds.sync,
      9,
    )
    expect(slow.bottleneck).toBe('grading')
    expect(slow.seconds.grading! / slow.seconds.sampling).toBeCloseTo(4, 6)
  })

  it('counts hours and money', () => {
    const { hours, gpuHours, cost, seconds, judge } = planStep(
      { ...request, prices: { gpuHour: 2, judgeIn: 1, judgeOut: 3 } },
      'usual',
    )
    expect(hours).toBeCloseTo((350 * seconds.overlapped!) / 3600, 9)
    expect(gpuHours).toBeCloseTo(16 * hours!, 9)
    expect(cost.gpus).toBeCloseTo(32 * hours!, 9)
    expect(cost.judge).toBeCloseTo((350 * (judge!.tokensIn + 3 * judge!.tokensOut)) / 1e6, 6)
  })

  it('does not fit on a GPU that is too small', () => {
    expect(planStep({ ...request, gpus: parseGpus('RTX4090:1') }, 'usual').memory.fits).toBe(false)
  })
})

it('plans both roles of RLCER, and every rubric on every response', () => {
  const plan = planStep(
    { work: workOf('rlcer'), gpus: parseGpus('H100:16'), grading: { kind: 'unknown' }, set: {} },
    'usual',
  )
  expect(plan.sampling.map(({ role }) => role)).toEqual(['reasoner', 'rubricator'])
  // Spec 2.3: 32 questions x 8 x 8.
  expect(plan.judge!.callsPerStep).toBe(2048)
})

describe('what a person says', () => {
  it('takes GPUs by name and number', () => {
    expect(parseGpus('h100:8')).toMatchObject({ gpu: { name: 'H100' }, count: 8 })
    expect(parseGpus('A100')).toMatchObject({ count: 1 })
    for (const bad of ['H100:0', 'H1000:8', '', 'H100:x', 'H100:-1'])
      expect(() => parseGpus(bad)).toThrow(/--gpus: expected NAME:COUNT/)
    expect(parseGpus('H100:1000000')).toMatchObject({ count: 1_000_000 })
    for (const many of ['H100:1000001', `H100:${'9'.repeat(400)}`])
      expect(() => parseGpus(many, '--judge-gpus')).toThrow(
        /^--judge-gpus: expected at most 1,000,000 of H100, got "H100:[19].{0,80}$/,
      )
  })

  it('takes assumptions, and refuses what cannot be', () => {
    expect(parseAssumptions(['responseShare=0.4', 'stepOverheadMs=0'])).toEqual({
      ...{ responseShare: 0.4, stepOverheadMs: 0 },
    })
    for (const bad of [
      'responseShare',
      'responseShare=2',
      'responseShare=0',
      'stepOverheadMs=-1',
      'constructor=1',
      'syncSeconds=NaN',
    ])
      expect(() => parseAssumptions([bad])).toThrow(/--assume/)
  })

  it('has every assumption in its range, with a source', () => {
    for (const { quick, usual, slow, source } of Object.values(ASSUMPTIONS)) {
      expect(Math.sign(usual - quick) * Math.sign(slow - usual)).not.toBe(-1)
      expect(source.length).toBeGreaterThan(20)
    }
  })
})
