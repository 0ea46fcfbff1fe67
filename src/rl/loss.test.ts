import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError, NumericError, ShapeError } from '../util/errors.ts'
import {
  AGGREGATION_MODES,
  type Aggregation,
  type AggregationMode,
  aggregateLoss,
  aggregationSchema,
  batchLoss,
  clippedLoss,
  klEstimate,
  klPerToken,
  LOSS_PRESETS,
  type LossSequence,
  lossOf,
  lossPreset,
  lossSchema,
  type PolicyLossSpec,
  policyLossPerToken,
  resolveLoss,
  sequenceRatio,
  tokenRewards,
  tokenWeights,
  valueLoss,
  withMaxTokens,
} from './index.ts'

const clip = (changes: Partial<PolicyLossSpec> = {}): PolicyLossSpec => ({
  kind: 'clip',
  clipLow: 0.2,
  clipHigh: 0.2,
  dualClip: null,
  ...changes,
})
const sequence = (changes: Partial<LossSequence> = {}): LossSequence => ({
  logprobs: [-1, -2],
  oldLogprobs: [-1, -2],
  advantages: [1, 1],
  mask: [1, 1],
  ...changes,
})

describe('clipped surrogate', () => {
  it('clips only where it would pay to go further', () => {
    expect(clippedLoss(1.5, 1, clip())).toBeCloseTo(-1.2, 12)
    expect(clippedLoss(0.5, 1, clip())).toBeCloseTo(-0.5, 12)
    expect(clippedLoss(0.5, -1, clip())).toBeCloseTo(0.8, 12)
    expect(clippedLoss(1.5, -1, clip())).toBeCloseTo(1.5, 12)
  })

  it('has an upper bound of its own (clip-higher) and a dual clip for bad actions', () => {
    expect(clippedLoss(1.5, 1, clip({ clipHigh: 0.28 }))).toBeCloseTo(-1.28, 12)
    expect(clippedLoss(10, -4, clip({ dualClip: 3 }))).toBeCloseTo(12, 12)
    expect(clippedLoss(10, 4, clip({ dualClip: 3 }))).toBeCloseTo(-4.8, 12)
  })

  it('is minus the advantage where the policy has not moved', () => {
    for (const kind of ['clip', 'gspo'] as const) {
      const { losses, clipped } = policyLossPerToken(clip({ kind }), sequence({ advantages: [0.7, -0.3] }))
      expect([...losses]).toEqual([-0.7, 0.3])
      expect([...clipped]).toEqual([0, 0])
    }
  })

  it('is exactly 0 outside the mask, whatever is there', () => {
    for (const kind of ['clip', 'cispo', 'gspo', 'reinforce', 'none'] as const) {
      const masked = sequence({ logprobs: [-1, Number.NaN], advantages: [1, Number.NaN], mask: [1, 0] })
      expect(policyLossPerToken(clip({ kind }), masked).losses[1]).toBe(0)
    }
  })

  it('refuses what cannot be a loss', () => {
    expect(() => policyLossPerToken(clip(), sequence({ logprobs: [-1, Number.NaN] }))).toThrow(NumericError)
    expect(() => policyLossPerToken(clip(), sequence({ advantages: [1] }))).toThrow(ShapeError)
  })

  it('survives a log-ratio that would overflow', () => {
    const { losses } = policyLossPerToken(
      clip(),
      sequence({ oldLogprobs: [-2000, -2], advantages: [-1, -1] }),
    )
    expect(losses[0]).toBeCloseTo(Math.exp(20), 0)
  })
})

describe('other policy losses', () => {
  it("gspo shares the sequence's ratio", () => {
    const moved = sequence({ logprobs: [-1, -1.8], oldLogprobs: [-1.2, -2.2] })
    expect(sequenceRatio(moved)).toBeCloseTo(Math.exp(0.3), 12)
    const { losses } = policyLossPerToken(clip({ kind: 'gspo', clipHigh: 1 }), moved)
    expect(losses[0]).toBeCloseTo(-Math.exp(0.3), 12)
    expect(losses[1]).toBe(losses[0])
    expect(sequenceRatio(sequence({ mask: [0, 0] }))).toBe(1)
  })

  it("cispo by TRL's and verl's bounds", () => {
    const low = sequence({ logprobs: [-3, -2], oldLogprobs: [-1, -2] })
    const trl = policyLossPerToken(LOSS_PRESETS['trl:cispo'].policy, low)
    const verl = policyLossPerToken(LOSS_PRESETS['verl:cispo'].policy, low)
    expect(trl.losses[0]).toBeCloseTo(3 * Math.exp(-2), 12)
    expect(verl.losses[0]).toBeCloseTo(3 * 0.8, 12)
    expect([trl.clipped[0], verl.clipped[0]]).toEqual([0, 1])
  })

  it('reinforce is -A logp and none is nothing; weights multiply', () => {
    expect([...policyLossPerToken(clip({ kind: 'reinforce' }), sequence()).losses]).toEqual([1, 2])
    expect([...policyLossPerToken(clip({ kind: 'none' }), sequence()).losses]).toEqual([0, 0])
    const weighted = sequence({ weights: [0.5, 0] })
    expect([...policyLossPerToken(clip(), weighted).losses].map(x => x + 0)).toEqual([-0.5, 0])
  })
})

describe('value loss', () => {
  it('takes the larger of the clipped and the plain error, halved', () => {
    expect(valueLoss(2, 1, 3, null)).toBe(0.5)
    expect(valueLoss(2, 1, 3, 0.5)).toBe(0.5 * 1.5 ** 2)
    expect(valueLoss(0, 1, 3, 0.5)).toBe(4.5)
  })
})

describe('batchLoss', () => {
  it('adds its terms with their coefficients', () => {
    const spec = lossSchema.parse({
      policy: { kind: 'clip' },
      kl: { kind: 'k1', coef: 0.1 },
      entropyCoef: 0.01,
      value: { coef: 0.5 },
      crossEntropyCoef: 2,
      aggregation: { mode: 'token-mean' },
    })
    const one = sequence({
      refLogprobs: [-1.5, -2],
      entropies: [1, 3],
      values: [0, 1],
      returns: [1, 1],
      mask: [1, 1],
    })
    const { loss, parts, clipFraction } = batchLoss(spec, [one])
    expect(parts).toEqual({ policy: -1, kl: 0.25, entropy: 2, value: 0.25, crossEntropy: 1.5 })
    expect(loss).toBeCloseTo(-1 + 0.025 - 0.02 + 0.125 + 3, 12)
    expect(clipFraction).toBe(0)
    expect(() => batchLoss(spec, [sequence()])).toThrow('expected refLogprobs in every datum')
  })

  it('applies a fractional mask once to every term', () => {
    const spec = lossSchema.parse({
      policy: { kind: 'none' },
      kl: { kind: 'k1', coef: 1 },
      aggregation: { mode: 'token-sum' },
    })
    const half = sequence({ refLogprobs: [-2, -2], mask: [0.5, 0] })
    expect(batchLoss(spec, [half]).loss).toBe(0.5)
  })

  it('reports the share of clipped tokens', () => {
    const far = sequence({ logprobs: [-0.5, -2] })
    expect(batchLoss(LOSS_PRESETS['trl:grpo'], [far, sequence()]).clipFraction).toBe(0.25)
  })
})

describe('aggregation', () => {
  const masks = [
    [1, 1, 1],
    [1, 0, 0],
    [0, 0, 0],
  ]
  const weightsOf = (mode: AggregationMode) =>
    tokenWeights(masks, { mode, scale: 10, microBatch: 2 }, { prompts: ['p', 'p', 'q'] }).map(row => row[0])

  it('weights tokens as each definition says', () => {
    const expected: Record<AggregationMode, number[]> = {
      'token-mean': [1 / 4, 1 / 4],
      'token-mean-per-microbatch': [1 / 4, 1 / 4],
      'sequence-mean': [1 / 6, 1 / 2],
      'token-sum-per-sequence': [1 / 2, 1 / 2],
      'seq-mean-token-sum-norm': [1 / 20, 1 / 20],
      dr_grpo: [1 / 30, 1 / 30],
      'token-sum': [1 / 10, 1 / 10],
      'prompt-mean': [1 / 4, 1 / 4],
    }
    for (const mode of AGGREGATION_MODES) {
      const [first, second, third] = weightsOf(mode)
      expect(first, mode).toBeCloseTo(expected[mode][0], 14)
      expect(second, mode).toBeCloseTo(expected[mode][1], 14)
      expect(third, mode).toBe(0)
    }
  })

  it('equals the plain reductions', () => {
    const table = fc.array(
      fc.array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.constantFrom(0, 1)), {
        minLength: 1,
        maxLength: 5,
      }),
      { minLength: 1, maxLength: 5 },
    )
    const sum = (xs: number[]) => xs.reduce((total, x) => total + x, 0)
    const ratio = (a: number, b: number) => (b > 0 ? a / b : 0)
    fc.assert(
      fc.property(table, rows => {
        const losses = rows.map(row => row.map(([loss]) => loss))
        const mask = rows.map(row => row.map(([, m]) => m))
        const live = rows
          .map(row => row.filter(([, m]) => m === 1).map(([loss]) => loss))
          .filter(row => row.length)
        const plain: Partial<Record<AggregationMode, number>> = {
          'token-mean': ratio(sum(live.flat()), live.flat().length),
          'sequence-mean': ratio(sum(live.map(row => sum(row) / row.length)), live.length),
          'token-sum-per-sequence': ratio(sum(live.flat()), live.length),
          dr_grpo: sum(live.flat()) / (rows.length * 7),
          'token-sum': sum(live.flat()) / 7,
        }
        for (const [mode, value] of Object.entries(plain))
          expect(aggregateLoss(losses, mask, { mode: mode as AggregationMode, scale: 7 })).toBeCloseTo(
            value,
            9,
          )
      }),
    )
  })

  it('leaves a masked token out even where its loss is NaN', () => {
    expect(aggregateLoss([[1, Number.NaN]], [[1, 0]], { mode: 'token-mean', scale: null })).toBe(1)
  })

  it('knows other names and asks for what a mode needs', () => {
    expect(aggregationSchema.parse({ mode: 'seq-mean-token-mean' }).mode).toBe('sequence-mean')
    expect(aggregationSchema.parse({ mode: 'seq-mean-token-sum' }).mode).toBe('token-sum-per-sequence')
    const weigh = (spec: Aggregation) => () => tokenWeights(masks, spec)
    expect(weigh({ mode: 'dr_grpo', scale: null })).toThrow('aggregation.scale: expected a positive number')
    expect(weigh({ mode: 'token-mean-per-microbatch', scale: null })).toThrow('aggregation.microBatch')
    expect(weigh({ mode: 'prompt-mean', scale: null })).toThrow('pass prompts')
  })
})

describe('presets', () => {
  it('are plain data that survive a file', () => {
    for (const [name, spec] of Object.entries(LOSS_PRESETS)) {
      expect(lossSchema.parse(JSON.parse(JSON.stringify(spec))), name).toEqual(spec)
      expect(lossPreset(name)).toEqual(spec)
      expect(lossPreset(name)).not.toBe(spec)
    }
  })

  it('tell the same name apart by project', () => {
    expect(LOSS_PRESETS['trl:grpo'].aggregation.mode).toBe('sequence-mean')
    expect(LOSS_PRESETS['verl:grpo'].aggregation.mode).toBe('token-mean')
    expect(LOSS_PRESETS['verl:grpo'].policy.dualClip).toBe(3)
    expect(LOSS_PRESETS['gradus:ruscarl']).toMatchObject({ kl: { kind: 'k3', coef: 1e-3 }, entropyCoef: 0 })
  })

  it('resolve by name, with changes, or whole', () => {
    expect(resolveLoss('trl:dapo')).toEqual(LOSS_PRESETS['trl:dapo'])
    const changed = resolveLoss({
      preset: 'trl:dapo',
      policy: { clipHigh: 0.28 },
      kl: { kind: 'k3', coef: 0.1 },
    })
    expect(changed.policy).toEqual({ kind: 'clip', clipLow: 0.2, clipHigh: 0.28, dualClip: null })
    expect(changed.kl.coef).toBe(0.1)
    expect(
      resolveLoss({ policy: { kind: 'none' }, aggregation: { mode: 'token-sum' } }).crossEntropyCoef,
    ).toBe(0)
    expect(lossOf('verl:ppo', { value: null }).value).toBeNull()
  })

  it('say what is wrong', () => {
    expect(() => resolveLoss('trl:grop', 'run.yaml: loss')).toThrow('did you mean trl:grpo?')
    expect(() => resolveLoss({ preset: 'trl:grpo', policy: { clipHi: 1 } })).toThrow('did you mean clipHigh?')
    expect(() => resolveLoss({ preset: 3 })).toThrow(ConfigError)
    expect(() => resolveLoss({ preset: 'trl:grpo', policy: { dualClip: 0.5 } })).toThrow('policy.dualClip')
    expect(() => resolveLoss(null)).toThrow('expected an object, got null')
  })

  it("take the run's longest response where a divisor was left open", () => {
    expect(withMaxTokens(LOSS_PRESETS['trl:dr_grpo'], 256).aggregation.scale).toBe(256)
    expect(withMaxTokens(lossOf('trl:dr_grpo', { aggregation: { scale: 10 } }), 256).aggregation.scale).toBe(
      10,
    )
    expect(withMaxTokens(LOSS_PRESETS['tinker:ppo'], 256).aggregation.scale).toBeNull()
  })
})

describe('KL', () => {
  it('k3 is never negative and is clamped on request', () => {
    const logprob = fc.double({ min: -30, max: 0, noNaN: true })
    fc.assert(
      fc.property(logprob, logprob, (a, b) => {
        expect(klEstimate('k3', a, b)).toBeGreaterThanOrEqual(-1e-14)
      }),
    )
    expect(klEstimate('k3', -30, 0, { clamp: true })).toBe(10)
    expect(() => klPerToken('k1', [1], [1, 2], [1])).toThrow(ShapeError)
  })

  it('enters token rewards, the reward itself on the last policy token', () => {
    expect([...tokenRewards(1, [1, 1, 0], { kl: [0.5, 1, 9], beta: 0.1 })]).toEqual([-0.05, 0.9, 0])
    expect([...tokenRewards(1, [0, 0])]).toEqual([0, 0])
    expect(() => tokenRewards(Number.NaN, [1])).toThrow(NumericError)
  })
})
