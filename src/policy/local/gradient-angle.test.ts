import { describe, expect, it } from 'vitest'
import { LOSS_PRESETS } from '../../rl/loss-presets.ts'
import { gradientsOf, tinyEngine } from './tiny-model.fixture.ts'

const loss = { ...LOSS_PRESETS['gradus:supervised'] }
const datum = (promptTokens: number[], tokens: number[], weight = 1) => ({
  ...{ promptTokens, tokens: Int32Array.from(tokens) },
  mask: new Float32Array(tokens.length).fill(1),
  oldLogprobs: new Float32Array(tokens.length),
  advantages: new Float32Array(tokens.length),
  weights: new Float32Array(tokens.length).fill(weight),
})
const A = datum([1, 2, 3], [4, 5, 6])
const B = datum([7, 8], [9, 10, 11, 12])

/** A step without any learning, so that all gradients are of the same weights. */
const stepped = async (
  engine: ReturnType<typeof tinyEngine>,
  datums: (typeof A)[],
  keepAs: string,
  against: string[],
) => {
  await engine.accumulate(datums, { loss })
  const gradient = (await gradientsOf(engine)).map(each => Float64Array.from(each))
  const stats = await engine.step({ learningRate: 0, gradient: { keepAs, against } })
  return { ...stats, gradient }
}

const cosine = (a: Float64Array[], b: Float64Array[]) => {
  const dot = (x: Float64Array[], y: Float64Array[]) =>
    x.reduce((sum, own, i) => sum + own.reduce((part, value, j) => part + value * y[i][j], 0), 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

describe('the angle between gradients', () => {
  it('is that of the vectors, whatever they are called and however long they are', async () => {
    const engine = tinyEngine()
    const one = await stepped(engine, [A], 'one', [])
    expect(one.gradientCosines).toEqual({})
    const other = await stepped(engine, [B], 'other', ['one', 'nobody'])
    expect(Object.keys(other.gradientCosines!)).toEqual(['one'])
    expect(other.gradientCosines!.one).toBeCloseTo(cosine(one.gradient, other.gradient), 6)
    const both = await stepped(engine, [A, B], 'both', ['one', 'other'])
    expect(both.gradientCosines!.one).toBeCloseTo(cosine(one.gradient, both.gradient), 6)
    const again = await stepped(engine, [A], 'again', ['one'])
    expect(again.gradientCosines!.one).toBeCloseTo(1, 6)
  })

  it('with no gradient is none, and is not asked for unless it is', async () => {
    const engine = tinyEngine()
    await stepped(engine, [A], 'one', [])
    const nothing = await stepped(engine, [datum([1, 2, 3], [4, 5, 6], 0)], 'nothing', ['one'])
    expect(nothing.gradientCosines).toEqual({ one: null })
    await engine.accumulate([A], { loss })
    expect(await engine.step({ learningRate: 0 })).toEqual({ gradNorm: expect.any(Number) })
  })
})
