import { readFileSync } from 'node:fs'
import { defaultDevice, init, nn, numpy as np, valueAndGrad } from '@jax-js/jax'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  add,
  Executable,
  gradients,
  input,
  matmul,
  mul,
  reduceSum,
  tokenLogProbs,
  type Values,
} from '../tensor/index.ts'
import { Rng } from '../util/rng.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import { loadConfig } from './checkpoint.ts'
import type { ModelConfig } from './config.ts'
import { initLora, type LoraConfig, loraModules, loraScale } from './lora-files.ts'
import type { NamedTensors } from './safetensors.ts'
import { groupedHidden, groupedInputs, MASKED, outputTable, weightInputs } from './transformer.ts'
import { initWeights, loadWeights } from './weights.ts'

type Weights64 = Record<string, np.Array>

const TINY: ModelConfig = {
  family: 'llama',
  vocabSize: 11,
  hiddenSize: 12,
  intermediateSize: 10,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  maxPositions: 16,
  rmsNormEps: 1e-5,
  ropeTheta: 100,
  ropeScaling: null,
  tieEmbeddings: true,
  attentionBias: false,
  qkNorm: false,
  bosTokenId: null,
  eosTokenIds: [],
  initializerRange: 0.3,
}
const LORA: LoraConfig = { rank: 2, alpha: 6, targetModules: loraModules }

const MODELS: Record<string, { config: ModelConfig; lora?: LoraConfig }> = {
  'Llama (grouped queries, tied)': { config: TINY },
  'Qwen2 (biases)': { config: { ...TINY, family: 'qwen2', attentionBias: true } },
  'Qwen3 (q and k norms, untied, wide heads)': {
    config: { ...TINY, family: 'qwen3', qkNorm: true, tieEmbeddings: false, headDim: 8, kvHeads: 1 },
  },
  'Gemma 3 (sliding and global layers)': {
    config: {
      ...{ ...TINY, family: 'gemma3_text', qkNorm: true, headDim: 8, kvHeads: 1, queryScalar: 5 },
      ropeScaling: { type: 'linear', factor: 2 },
      sliding: { window: 3, ropeTheta: 3, layers: [true, false] },
    },
  },
  'Llama with LoRA, untied': { config: { ...TINY, tieEmbeddings: false }, lora: LORA },
  'Llama with LoRA on q and v, rotary scaling': {
    config: { ...TINY, ropeScaling: { type: 'linear', factor: 2 } },
    lora: { ...LORA, targetModules: ['q_proj', 'v_proj'] },
  },
}

/** Weights of every kind moved off their special values (1, 0), so that no gradient is zero by accident. */
const weightsOf = (config: ModelConfig, lora?: LoraConfig): NamedTensors => {
  const rng = new Rng('weights')
  const tensors = new Map([...initWeights(config, 1), ...(lora ? initLora(config, lora, 2) : [])])
  for (const { data } of tensors.values()) for (let i = 0; i < data.length; i++) data[i] += 0.2 * rng.normal()
  return tensors
}

interface Item {
  prompt: number[]
  samples: number[][]
  targets: number[][]
}

/** Two prompts of different length with two samples of different length each. */
const ITEMS: Item[] = [
  {
    prompt: [3, 1, 4],
    samples: [
      [1, 5, 9, 2],
      [6, 5],
    ],
    targets: [
      [5, 9, 2, 0],
      [5, 3],
    ],
  },
  {
    prompt: [7],
    samples: [
      [8, 2, 8],
      [1, 8, 2, 10],
    ],
    targets: [
      [2, 8, 1],
      [8, 2, 10, 4],
    ],
  },
]
const withoutPrompt = (items: Item[]): Item[] => items.map(item => ({ ...item, prompt: [] }))

/** Factors of log-prob and entropy in the loss; 0 on padding. */
const factor = (p: number, g: number, t: number, which: number) => Math.sin(1 + p + 3 * g + 5 * t + 7 * which)

const gridOf = (items: Item[]) => {
  const S = Math.max(...items.map(({ prompt }) => prompt.length))
  const G = items[0].samples.length
  // Batches have an even length.
  const T =
    2 * Math.ceil(Math.max(...items.flatMap(({ samples }) => samples.map(sample => sample.length))) / 2)
  return { P: items.length, G, T, S }
}

const batchOf = (items: Item[]): Values => {
  const { P, G, T, S } = gridOf(items)
  const [tokens, positions, segments, targets]: number[][] = [[], [], [], []]
  const [a, b, prefixMask]: number[][] = [[], [], []]
  items.forEach(({ prompt }) => {
    for (let s = 0; s < S; s++) {
      tokens.push(prompt[s] ?? 0)
      positions.push(s)
      prefixMask.push(s < prompt.length ? 0 : MASKED)
    }
  })
  items.forEach((item, p) => {
    item.samples.forEach((sample, g) => {
      for (let t = 0; t < T; t++) {
        const real = t < sample.length
        tokens.push(sample[t] ?? 0)
        positions.push(item.prompt.length + t)
        segments.push(real ? 0 : 1)
        targets.push(item.targets[g][t] ?? 0)
        a.push(real ? factor(p, g, t, 0) : 0)
        b.push(real ? factor(p, g, t, 1) : 0)
      }
    })
  })
  const int64 = (values: number[], dims: number[]) => ({ data: BigInt64Array.from(values, BigInt), dims })
  const float = (values: number[], dims: number[]) => ({ data: Float32Array.from(values), dims })
  return {
    tokens: int64(tokens, [tokens.length]),
    positions: int64(positions, [tokens.length]),
    segments: { data: Int32Array.from(segments), dims: [P, G, T] },
    targets: int64(targets, [targets.length]),
    a: float(a, [a.length]),
    b: float(b, [b.length]),
    ...(S > 0 && { prefixMask: float(prefixMask, [P, S]) }),
  }
}

const weightFeeds = (tensors: NamedTensors): Values =>
  Object.fromEntries([...tensors].map(([name, { data, shape }]) => [`w.${name}`, { data, dims: shape }]))

/** Loss, log-probs and every gradient from the engine. */
const runEngine = async (config: ModelConfig, tensors: NamedTensors, items: Item[], scale: number) => {
  const specs = [...tensors].map(([name, { shape }]) => ({ name, shape }))
  const weights = weightInputs(specs, scale)
  const hidden = groupedHidden(
    config,
    weights,
    groupedInputs({ withPrefix: gridOf(items).S > 0, unpadded: false }),
  )
  const count = [hidden.shape[0]]
  const targets = input('targets', count, 'int64')
  const { logprobs, entropy } = tokenLogProbs(hidden, outputTable(config, weights), targets)
  const loss = reduceSum(add(mul(logprobs, input('a', count)), mul(entropy, input('b', count))))
  const derivatives = gradients(
    loss,
    specs.map(({ name }) => weights.get(name)),
  )
  const graph = await Executable.compile({
    loss,
    logprobs,
    ...Object.fromEntries(specs.map(({ name }, i) => [`d.${name}`, derivatives[i]])),
  })
  const outputs = await graph.run({ ...batchOf(items), ...weightFeeds(tensors) })
  return {
    loss: outputs.loss.data[0] as number,
    logprobs: outputs.logprobs.data as Float32Array,
    gradients: new Map(specs.map(({ name }) => [name, outputs[`d.${name}`].data as Float32Array])),
  }
}

// The same model in jax-js: float64, one sequence at a time, written from the papers and not from the engine.
// jax-js counts references: `.ref` keeps an array that is used again.
const f64 = (values: ArrayLike<number>, shape: number[]) =>
  np.array(Float64Array.from(values), { shape, dtype: np.float64 })
const times = (a: np.Array, b: np.Array) => np.matmul(a.ref, b.ref)

const reference = (config: ModelConfig, scale: number) => {
  const { heads, kvHeads, headDim, rmsNormEps, sliding } = config
  const isGemma = config.family === 'gemma3_text'
  const norm = (x: np.Array, weight: np.Array) => {
    const meanSquare = np.mean(np.square(x.ref), -1, { keepdims: true })
    return x.ref.div(np.sqrt(meanSquare.add(rmsNormEps))).mul(isGemma ? weight.ref.add(1) : weight.ref)
  }
  const project = (w: Weights64, name: string, x: np.Array): np.Array => {
    let y = times(x, np.matrixTranspose(w[`${name}.weight`].ref))
    if (w[`${name}.bias`]) y = y.add(w[`${name}.bias`].ref)
    const [a, b] = ['A', 'B'].map(part => w[`base_model.model.${name}.lora_${part}.weight`])
    if (!a) return y
    const low = times(x, np.matrixTranspose(a.ref))
    return y.add(times(low, np.matrixTranspose(b.ref)).mul(scale))
  }
  const toHeads = (x: np.Array, count: number) =>
    np.transpose(x.ref.reshape([x.shape[0], count, headDim]), [1, 0, 2])
  const rope = (x: np.Array, near: boolean) => {
    const [, length, half] = [0, x.shape[1], headDim / 2]
    const stretch = near ? 1 : (config.ropeScaling?.factor ?? 1)
    const base = near ? sliding!.ropeTheta : config.ropeTheta
    const angles = Array.from(
      { length: length * half },
      (_, i) => Math.floor(i / half) / base ** ((i % half) / half) / stretch,
    )
    const [cos, sin] = [Math.cos, Math.sin].map(f => f64(angles.map(f), [length, half]))
    const [first, second] = np.split(x.ref, 2, -1)
    return np.concatenate(
      [
        first.ref.mul(cos.ref).sub(second.ref.mul(sin.ref)),
        second.ref.mul(cos.ref).add(first.ref.mul(sin.ref)),
      ],
      -1,
    )
  }
  const attend = (w: Weights64, layer: number, x: np.Array): np.Array => {
    const length = x.shape[0]
    const name = `model.layers.${layer}.self_attn`
    const near = sliding?.layers[layer] ?? false
    const normed = (heads3: np.Array, which: string) =>
      config.qkNorm ? norm(heads3, w[`${name}.${which}_norm.weight`]) : heads3
    const q = rope(normed(toHeads(project(w, `${name}.q_proj`, x), heads), 'q'), near)
    const k = rope(normed(toHeads(project(w, `${name}.k_proj`, x), kvHeads), 'k'), near)
    const v = toHeads(project(w, `${name}.v_proj`, x), kvHeads)
    const spread = (y: np.Array) => np.repeat(y.ref, heads / kvHeads, 0)
    const hidden = Array.from({ length: length * length }, (_, i) => {
      const back = Math.floor(i / length) - (i % length)
      return back < 0 || (near && back >= sliding!.window) ? -1e9 : 0
    })
    const scores = times(q, np.matrixTranspose(spread(k))).div(Math.sqrt(config.queryScalar ?? headDim))
    const p = nn.softmax(scores.add(f64(hidden, [length, length])), -1)
    const out = np.transpose(times(p, spread(v)), [1, 0, 2]).reshape([length, heads * headDim])
    return project(w, `${name}.o_proj`, out)
  }
  // x * sigmoid(z), where GELU's tanh approximation has (1 + tanh(z / 2)) / 2 = sigmoid(z).
  const activation = (x: np.Array) => {
    const cubic = np.square(x.ref).mul(0.044715).add(1).mul(x.ref)
    const z = isGemma ? cubic.mul(2 * Math.sqrt(2 / Math.PI)) : x.ref
    return x.ref.div(np.exp(np.negative(z)).add(1))
  }
  const logits = (w: Weights64, tokens: number[]): np.Array => {
    let x = np.take(w['model.embed_tokens.weight'].ref, np.array(tokens, { dtype: np.int32 }), 0)
    if (isGemma) x = x.mul(Math.sqrt(config.hiddenSize))
    for (let layer = 0; layer < config.layers; layer++) {
      const name = `model.layers.${layer}`
      const named = (of: string, y: np.Array) => norm(y, w[`${name}.${of}_layernorm.weight`])
      const output = (of: string, y: np.Array) => (isGemma ? named(of, y) : y)
      x = x.ref.add(output('post_attention', attend(w, layer, named('input', x))))
      const y = named(isGemma ? 'pre_feedforward' : 'post_attention', x)
      const gate = activation(project(w, `${name}.mlp.gate_proj`, y))
      const product = gate.mul(project(w, `${name}.mlp.up_proj`, y))
      x = x.ref.add(output('post_feedforward', project(w, `${name}.mlp.down_proj`, product)))
    }
    const table = config.tieEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight'
    return times(norm(x, w['model.norm.weight']), np.matrixTranspose(w[table].ref))
  }
  return (items: Item[]) =>
    (w: Weights64): np.Array => {
      let loss = f64([0], [1])
      items.forEach(({ prompt, samples, targets }, p) => {
        samples.forEach((sample, g) => {
          const all = nn.logSoftmax(logits(w, [...prompt, ...sample]), -1)
          const own = np.split(all, [prompt.length], 0)[1]
          const pick = sample.flatMap((_, t) =>
            Array.from({ length: config.vocabSize }, (_, token) =>
              token === targets[g][t] ? factor(p, g, t, 0) : 0,
            ),
          )
          const entropyFactor = sample.map((_, t) => -factor(p, g, t, 1))
          const spread = np
            .exp(own.ref)
            .mul(own.ref)
            .mul(f64(entropyFactor, [sample.length, 1]))
          const picked = own.ref.mul(f64(pick, [sample.length, config.vocabSize]))
          loss = loss.add(np.sum(picked.add(spread)))
        })
      })
      return np.sum(loss)
    }
}

describe('the whole model against jax-js in float64', () => {
  beforeAll(async () => {
    // jax-js asks for this type by name; Node 20 does not have it.
    const globals = globalThis as { Float16Array?: unknown }
    globals.Float16Array ??= class {}
    await init('wasm')
    defaultDevice('wasm')
  })

  for (const [name, { config, lora }] of Object.entries(MODELS))
    it.each([
      ['with shared prompts', ITEMS],
      ['without prompts', withoutPrompt(ITEMS)],
    ])(`${name}, %s: loss and every gradient within 1e-4`, async (_, items) => {
      const tensors = weightsOf(config, lora)
      const scale = lora ? loraScale(lora) : 0
      const engine = await runEngine(config, tensors, items, scale)
      const weights = Object.fromEntries(
        [...tensors].map(([key, { data, shape }]) => [key, f64(data, shape)]),
      )
      const [loss, derivatives] = valueAndGrad(reference(config, scale)(items))(weights)
      expect(Math.abs(engine.loss / (loss.js() as number) - 1)).toBeLessThan(1e-4)
      for (const [key, got] of engine.gradients) {
        const expected = (derivatives as Weights64)[key].dataSync() as Float64Array
        const norm = Math.sqrt(expected.reduce((sum, x) => sum + x * x, 0))
        const error = Math.sqrt(expected.reduce((sum, x, i) => sum + (x - got[i]) ** 2, 0))
        expect(norm, `${key} has a gradient`).toBeGreaterThan(1e-3)
        expect(error / norm, key).toBeLessThan(1e-4)
      }
    })
})

describe('packing', () => {
  it('several sequences in one row give the log-probs of separate rows', async () => {
    const tensors = weightsOf(TINY)
    const [a, b] = [
      { sample: [1, 5, 9], targets: [5, 9, 2] },
      { sample: [6, 5, 3, 5], targets: [5, 3, 5, 8] },
    ]
    const item = ({ sample, targets }: typeof a): Item[] => [
      { prompt: [], samples: [sample], targets: [targets] },
    ]
    const separate = await Promise.all([a, b].map(x => runEngine(TINY, tensors, item(x), 0)))
    const packed = { sample: [...a.sample, ...b.sample], targets: [...a.targets, ...b.targets] }
    const values = batchOf(item(packed))
    values.positions.data = BigInt64Array.from([0, 1, 2, 0, 1, 2, 3, 0], BigInt)
    values.segments.data = Int32Array.of(0, 0, 0, 1, 1, 1, 1, 2)
    const weights = weightInputs([...tensors].map(([name, { shape }]) => ({ name, shape })))
    const hidden = groupedHidden(TINY, weights, groupedInputs({ withPrefix: false, unpadded: false }))
    const { logprobs } = tokenLogProbs(
      hidden,
      outputTable(TINY, weights),
      input('targets', [hidden.shape[0]], 'int64'),
    )
    const graph = await Executable.compile({ logprobs })
    const used = new Set(graph.model.inputs.map(({ name }) => name))
    const feeds = { ...values, ...weightFeeds(tensors) }
    const out = await graph.run(
      Object.fromEntries(Object.entries(feeds).filter(([name]) => used.has(`in.${name}`))),
    )
    const expected = separate.flatMap(({ logprobs }, i) => [...logprobs.subarray(0, [a, b][i].sample.length)])
    expected.forEach((logprob, i) => {
      expect((out.logprobs.data as Float32Array)[i]).toBeCloseTo(logprob, 5)
    })
  })
})

const folder = sharedData('models/stories260K/config.json')?.replace('/config.json', '')

describe.skipIf(!folder)('stories260K (skipped where ../shared/data is missing)', () => {
  it('gives the reference logits within 1e-3, log-probs and entropies within 1e-4', async () => {
    const expected = JSON.parse(readFileSync(`${folder}/expected.json`, 'utf8'))
    const config = loadConfig(folder!)
    const tensors = loadWeights(folder!, config)
    const weights = weightInputs([...tensors].map(([name, { shape }]) => ({ name, shape })))
    const hidden = groupedHidden(config, weights, groupedInputs({ withPrefix: false, unpadded: false }))
    const table = outputTable(config, weights)
    const targets = input('targets', [hidden.shape[0]], 'int64')
    const graph = await Executable.compile({
      logits: matmul(hidden, table, { transposeB: true }),
      ...tokenLogProbs(hidden, table, targets),
    })
    const ids: number[] = expected.ids
    const length = ids.length - 1
    const int64 = (values: number[]) => ({ data: BigInt64Array.from(values, BigInt), dims: [values.length] })
    const out = await graph.run({
      tokens: int64(ids.slice(0, -1)),
      positions: int64(ids.slice(0, -1).map((_, i) => i)),
      segments: { data: new Int32Array(length), dims: [1, 1, length] },
      targets: int64(ids.slice(1)),
      ...weightFeeds(tensors),
    })
    const worst = (got: ArrayLike<number>, wanted: number[]) =>
      Math.max(...wanted.map((x, i) => Math.abs(x - got[i])))
    const [logits, logprobs, entropy] = ['logits', 'logprobs', 'entropy'].map(
      name => out[name].data as Float32Array,
    )
    expect(worst(logits, expected.logits_pos0)).toBeLessThan(1e-3)
    expect(worst(logprobs, expected.greedy_logprobs)).toBeLessThan(1e-4)
    expect(worst(entropy, expected.entropy_first20)).toBeLessThan(1e-4)
    for (let t = 0; t < length; t++) {
      const row = logits.subarray(t * config.vocabSize, (t + 1) * config.vocabSize)
      expect(row.indexOf(Math.max(...row))).toBe(ids[t + 1])
    }
  })
})
