import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Datum } from '../../rl/datum.ts'
import { batchLoss, type LossSequence, type LossSpec, lossSchema } from '../../rl/loss.ts'
import { Executable } from '../../tensor/index.ts'
import { DataError, GradusError, NumericError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { TokenScores } from '../policy.ts'
import { updateOnce } from '../update.ts'
import type { Engine } from './engine.ts'
import { gradientsOf, TINY, tinyEngine } from './tiny-model.fixture.ts'

const STILL = { learningRate: 0, maxGradNorm: 0 }
const spec = (parts: object): LossSpec =>
  lossSchema.parse({ policy: { kind: 'none' }, aggregation: { mode: 'token-mean' }, ...parts })
const policy = (parts: object, more: object = {}) => spec({ policy: parts, ...more })

const ITEMS = [
  { promptTokens: [1, 2, 3], tokens: [4, 5, 6, 7] },
  { promptTokens: [1, 2, 3], tokens: [8, 9] },
  { promptTokens: [10], tokens: [11, 12, 13, 14, 15] },
  { promptTokens: [2, 4, 6, 8, 10], tokens: [1] },
  { promptTokens: [1, 2, 3], tokens: [16, 0, 1] },
  { promptTokens: [10], tokens: [3, 3] },
]
const PROMPTS = ITEMS.map(({ promptTokens }) => promptTokens.join())

/**
 * Datums whose ratios lie clearly inside or clearly outside the usual clips, alike along a sequence, with tokens outside the
 * mask that hold NaN.
 */
const datumsFor = (scores: readonly TokenScores[]): Datum[] => {
  const rng = new Rng('datums')
  return ITEMS.map((item, i) => {
    const { logprobs, values } = scores[i]
    const drift = [0.06, -0.07, 0.5, -0.5, -0.06, 0.45][i]
    const mask = Array.from(item.tokens, (_, t) => Number(!(i === 2 && t === 1)))
    const perToken = (f: (t: number) => number) => mask.map((m, t) => (m === 0 ? Number.NaN : f(t)))
    return {
      ...item,
      mask,
      oldLogprobs: perToken(t => logprobs[t] - drift - 0.02 * rng.next()),
      refLogprobs: perToken(t => logprobs[t] + (rng.next() < 0.5 ? -1 : 1) * (0.1 + rng.next())),
      advantages: perToken(() => (i % 2 ? -1 : 1) * (0.5 + rng.next())),
      weights: perToken(() => 0.5 + rng.next()),
      ...(values && {
        oldValues: perToken(t => values[t] + (t % 2 ? 1.2 : -0.04)),
        returns: perToken(t => values[t] + (i % 2 ? 3 : -2)),
      }),
    }
  })
}

/** Masked places are left out of the reference by their weight, but may not be NaN there. */
const clean = (values: ArrayLike<number> | undefined) =>
  values && Float64Array.from(values, x => (Number.isNaN(x) ? 0 : x))
const sequencesOf = (datums: readonly Datum[], scores: readonly TokenScores[]): LossSequence[] =>
  datums.map((datum, i) => ({
    ...scores[i],
    mask: datum.mask,
    oldLogprobs: clean(datum.oldLogprobs)!,
    refLogprobs: clean(datum.refLogprobs),
    advantages: clean(datum.advantages)!,
    weights: clean(datum.weights),
    ...(datum.oldValues && { oldValues: clean(datum.oldValues), returns: clean(datum.returns) }),
  }))

const clip = { kind: 'clip', clipLow: 0.2, clipHigh: 0.28 }
const LOSSES: Record<string, LossSpec> = {
  clip: policy(clip),
  'clip, dual': policy({ ...clip, dualClip: 1.3 }),
  reinforce: policy({ kind: 'reinforce' }),
  gspo: policy({ kind: 'gspo', clipLow: 0.2, clipHigh: 0.28 }),
  cispo: policy({ kind: 'cispo', clipLow: 0.2, clipHigh: 0.28 }),
  'kl k1': spec({ kl: { kind: 'k1', coef: 0.5 } }),
  'kl k2': spec({ kl: { kind: 'k2', coef: 0.5 } }),
  'kl k3': spec({ kl: { kind: 'k3', coef: 0.5 } }),
  'kl abs': spec({ kl: { kind: 'abs', coef: 0.5 } }),
  entropy: spec({ entropyCoef: 0.3 }),
  'cross-entropy': spec({ crossEntropyCoef: 1 }),
  value: spec({ value: { coef: 0.7 } }),
  'value, clipped': spec({ value: { coef: 0.7, clip: 0.6 } }),
  'value that counts nothing': policy(clip, { value: { coef: 0, clip: 0.6 } }),
  everything: policy(clip, {
    kl: { kind: 'k3', coef: 0.1 },
    entropyCoef: 0.01,
    value: { coef: 0.5, clip: 0.6 },
    crossEntropyCoef: 0.2,
  }),
  'sequence-mean': policy(clip, { aggregation: { mode: 'sequence-mean' } }),
  'token sums per sequence': policy(clip, { aggregation: { mode: 'token-sum-per-sequence' } }),
  dr_grpo: policy(clip, { aggregation: { mode: 'dr_grpo', scale: 8 } }),
  'prompt-mean': policy(clip, { aggregation: { mode: 'prompt-mean' } }),
}

describe('update', () => {
  let engine: Engine
  let datums: Datum[]
  beforeAll(async () => {
    engine = tinyEngine({ valueHead: true })
    datums = datumsFor(await engine.score(ITEMS))
  })

  /** The loss by plain arithmetic at the current weights. CISPO's ratio is a constant for its gradient. */
  const plainLoss = async (loss: LossSpec, frozen: LossSequence[] | null): Promise<number> => {
    const sequences = sequencesOf(datums, await engine.score(ITEMS))
    if (!frozen) return batchLoss(loss, sequences, { prompts: PROMPTS }).loss
    const advantages = (i: number) =>
      Float64Array.from(frozen[i].advantages, (advantage, t) => {
        const ratio = Math.exp(frozen[i].logprobs[t] - frozen[i].oldLogprobs[t])
        return advantage * Math.min(1.28, Math.max(0.8, ratio))
      })
    const reinforce = { ...loss, policy: { ...loss.policy, kind: 'reinforce' as const } }
    return batchLoss(
      reinforce,
      sequences.map((sequence, i) => ({ ...sequence, advantages: advantages(i) })),
    ).loss
  }

  it.each(Object.entries(LOSSES))(
    '%s: loss as in plain arithmetic, gradient as by differences',
    async (name, loss) => {
      const stats = await engine.accumulate(datums, { loss, prompts: PROMPTS })
      const gradients = await gradientsOf(engine)
      const { gradNorm } = await engine.step(STILL)
      const sequences = sequencesOf(datums, await engine.score(ITEMS))
      const expected = batchLoss(loss, sequences, { prompts: PROMPTS })
      expect(stats.loss).toBeCloseTo(expected.loss, 5)
      expect(stats.clipFraction).toBeCloseTo(expected.clipFraction, 9)
      const frozen = loss.policy.kind === 'cispo' ? sequences : null
      const total = Math.sqrt(gradients.reduce((sum, g) => sum + g.reduce((s, x) => s + x * x, 0), 0))
      expect(gradNorm).toBeCloseTo(total, 4)
      expect(total).toBeGreaterThan(1e-3)
      for (const [i, { param, name: tensor }] of engine.parameters.trained.entries()) {
        // Along a mix of the gradient itself and of chance, each tensor by itself.
        const rng = new Rng(`${name}/${tensor}`)
        const own = Math.sqrt(gradients[i].reduce((s, x) => s + x * x, 0)) || 1
        const direction = gradients[i].map(x => x / own + rng.normal() / Math.sqrt(param.length))
        const start = param.view.slice()
        const at = async (distance: number) => {
          for (let j = 0; j < start.length; j++) param.view[j] = start[j] + distance * direction[j]
          engine.parameters.changed()
          return plainLoss(loss, frozen)
        }
        const h = 0.004
        const slope =
          (8 * ((await at(h)) - (await at(-h))) - ((await at(2 * h)) - (await at(-2 * h)))) / (12 * h)
        param.view.set(start)
        engine.parameters.changed()
        const dot = gradients[i].reduce((sum, x, j) => sum + x * direction[j], 0)
        expect(Math.abs(slope - dot), `${tensor}: ${dot} against ${slope}`).toBeLessThan(
          2e-3 * Math.max(total, Math.abs(dot)),
        )
      }
    },
  )

  it('reports the terms, the KL so far, entropy and the largest ratio', async () => {
    const loss = LOSSES.everything
    const stats = await updateOnce(engine, datums, { loss, optimizer: STILL })
    const scores = await engine.score(ITEMS)
    const { parts } = batchLoss(loss, sequencesOf(datums, scores))
    for (const [name, value] of Object.entries(parts))
      expect(stats.parts[name as keyof typeof parts]).toBeCloseTo(value, 5)
    const live = datums.flatMap(({ mask, oldLogprobs }, i) =>
      Array.from(mask, (m, t) => ({
        m,
        d: scores[i].logprobs[t] - oldLogprobs[t],
        h: scores[i].entropies[t],
      })).filter(({ m }) => m > 0),
    )
    const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length
    expect(stats.tokens).toBe(live.length)
    expect(stats.oldKl).toBeCloseTo(-mean(live.map(({ d }) => d)), 5)
    expect(stats.entropy).toBeCloseTo(mean(live.map(({ h }) => h)), 5)
    expect(stats.maxRatio).toBeCloseTo(Math.exp(Math.max(...live.map(({ d }) => d))), 4)
    expect(stats.minRatio).toBeCloseTo(Math.exp(Math.min(...live.map(({ d }) => d))), 4)
    expect(stats.maxLogprobDifference).toBeCloseTo(Math.max(...live.map(({ d }) => Math.abs(d))), 5)
  })

  it('is the same update whatever the micro-batches', async () => {
    const options = { loss: LOSSES.everything, prompts: PROMPTS }
    const updated = async (microBatchTokens: number) => {
      const other = tinyEngine({ valueHead: true }, { microBatchTokens })
      const stats = await other.accumulate(datums, options)
      return { stats, gradients: await gradientsOf(other) }
    }
    const whole = await updated(4096)
    for (const tokens of [1, 12, 30]) {
      const { stats, gradients } = await updated(tokens)
      expect(stats.microBatches).toBeGreaterThan(whole.stats.microBatches)
      expect(stats.loss).toBeCloseTo(whole.stats.loss, 6)
      gradients.forEach((gradient, i) => {
        const largest = Math.max(...whole.gradients[i].map(Math.abs))
        const error = Math.max(...gradient.map((x, j) => Math.abs(x - whole.gradients[i][j])))
        expect(error / largest).toBeLessThan(1e-5)
      })
    }
  })

  it('starts from a ratio of 1 after sampling, at every temperature', async () => {
    for (const temperature of [0.6, 1]) {
      const fresh = tinyEngine()
      const prompts = [[1, 2, 3], [4]]
      const samples = await fresh.sample({ prompts, samplesPerPrompt: 4, maxTokens: 20, temperature })
      const own = samples.map(({ prompt, tokens, logprobs, index }) => ({
        promptTokens: prompts[prompt],
        tokens,
        mask: new Float32Array(tokens.length).fill(1),
        oldLogprobs: logprobs,
        advantages: new Float32Array(tokens.length).fill(index % 2 ? 1 : -1),
      }))
      const options = { loss: LOSSES.clip, optimizer: { learningRate: 1e-2 }, temperature }
      const first = await updateOnce(fresh, own, options)
      expect(Math.abs(first.maxRatio - 1)).toBeLessThan(1e-3)
      expect(Math.abs(first.minRatio - 1)).toBeLessThan(1e-3)
      expect(first.maxLogprobDifference).toBeLessThan(1e-4)
      const second = await updateOnce(fresh, own, options)
      expect(second.maxRatio).toBeGreaterThan(1.01)
      expect(second.loss).toBeLessThan(first.loss)
    }
  })

  it('clips the gradient to its global norm', async () => {
    const [a, b] = [tinyEngine(), tinyEngine()]
    const loss = LOSSES['cross-entropy']
    const { gradNorm } = await updateOnce(a, datums, {
      loss,
      optimizer: { learningRate: 1e-3, maxGradNorm: 0.01 },
    })
    expect(gradNorm).toBeGreaterThan(0.1)
    await updateOnce(b, datums, { loss, optimizer: { learningRate: 1e-3, maxGradNorm: 0 } })
    // AdamW divides by the gradient's size: the moments show the clipping.
    for (const { parameters } of [a, b]) await parameters.pull({ optimizer: true })
    const largest = (engine: Engine) =>
      Math.max(...engine.parameters.trained.map(({ m }) => Math.max(...m.view.map(Math.abs))))
    expect(largest(a) / largest(b)).toBeCloseTo(0.01 / gradNorm, 4)
  })

  const refusals: [string, (datum: Datum) => Datum, typeof GradusError, RegExp][] = [
    [
      'a NaN advantage',
      d => ({ ...d, advantages: [1, Number.NaN, 1, 1] }),
      NumericError,
      /datum 1\.advantages\[1\].*NaN/,
    ],
    [
      'an infinite log-prob',
      d => ({ ...d, oldLogprobs: [0, -Infinity, 0, 0] }),
      NumericError,
      /datum 1\.oldLogprobs/,
    ],
    [
      'a sequence beyond the context',
      d => ({ ...d, promptTokens: new Array(62).fill(1) }),
      DataError,
      /sequence 1: 62 prompt and 4 response/,
    ],
    ['an empty prompt', d => ({ ...d, promptTokens: [] }), DataError, /sequence 1: the prompt is empty/],
    [
      'a token outside the vocabulary',
      d => ({ ...d, tokens: [1, 2, 3, 17] }),
      DataError,
      /sequence 1: token 17.*vocabulary of 17/,
    ],
    [
      'missing reference log-probs',
      ({ refLogprobs: _, ...d }) => d,
      DataError,
      /datum 1: the loss needs refLogprobs/,
    ],
    [
      'arrays of different length',
      d => ({ ...d, mask: [1, 1] }),
      GradusError,
      /datum 1\.mask: expected 4 values/,
    ],
  ]
  it.each(refusals)('refuses %s and changes no weight', async (_, spoil, type, message) => {
    const fresh = tinyEngine({ valueHead: true })
    const before = fresh.parameters.trained.map(({ param }) => param.view.slice())
    const updating = updateOnce(fresh, [datums[0], spoil(datums[0])], {
      loss: LOSSES.everything,
      optimizer: { learningRate: 1 },
    })
    await expect(updating).rejects.toThrow(type)
    await expect(updating).rejects.toThrow(message)
    fresh.parameters.trained.forEach(({ param }, i) => {
      expect(param.view).toEqual(before[i])
    })
    expect(fresh.parameters.optimizer.steps).toBe(0)
  })

  it('refuses a loss or gradient that is not finite, with the datums named, and an update without datums', async () => {
    const fresh = tinyEngine()
    const { param } = fresh.parameters.trained[0]
    param.view[0] = Number.NaN
    const others = fresh.parameters.trained.slice(1).map(x => x.param.view.slice())
    const updating = updateOnce(fresh, datums, {
      loss: LOSSES['cross-entropy'],
      optimizer: { learningRate: 1 },
    })
    await expect(updating).rejects.toThrow(NumericError)
    await expect(updating).rejects.toThrow(/NaN.*no weight was changed/)
    fresh.parameters.trained.slice(1).forEach((x, i) => {
      expect(x.param.view).toEqual(others[i])
    })
    await expect(updateOnce(fresh, [], { loss: LOSSES.clip, optimizer: STILL })).rejects.toThrow(
      /at least one datum/,
    )
  })

  it('takes responses that end exactly with the context', async () => {
    const full = { promptTokens: new Array(61).fill(1), tokens: [1, 2, 3, 4] }
    const [scores] = await engine.score([full])
    expect(scores.logprobs.every(Number.isFinite)).toBe(true)
    await expect(engine.score([{ ...full, tokens: [1, 2, 3, 4, 5] }])).rejects.toThrow(
      /exceed the context of 64/,
    )
  })

  it('lets compiled losses go when their coefficients change with every step', async () => {
    const fresh = tinyEngine()
    const own = datums.map(({ oldValues: _, returns: __, ...rest }) => rest)
    const gradNorms = []
    for (let step = 0; step < 12; step++) {
      const loss = spec({ crossEntropyCoef: 1 + (step % 10) })
      gradNorms.push((await updateOnce(fresh, own, { loss, optimizer: STILL })).gradNorm)
    }
    expect(gradNorms[9] / gradNorms[0]).toBeCloseTo(10, 3)
    expect(gradNorms.slice(10)).toEqual(gradNorms.slice(0, 2))
  })

  it('learns: cross-entropy of a fixed text falls towards zero', async () => {
    const fresh = tinyEngine()
    const options = { loss: LOSSES['cross-entropy'], optimizer: { learningRate: 2e-2 } }
    const text = [{ ...datums[0], weights: undefined }]
    const losses = []
    for (let step = 0; step < 30; step++) losses.push((await updateOnce(fresh, text, options)).loss)
    expect(losses[29]).toBeLessThan(losses[0] / 20)
  })
})

describe('score', () => {
  it('compiles again what could not be compiled', async () => {
    const fresh = tinyEngine()
    const compile = vi.spyOn(Executable, 'compile').mockRejectedValueOnce(new Error('out of memory'))
    await expect(fresh.score(ITEMS)).rejects.toThrow('out of memory')
    compile.mockRestore()
    expect(await fresh.score(ITEMS)).toHaveLength(ITEMS.length)
  })

  it('does not depend on what else is scored, on shared prompts or on micro-batches', async () => {
    const engine = tinyEngine({ valueHead: true })
    const together = await engine.score(ITEMS)
    const small = await tinyEngine({ valueHead: true }, { microBatchTokens: 6 }).score(ITEMS)
    for (const [i, item] of ITEMS.entries()) {
      const [alone] = await engine.score([item])
      for (const other of [together[i], small[i]])
        for (const name of ['logprobs', 'entropies', 'values'] as const)
          alone[name]!.forEach((x, t) => {
            expect(other[name]![t]).toBeCloseTo(x, 5)
          })
    }
  })

  it('divides logits by the temperature', async () => {
    const engine = tinyEngine()
    const item = { promptTokens: [1, 2], tokens: [3] }
    const logprobs = await Promise.all(
      Array.from(
        { length: TINY.vocabSize },
        async (_, token) => (await engine.score([{ ...item, tokens: [token] }]))[0].logprobs[0],
      ),
    )
    const weights = logprobs.map(x => Math.exp(x / 0.5))
    const total = weights.reduce((a, b) => a + b, 0)
    const [{ logprobs: sharp, entropies }] = await engine.score([item], { temperature: 0.5 })
    expect(sharp[0]).toBeCloseTo(Math.log(weights[3] / total), 5)
    const p = weights.map(x => x / total)
    expect(entropies[0]).toBeCloseTo(-p.reduce((sum, x) => sum + x * Math.log(x), 0), 5)
  })

  it('takes empty responses', async () => {
    const [scores] = await tinyEngine().score([{ promptTokens: [1], tokens: [] }])
    expect(scores.logprobs.length).toBe(0)
    expect(await tinyEngine().score([])).toEqual([])
  })

  it('scores with the frozen reference while the policy moves on', async () => {
    const engine = tinyEngine()
    await expect(engine.score(ITEMS, { weights: 'reference' })).rejects.toThrow(/freezeReference/)
    await engine.freezeReference()
    const before = await engine.score(ITEMS)
    const datums = datumsFor(before)
    await updateOnce(engine, datums, { loss: LOSSES.clip, optimizer: { learningRate: 0.05 } })
    const reference = await engine.score(ITEMS, { weights: 'reference' })
    const now = await engine.score(ITEMS)
    expect(reference).toEqual(before)
    expect(now[0].logprobs[0]).not.toBe(before[0].logprobs[0])
  })
})
