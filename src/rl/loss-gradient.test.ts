import { describe, expect, it } from 'vitest'
import { Rng } from '../util/rng.ts'
import { batchLoss, type LossSequence, type LossSpec, lossSchema } from './loss.ts'
import { lossGradient } from './loss-gradient.ts'
import { LOSS_PRESETS } from './loss-presets.ts'

const STEP = 1e-6

const sequences = (seed: string): LossSequence[] => {
  const rng = new Rng(seed)
  return [5, 3, 4].map(length => {
    const list = (draw: () => number) => Array.from({ length }, draw)
    const logprobs = list(() => -3 * rng.next() - 0.1)
    return {
      logprobs,
      oldLogprobs: logprobs.map(x => x + rng.next() - 0.5),
      refLogprobs: logprobs.map(x => x + rng.next() - 0.5),
      advantages: list(() => 4 * rng.next() - 2),
      mask: list(() => Number(rng.next() < 0.8)),
      weights: list(() => 0.5 + rng.next()),
    }
  })
}

/** Central differences of the loss in plain arithmetic. */
const differences = (spec: LossSpec, batch: readonly LossSequence[]) =>
  batch.map((sequence, b) =>
    Array.from(sequence.logprobs, (_, t) => {
      const at = (delta: number) => {
        const moved = Array.from(sequence.logprobs, (x, i) => (i === t ? x + delta : x))
        return batchLoss(spec, batch.with(b, { ...sequence, logprobs: moved }), { prompts: [0, 0, 1] }).loss
      }
      return (at(STEP) - at(-STEP)) / (2 * STEP)
    }),
  )

/** CISPO's ratio is a constant to the gradient: its loss for differences is one with the ratios of the old log-probs. */
const specs: Record<string, LossSpec> = {
  ...Object.fromEntries(Object.entries(LOSS_PRESETS).filter(([, spec]) => spec.policy.kind !== 'cispo')),
  'k1, abs and a supervised term': lossSchema.parse({
    ...{ policy: { kind: 'reinforce' }, kl: { kind: 'abs', coef: 0.3 }, crossEntropyCoef: 0.5 },
    aggregation: { mode: 'prompt-mean' },
  }),
  'k2 with a wide clip': lossSchema.parse({
    ...{ policy: { kind: 'gspo', clipLow: 0.5, clipHigh: 0.5 }, kl: { kind: 'k2', coef: 2 } },
    aggregation: { mode: 'token-sum-per-sequence' },
  }),
  'k1 alone': lossSchema.parse({
    ...{ policy: { kind: 'none' }, kl: { kind: 'k1', coef: 2 }, aggregation: { mode: 'token-mean' } },
  }),
}

describe('the gradient of a loss by log-probs', () => {
  it.each(Object.entries(specs))('%s: is what differences of the loss say', (name, spec) => {
    const whole = {
      ...spec,
      value: null,
      aggregation: { ...spec.aggregation, scale: 7, microBatch: 2 },
    }
    for (const seed of ['a', 'b', 'c']) {
      const batch = sequences(`${name} ${seed}`)
      const gradient = lossGradient(whole, batch, { prompts: [0, 0, 1] })
      const expected = differences(whole, batch)
      gradient.forEach((row, b) => {
        row.forEach((value, t) => {
          expect(value, `sequence ${b}, token ${t}`).toBeCloseTo(expected[b][t], 6)
        })
      })
    }
  })

  it('of CISPO goes by the clipped ratio, as a constant', () => {
    const spec = lossSchema.parse({
      policy: { kind: 'cispo', clipLow: 0.2, clipHigh: 0.2 },
      aggregation: { mode: 'token-sum' },
    })
    const one = { oldLogprobs: [-1, -1, -1], logprobs: [-1, 0, -3], advantages: [2, 3, -5], mask: [1, 1, 1] }
    // Ratios 1, e, e^-2 are clipped to 1, 1.2, .8.
    const expected = [-2, -3.6, 4]
    lossGradient(spec, [one])[0].forEach((value, t) => {
      expect(value).toBeCloseTo(expected[t], 12)
    })
  })
})
