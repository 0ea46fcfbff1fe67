import { describe, expect, it } from 'vitest'
import { NumericError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { TokenChooser } from './token-choice.ts'

const logits = Float32Array.of(1, 3, 2, -1, 0.5)
const all = { temperature: 1, topK: 0, topP: 1 }

const probabilities = (temperature: number) => {
  const weights = Array.from(logits, x => Math.exp(x / temperature))
  const total = weights.reduce((a, b) => a + b, 0)
  return weights.map(x => x / total)
}

/** Share of each token over evenly spaced draws, and the log-prob reported for each. */
const survey = (options: typeof all, draws = 20_000) => {
  const chooser = new TokenChooser(logits.length)
  const share = new Array(logits.length).fill(0)
  const logprobs = new Array<number | null>(logits.length).fill(null)
  for (let i = 0; i < draws; i++) {
    const { token, logprob } = chooser.choose(logits, options, (i + 0.5) / draws)
    share[token] += 1 / draws
    logprobs[token] = logprob
  }
  return { share, logprobs }
}

describe('token choice', () => {
  it.each([0.5, 1, 2])(
    'draws as often as the distribution at temperature %d says, and reports its log-probs',
    temperature => {
      const { share, logprobs } = survey({ ...all, temperature })
      probabilities(temperature).forEach((p, token) => {
        expect(share[token]).toBeCloseTo(p, 3)
        expect(logprobs[token]).toBeCloseTo(Math.log(p), 5)
      })
    },
  )

  it('keeps the k likeliest; log-probs stay those before truncation', () => {
    const { share, logprobs } = survey({ ...all, topK: 2 })
    const p = probabilities(1)
    expect(share.map(x => x > 0)).toEqual([false, true, true, false, false])
    expect(share[1]).toBeCloseTo(p[1] / (p[1] + p[2]), 3)
    expect(logprobs[1]).toBeCloseTo(Math.log(p[1]), 5)
  })

  it('keeps the smallest set that reaches mass p, at least one token', () => {
    const p = probabilities(1)
    expect(survey({ ...all, topP: p[1] + p[2] - 0.01 }).share.map(x => x > 0)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ])
    expect(survey({ ...all, topP: p[1] + p[2] + 0.01 }).share.map(x => x > 0)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
    expect(survey({ ...all, topP: 1e-9 }).share[1]).toBeCloseTo(1, 9)
  })

  it('applies top-k before top-p, and the mass is that of what top-k left', () => {
    const p = probabilities(1)
    const within = p[1] / (p[1] + p[2])
    expect(survey({ ...all, topK: 2, topP: within - 0.01 }).share[1]).toBeCloseTo(1, 9)
    expect(survey({ ...all, topK: 2, topP: within + 0.01 }).share[2]).toBeGreaterThan(0)
  })

  it('breaks ties at the edge of top-k by the lower id', () => {
    const chooser = new TokenChooser(4)
    const tied = Float32Array.of(0, 1, 1, 1)
    const tokens = new Set([0.1, 0.4, 0.6, 0.9].map(u => chooser.choose(tied, { ...all, topK: 2 }, u).token))
    expect([...tokens].sort()).toEqual([1, 2])
  })

  it.each([
    [{ topK: 20 }, 20],
    [{ topK: 300 }, 300],
    [{ topK: 5000, topP: 0.25 }, 250],
    [{ topP: 0.25 }, 250],
  ])('keeps by %j of a thousand equal tokens the first %d, and of others the likeliest', (options, kept) => {
    const chooser = new TokenChooser(1000)
    const drawn = (own: Float32Array) =>
      Array.from(
        { length: 1000 },
        (_, i) => chooser.choose(own, { ...all, ...options }, (i + 0.5) / 1000).token,
      )
    expect(new Set(drawn(new Float32Array(1000)))).toEqual(new Set(Array(kept).keys()))
    const stepped = Float32Array.from({ length: 1000 }, (_, i) => 20 * (i % 3))
    expect(drawn(stepped).every(token => token % 3 === 2)).toBe(true)
  })

  it('is greedy at temperature 0, with the log-prob at temperature 1', () => {
    const { share, logprobs } = survey({ ...all, temperature: 0 }, 50)
    expect(share[1]).toBeCloseTo(1, 9)
    expect(logprobs[1]).toBeCloseTo(Math.log(probabilities(1)[1]), 5)
  })

  it('draws from a large vocabulary without losing the tail', () => {
    const rng = new Rng(1)
    const chooser = new TokenChooser(151_936)
    const flat = new Float32Array(151_936)
    const tokens = Array.from({ length: 200 }, () => chooser.choose(flat, all, rng.next()).token)
    expect(Math.max(...tokens)).toBeGreaterThan(140_000)
    expect(Math.min(...tokens)).toBeLessThan(12_000)
    expect(chooser.choose(flat, all, 0.5).logprob).toBeCloseTo(-Math.log(151_936), 4)
  })

  it('refuses logits that are not finite', () => {
    const chooser = new TokenChooser(3)
    expect(() => chooser.choose(Float32Array.of(0, Number.NaN, 0), all, 0.5)).toThrow(NumericError)
    expect(() => chooser.choose(Float32Array.of(0, Infinity, 0), all, 0.5)).toThrow(NumericError)
    expect(() => chooser.choose(new Float32Array(3), { ...all, temperature: -1 }, 0.5)).toThrow(NumericError)
  })
})
