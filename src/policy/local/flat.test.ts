/** @file Kernels against plain float64 code: every size around the unrolling, accuracy, edge values. */
import { describe, expect, it } from 'vitest'
import { NumericError, ShapeError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { alignedFloats, FlatBuffer, planShards } from './flat.ts'

const SIZES = [
  0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 1000, 1023, 16_384, 20_001,
]

const spansOf = (n: number, count: number) => {
  const flat = FlatBuffer.create(count * alignedFloats(n + 1))
  // A guard element behind every span shows writes beyond its end.
  const spans = Array.from({ length: count }, () => {
    const whole = flat.alloc(n + 1)
    whole.view[n] = 12345
    return whole.sub(0, n)
  })
  const guardsIntact = () => spans.every(s => new Float32Array(flat.bytes, s.pointer + 4 * n, 1)[0] === 12345)
  return { flat, spans, guardsIntact }
}

const fillNormal = (view: Float32Array, rng: Rng, size = 1) => {
  for (let i = 0; i < view.length; i++) view[i] = rng.normal() * size
}

describe('memory', () => {
  it('hands out aligned spans that share the memory and do not overlap', () => {
    const flat = FlatBuffer.create(100)
    const a = flat.alloc(5)
    const b = flat.alloc(3)
    expect(a.pointer % 64).toBe(0)
    expect(b.pointer % 64).toBe(0)
    expect(b.pointer).toBeGreaterThanOrEqual(a.pointer + 20)
    a.view.fill(1)
    expect([...b.view]).toEqual([0, 0, 0])
    a.sub(1, 2).view.fill(7)
    expect([...a.view]).toEqual([1, 7, 7, 1, 1])
    expect(a.view.buffer).toBe(flat.bytes)
    expect(flat.bytes).toBeInstanceOf(ArrayBuffer)
  })

  it('refuses what does not fit, with numbers', () => {
    const flat = FlatBuffer.create(32)
    flat.alloc(20)
    expect(flat.freeFloats).toBe(0)
    expect(() => flat.alloc(1)).toThrow('asked for 1 floats, 0 are free')
    expect(() => FlatBuffer.create(2 ** 30)).toThrow(ShapeError)
    expect(() => FlatBuffer.create(16).alloc(16).sub(10, 7)).toThrow('no range [10, 17)')
    const other = FlatBuffer.create(16).alloc(16)
    expect(() => FlatBuffer.create(16).sumSquares(other)).toThrow('another flat buffer')
    const wide = FlatBuffer.create(64)
    expect(() => wide.addTo(wide.alloc(3), wide.alloc(4))).toThrow('spans of 3 and 4 floats')
  })

  it('plans shards in order', () => {
    expect(planShards([4, 4, 3, 9, 1], 10)).toEqual([[0, 1], [2], [3, 4]])
    expect(planShards([])).toEqual([])
    expect(() => planShards([1, 11], 10)).toThrow('item 1 takes 11 floats')
  })
})

describe('adamw', () => {
  const settings = { lr: 3e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weightDecay: 0.1, gradScale: 0.37 }

  it.each(SIZES)('follows a float64 reference over three steps, n = %i', n => {
    const { flat, spans, guardsIntact } = spansOf(n, 4)
    const [param, grad, m, v] = spans
    const rng = new Rng(`adamw ${n}`)
    fillNormal(param.view, rng)
    const p64 = Float64Array.from(param.view)
    const m64 = new Float64Array(n)
    const v64 = new Float64Array(n)
    for (let step = 1; step <= 3; step++) {
      fillNormal(grad.view, rng, 10 ** (step - 2))
      const gradBefore = grad.view.slice()
      flat.adamw({ param, grad, m, v }, { ...settings, step })
      for (let i = 0; i < n; i++) {
        const g = gradBefore[i] * settings.gradScale
        p64[i] *= 1 - settings.lr * settings.weightDecay
        m64[i] = settings.beta1 * m64[i] + (1 - settings.beta1) * g
        v64[i] = settings.beta2 * v64[i] + (1 - settings.beta2) * g * g
        const mHat = m64[i] / (1 - settings.beta1 ** step)
        const vHat = v64[i] / (1 - settings.beta2 ** step)
        p64[i] -= (settings.lr * mHat) / (Math.sqrt(vHat) + settings.eps)
      }
      expect(grad.view).toEqual(gradBefore)
    }
    const worst = (actual: Float32Array, expected: Float64Array) =>
      actual.reduce((w, x, i) => Math.max(w, Math.abs(x - expected[i]) / (Math.abs(expected[i]) + 1e-2)), 0)
    expect(worst(param.view, p64)).toBeLessThan(1e-6)
    expect(worst(m.view, m64)).toBeLessThan(3e-6)
    expect(worst(v.view, v64)).toBeLessThan(3e-6)
    expect(guardsIntact()).toBe(true)
  })

  it('reproduces torch.optim.AdamW on a written-out first step', () => {
    // First step: m_hat = g, v_hat = g^2, so the update is lr * sign(g) up to eps; decay is lr * wd * p.
    const { flat, spans } = spansOf(2, 4)
    const [param, grad, m, v] = spans
    param.view.set([2, -1])
    grad.view.set([0.5, -4])
    flat.adamw(
      { param, grad, m, v },
      { step: 1, lr: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0.01 },
    )
    expect(param.view[0]).toBeCloseTo(2 * 0.999 - 0.1, 6)
    expect(param.view[1]).toBeCloseTo(-1 * 0.999 + 0.1, 6)
    expect(m.view[0]).toBeCloseTo(0.05, 7)
    expect(v.view[1]).toBeCloseTo(0.8, 6)
  })

  it('leaves elements without gradient alone when there is no decay', () => {
    const { flat, spans } = spansOf(19, 4)
    const [param, grad, m, v] = spans
    param.view.fill(3)
    flat.adamw({ param, grad, m, v }, { ...settings, weightDecay: 0, step: 1 })
    expect(param.view.every(x => x === 3)).toBe(true)
    expect(() => flat.adamw({ param, grad, m, v }, { ...settings, step: 0 })).toThrow(NumericError)
  })
})

describe('reductions', () => {
  it.each(SIZES)('sum, sumSquares and dot are float64-accurate, n = %i', n => {
    const { flat, spans } = spansOf(n, 2)
    const [a, b] = spans
    const rng = new Rng(n)
    fillNormal(a.view, rng)
    fillNormal(b.view, rng)
    let sum = 0
    let squares = 0
    let dot = 0
    for (let i = 0; i < n; i++) {
      sum += a.view[i]
      squares += a.view[i] ** 2
      dot += a.view[i] * b.view[i]
    }
    expect(Math.abs(flat.sumSquares(a) - squares)).toBeLessThanOrEqual(1e-13 * squares)
    expect(Math.abs(flat.dot(a, b) - dot)).toBeLessThanOrEqual(1e-13 * (squares + 1))
    expect(Math.abs(flat.sum(a) - sum)).toBeLessThanOrEqual(1e-13 * (squares + 1))
  })

  it('sumSquares neither overflows nor loses small terms as float32 would', () => {
    const { flat, spans } = spansOf(100_000, 1)
    const [x] = spans
    x.view.fill(1e-3)
    x.view[0] = 1e4
    const single = Math.fround(1e-3)
    expect(flat.sumSquares(x)).toBeCloseTo(1e8 + 99_999 * single * single, 4)
    x.view.fill(1e30)
    expect(flat.sumSquares(x) / (100_000 * Math.fround(1e30) ** 2)).toBeCloseTo(1, 12)
  })

  it.each([NaN, Infinity, -Infinity])('hasNonFinite finds one %d anywhere', bad => {
    const n = 37
    const { flat, spans } = spansOf(n, 1)
    const [x] = spans
    x.view.fill(-3.4e38)
    expect(flat.hasNonFinite(x)).toBe(false)
    for (let i = 0; i < n; i++) {
      x.view[i] = bad
      expect(flat.hasNonFinite(x)).toBe(true)
      x.view[i] = 1e-45
    }
    expect(flat.hasNonFinite(x)).toBe(false)
  })
})

describe('elementwise', () => {
  it.each(SIZES)('addTo, accumulate, scale and fill, n = %i', n => {
    const { flat, spans, guardsIntact } = spansOf(n, 2)
    const [a, b] = spans
    const rng = new Rng(n + 1)
    fillNormal(a.view, rng)
    fillNormal(b.view, rng)
    const outside = b.view.slice()
    const once = a.view.map((x, i) => x + b.view[i])
    const twice = once.map((x, i) => x + outside[i])
    flat.addTo(a, b)
    expect(a.view).toEqual(once)
    flat.accumulate(a, outside)
    expect(a.view).toEqual(twice)
    flat.scale(a, 0.1)
    expect(a.view).toEqual(twice.map(x => x * Math.fround(0.1)))
    flat.fill(b, -2.5)
    expect(b.view.every(x => x === -2.5)).toBe(true)
    expect(guardsIntact()).toBe(true)
  })
})

describe('sampling', () => {
  it.each(SIZES.slice(1))('argmax finds the first largest, n = %i', n => {
    const { flat, spans } = spansOf(n, 1)
    const [x] = spans
    fillNormal(x.view, new Rng(n))
    expect(flat.argmax(x)).toBe(x.view.indexOf(Math.max(...x.view)))
    x.view.fill(-Infinity)
    expect(flat.argmax(x)).toBe(0)
    x.view[n - 1] = 5
    expect(flat.argmax(x)).toBe(n - 1)
    x.view[n >> 1] = NaN
    expect(flat.argmax(x)).toBe(-1)
  })

  it.each(SIZES.slice(1))('softmaxRow matches float64 softmax and log-sum-exp, n = %i', n => {
    const { flat, spans, guardsIntact } = spansOf(n, 2)
    const [logits, weights] = spans
    fillNormal(logits.view, new Rng(n), 8)
    if (n > 4) logits.view[3] = -Infinity
    for (const temperature of [1, 0.7, 2.5, 1e-3]) {
      const top = Math.max(...logits.view)
      const lse = flat.softmaxRow(logits, temperature, weights)
      let total = 0
      for (const x of logits.view) total += Math.exp((x - top) / temperature)
      expect(Math.abs(lse - (top / temperature + Math.log(total)))).toBeLessThan(2e-7 * (1 + Math.abs(lse)))
      for (let i = 0; i < n; i++) {
        const argument = Math.fround(Math.fround(logits.view[i] - top) * Math.fround(1 / temperature))
        const expected = Math.exp(argument)
        if (argument < -87) expect(weights.view[i]).toBeLessThan(2e-38)
        else expect(Math.abs(weights.view[i] - expected)).toBeLessThan(2e-7 * expected)
      }
    }
    expect(guardsIntact()).toBe(true)
  })

  it('exponentials are within 2e-7 over the whole range', () => {
    const n = 100_000
    const { flat, spans } = spansOf(n, 2)
    const [x, weights] = spans
    for (let i = 0; i < n; i++) x.view[i] = (-87.3 * i) / (n - 1)
    flat.softmaxRow(x, 1, weights)
    let worst = 0
    for (let i = 0; i < n; i++) worst = Math.max(worst, Math.abs(weights.view[i] / Math.exp(x.view[i]) - 1))
    expect(worst).toBeLessThan(2e-7)
  })

  it('softmaxRow refuses rows without a finite largest logit', () => {
    const { flat, spans } = spansOf(9, 2)
    const [x, weights] = spans
    for (const bad of [NaN, Infinity]) {
      x.view.fill(0)
      x.view[8] = bad
      expect(() => flat.softmaxRow(x, 1, weights)).toThrow(NumericError)
    }
    x.view.fill(-Infinity)
    expect(() => flat.softmaxRow(x, 1, weights)).toThrow('largest logit is -Infinity')
    x.view.fill(0)
    expect(() => flat.softmaxRow(x, 0, weights)).toThrow('expected a temperature from')
    // What single precision divides by must not become infinite.
    expect(() => flat.softmaxRow(x, 1e-300, weights)).toThrow('expected a temperature from 0.000001 on')
    x.view[3] = 1000
    expect(flat.softmaxRow(x, 1e-6, weights)).toBeCloseTo(1e9)
    expect(flat.sampleRow(weights, 0.5)).toBe(3)
  })

  it.each(SIZES.slice(1))('sampleRow inverts the running sum, n = %i', n => {
    const { flat, spans } = spansOf(n, 1)
    const [weights] = spans
    const rng = new Rng(n)
    // Small integers: every sum is exact, so the expected index is too.
    for (let i = 0; i < n; i++) weights.view[i] = rng.int(4)
    weights.view[rng.int(n)] = 3
    const total = weights.view.reduce((sum, w) => sum + w, 0)
    for (let draw = 0; draw < 50; draw++) {
      const u = draw === 0 ? 0 : draw === 1 ? 1 - 2 ** -53 : rng.next()
      let running = 0
      const expected = weights.view.findIndex(w => {
        running += w
        return running > u * total
      })
      expect(flat.sampleRow(weights, u)).toBe(expected)
    }
  })

  it('sampleRow never draws a weight of zero, and refuses rows without weight', () => {
    const { flat, spans } = spansOf(200, 1)
    const [weights] = spans
    expect(() => flat.sampleRow(weights, 0.5)).toThrow(NumericError)
    weights.view[70] = 1e-30
    for (const u of [0, 0.3, 0.999999999]) expect(flat.sampleRow(weights, u)).toBe(70)
    weights.view[3] = NaN
    expect(() => flat.sampleRow(weights, 0.5)).toThrow(NumericError)
  })
})
