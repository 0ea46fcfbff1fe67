/** @file The decoder transformer (Llama, Qwen2, Qwen3, Gemma 3) as graphs over a flat list of tokens. */

import { product, type Shape, sumDims } from '../tensor/dim.ts'
import {
  add,
  attention,
  cast,
  concat,
  constant,
  equal,
  fromPlaces,
  gather,
  gelu,
  greaterOrEqual,
  input,
  type KeyBlock,
  less,
  logicalAnd,
  matmul,
  mul,
  type QuantizedMatrix,
  type RotaryTable,
  type RowPlaces,
  recomputed,
  reshape,
  rmsNorm,
  rotary,
  silu,
  split,
  type Tensor,
  timesQuantized,
  toPlaces,
  transpose,
  where,
} from '../tensor/index.ts'
import { type ModelConfig, type SlidingLayers, traitsOf } from './config.ts'
import { type RotaryShape, rotaryAngles } from './rotary.ts'

/** Added to a score that must not be looked at: far below any score, and far from float32's limit. */
export const MASKED = -1e9

/** Where the graph gets its weights: Hugging Face names to tensors; LoRA factors where a projection has them. */
export interface Weights {
  get(name: string): Tensor
  has(name: string): boolean
  /** alpha / rank of the LoRA factors, when there are any. */
  loraScale: number
  /** Matrices in 8 bits, which products take instead. */
  quantized?(name: string): QuantizedMatrix | undefined
}

/** x W^T. */
const times = (weights: Weights, name: string, x: Tensor): Tensor => {
  const matrix = weights.quantized?.(name)
  return matrix ? timesQuantized(x, matrix) : matmul(x, weights.get(name), { transposeB: true })
}

/** Weights as inputs of the graph, called `w.<name>`. */
export const weightInputs = (
  specs: readonly { name: string; shape: readonly number[] }[],
  loraScale = 0,
): Weights & { tensors: ReadonlyMap<string, Tensor> } => {
  const tensors = new Map(specs.map(({ name, shape }) => [name, input(`w.${name}`, shape)]))
  return {
    tensors,
    loraScale,
    has: name => tensors.has(name),
    get: name => {
      const tensor = tensors.get(name)
      if (!tensor) throw new Error(`transformer: no weight is called ${name}`)
      return tensor
    },
  }
}

/** What layers that look back at all tokens have in common, and what sliding ones have: made once, then given by layer. */
export const byLayer = <T>(
  { sliding }: Pick<ModelConfig, 'sliding'>,
  make: (sliding: SlidingLayers | null) => T,
): ((layer: number) => T) => {
  const far = make(null)
  if (!sliding) return () => far
  const near = make(sliding)
  return layer => (sliding.layers[layer] ? near : far)
}

/** The rotary tables of a model's layers as graph constants. */
export const rotaryTables = (
  config: RotaryShape & Pick<ModelConfig, 'sliding'>,
): ((layer: number) => RotaryTable) =>
  byLayer(config, sliding => {
    const { cos, sin } = rotaryAngles(
      sliding ? { ...config, ropeTheta: sliding.ropeTheta, ropeScaling: null } : config,
    )
    const shape = [config.maxPositions, config.headDim / 2]
    return { cos: constant(cos, shape), sin: constant(sin, shape) }
  })

const adapterOf = (prefix: string): string => `base_model.model.${prefix}`

/** x W^T + b, plus the LoRA term where the projection has one. `prefix` is e.g. `model.layers.0.mlp.up_proj`. */
const linear = (weights: Weights, prefix: string, x: Tensor): Tensor => {
  const product = times(weights, `${prefix}.weight`, x)
  const biased = weights.has(`${prefix}.bias`) ? add(product, weights.get(`${prefix}.bias`)) : product
  const adapter = adapterOf(prefix)
  if (!weights.has(`${adapter}.lora_A.weight`)) return biased
  const down = matmul(x, weights.get(`${adapter}.lora_A.weight`), { transposeB: true })
  const up = weights.get(`${adapter}.lora_B.weight`)
  return add(biased, matmul(down, up, { transposeB: true, alpha: weights.loraScale }))
}

/** One product instead of several only where whole weights are fixed in the graph: joining them is then done once, and not in every run. */
const mayJoin = (weights: Weights, prefixes: readonly string[]): boolean =>
  prefixes.every(
    prefix =>
      weights.get(`${prefix}.weight`).source.kind === 'constant' &&
      !weights.has(`${adapterOf(prefix)}.lora_A.weight`),
  )

/** Constants one below the other. */
const constantRows = (tensors: readonly Tensor[]): Tensor => {
  const [first, ...others] = tensors
  const rows = tensors.map(({ source }) => (source as { data: Float32Array }).data)
  const data = new Float32Array(rows.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const row of rows) {
    data.set(row, at)
    at += row.length
  }
  const height = others.reduce((sum, { shape }) => sum + (shape[0] as number), first.shape[0] as number)
  return constant(data, [height, ...(first.shape.slice(1) as number[])])
}

/** Several projections of the same x side by side, [N, sum of their widths]; all of them have a bias, or none. */
const linears = (weights: Weights, prefixes: readonly string[], x: Tensor): Tensor => {
  if (!mayJoin(weights, prefixes))
    return concat(
      prefixes.map(prefix => linear(weights, prefix, x)),
      -1,
    )
  const joined = (of: string) => constantRows(prefixes.map(prefix => weights.get(`${prefix}.${of}`)))
  const product = matmul(x, joined('weight'), { transposeB: true })
  return weights.has(`${prefixes[0]}.bias`) ? add(product, joined('bias')) : product
}

const outputName = ({ tieEmbeddings }: ModelConfig): string =>
  tieEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight'

/** The table that turns hidden states into logits, [vocabulary, hidden]. */
export const outputTable = (config: ModelConfig, weights: Weights): Tensor => weights.get(outputName(config))

/** Logits [N, vocabulary] of hidden states [N, hidden]. */
export const logitsOf = (config: ModelConfig, weights: Weights, hidden: Tensor): Tensor =>
  times(weights, outputName(config), hidden)

/** Queries, keys and values of all tokens, heads first: [heads, N, headDim]. */
export interface HeadTensors {
  q: Tensor
  k: Tensor
  v: Tensor
}

const headsFirst = (x: Tensor, heads: number, headDim: number): Tensor =>
  transpose(reshape(x, [x.shape[0], heads, headDim]), [1, 0, 2])

/** Projections of one layer's attention with rotary positions applied; x is normalised, [N, hidden]. */
const projectHeads = (
  config: ModelConfig,
  weights: Weights,
  layer: number,
  x: Tensor,
  positions: Tensor,
  table: RotaryTable,
): HeadTensors => {
  const name = `model.layers.${layer}.self_attn`
  const rotated = (projection: string, norm: string, heads: number) => {
    const states = linear(weights, `${name}.${projection}`, x)
    const normed = config.qkNorm ? headNorm(config, weights, `${name}.${norm}`, states, heads) : states
    return headsFirst(rotary(normed, positions, table), heads, config.headDim)
  }
  return {
    q: rotated('q_proj', 'q_norm', config.heads),
    k: rotated('k_proj', 'k_norm', config.kvHeads),
    v: headsFirst(linear(weights, `${name}.v_proj`, x), config.kvHeads, config.headDim),
  }
}

/** Queries, keys and values of each token, head by head, before rotation: [N, heads + 2 kvHeads, headDim]. */
export const headsSideBySide = (config: ModelConfig, weights: Weights, layer: number, x: Tensor): Tensor => {
  const name = `model.layers.${layer}.self_attn`
  const [q, k, v] = ['q_proj', 'k_proj', 'v_proj'].map(projection => `${name}.${projection}`)
  const norm = (projection: string, of: string, heads: number) =>
    headNorm(config, weights, `${name}.${of}`, linear(weights, projection, x), heads)
  const states = config.qkNorm
    ? concat([norm(q, 'q_norm', config.heads), norm(k, 'k_norm', config.kvHeads), linear(weights, v, x)], -1)
    : linears(weights, [q, k, v], x)
  return reshape(states, [x.shape[0], config.heads + 2 * config.kvHeads, config.headDim])
}

/** RMS norm over the last axis. `name` is e.g. `model.norm`. */
const norm = (config: ModelConfig, weights: Weights, name: string, x: Tensor): Tensor => {
  const weight = weights.get(`${name}.weight`)
  const { normOffset } = traitsOf(config)
  return rmsNorm(x, normOffset === 0 ? weight : add(weight, normOffset), config.rmsNormEps)
}

/** RMS norm over each head's slice of [N, heads * headDim] (Qwen3, Gemma 3). */
const headNorm = (config: ModelConfig, weights: Weights, name: string, x: Tensor, heads: number): Tensor =>
  reshape(norm(config, weights, name, reshape(x, [x.shape[0], heads, config.headDim])), x.shape)

/** SwiGLU, or GeGLU: down(activation(gate(x)) * up(x)). */
const gatedUnit = (config: ModelConfig, weights: Weights, layer: number, x: Tensor): Tensor => {
  const name = `model.layers.${layer}.mlp`
  const activation = traitsOf(config).activation === 'gelu' ? gelu : silu
  const gate = activation(linear(weights, `${name}.gate_proj`, x))
  return linear(weights, `${name}.down_proj`, mul(gate, linear(weights, `${name}.up_proj`, x)))
}

/** Attention of a layer: normalised states [N, hidden] to the outputs of its heads, [N, heads * headDim]. */
export type Attention = (x: Tensor, layer: number) => Tensor

/** Mixes tokens: gets one layer's heads, returns the attention output, [heads, N, headDim]. */
export type Mixer = (heads: HeadTensors, layer: number) => Tensor

/** Attention by a mixer, of tokens at positions [N] (int64). */
export const mixedBy = (config: ModelConfig, weights: Weights, positions: Tensor, mix: Mixer): Attention => {
  const tableOf = rotaryTables(config)
  return (x, layer) => {
    const mixed = mix(projectHeads(config, weights, layer, x, positions, tableOf(layer)), layer)
    return reshape(transpose(mixed, [1, 0, 2]), [x.shape[0], config.heads * config.headDim])
  }
}

/**
 * The whole network up to the final norm: hidden states [N, hidden] of flat tokens [N]. How tokens look at each other, and where
 * they stand, is the business of `attend`.
 * @param recompute weights that are trained, where layers are to be computed a second time for their gradient (`recomputed`)
 */
export const transformer = (
  config: ModelConfig,
  weights: Weights,
  tokens: Tensor,
  attend: Attention,
  recompute: ReadonlySet<Tensor> | null = null,
): Tensor => {
  const { normsOutputs, scalesEmbeddings } = traitsOf(config)
  const layerOf = (layer: number) => (x: Tensor) => {
    const named = (name: string, y: Tensor) => norm(config, weights, `model.layers.${layer}.${name}`, y)
    const output = (name: string, y: Tensor) => (normsOutputs ? named(name, y) : y)
    const mixed = attend(named('input_layernorm', x), layer)
    const attention = linear(weights, `model.layers.${layer}.self_attn.o_proj`, mixed)
    const attended = add(x, output('post_attention_layernorm', attention))
    const before = normsOutputs ? 'pre_feedforward_layernorm' : 'post_attention_layernorm'
    const gated = gatedUnit(config, weights, layer, named(before, attended))
    return add(attended, output('post_feedforward_layernorm', gated))
  }
  const embedded = gather(weights.get('model.embed_tokens.weight'), tokens)
  let x = scalesEmbeddings ? mul(embedded, Math.sqrt(config.hiddenSize)) : embedded
  for (let layer = 0; layer < config.layers; layer++) {
    const compute = layerOf(layer)
    x = recompute === null ? compute(x) : recomputed(compute, x, recompute)
  }
  return norm(config, weights, 'model.norm', x)
}

/** Where tokens stand: positions [..., T], and segments alike unless all are in one. */
export interface TokenPositions {
  positions: Tensor
  segments: Tensor | null
}

/** Positions as int32, which every provider compares: WebGPU has no kernels for int64. */
export const asPlaces = (positions: Tensor): Tensor => cast(positions, 'int32')

/**
 * 0 where key position <= query position and both lie in the same segment, MASKED elsewhere: [..., queries, keys].
 * @param sliding where keys must also be within its window
 */
export const causalMask = (
  queries: TokenPositions,
  keys: TokenPositions,
  sliding: SlidingLayers | null,
): Tensor => {
  const asRows = (x: Tensor) => reshape(x, [...x.shape, 1])
  const asColumns = (x: Tensor) => reshape(x, [...x.shape.slice(0, -1), 1, x.dim(-1)])
  const [to, from] = [asRows(queries.positions), asColumns(keys.positions)]
  const ahead = greaterOrEqual(to, from)
  const past = sliding
    ? logicalAnd(ahead, less(to, add(from, constant(Int32Array.of(sliding.window), [], 'int32'))))
    : ahead
  if (!queries.segments || !keys.segments) return where(past, 0, MASKED)
  return where(logicalAnd(past, equal(asRows(queries.segments), asColumns(keys.segments))), 0, MASKED)
}

/**
 * Length of a sample in a grouped batch, T = 2 H: the first half of the queries need not look at the second half of the keys,
 * which saves a quarter of attention's work. Batches are padded to an even length.
 */
const SAMPLE_LENGTH = '2*H'

/** Shape of everything that has one entry per sample token. */
export const SAMPLES: readonly [string, string, string] = ['P', 'G', SAMPLE_LENGTH]

/**
 * A batch of P prompts with G samples each. Sample tokens are [P, G, T]; with a prefix, the P prompts [P, S] are computed
 * once and seen by all their samples. Flat order: all prompt tokens, then all sample tokens.
 */
export interface GroupedBatch {
  tokens: Tensor
  positions: Tensor
  /** int32 [P, G, T]: tokens look only at their own segment (packed sequences, padding). */
  segments: Tensor
  /** 0 for prompt tokens, MASKED for padding: float32 [P, S]; null without a prefix. */
  prefixMask: Tensor | null
  /** Where `tokens` and `positions` come without padding: what is needed to lay them out for attention. */
  unpadded: { prompts: Unpadded | null; samples: Unpadded } | null
}

/** Tokens without padding, and the positions of all places, int32 [P, S] or [P, G, T]. */
interface Unpadded {
  places: RowPlaces
  positions: Tensor
}

/** What a grouped batch looks like. */
export interface BatchLayout {
  /** Whether any prompt is longer than one token. */
  withPrefix: boolean
  /** Whether padding is left out of all that is computed for each token by itself: everything but attention. */
  unpadded: boolean
}

const PROMPT: Dim2 = ['P', 'S']
type Dim2 = readonly [string, string]

/** Tokens of prompts, then of samples, that a layout computes. */
const partsOf = ({ withPrefix, unpadded }: BatchLayout): Shape => {
  const samples = unpadded ? 'N' : product(SAMPLES)
  return withPrefix ? [unpadded ? 'R' : product(PROMPT), samples] : [samples]
}

/** @param name `prompt` or `sample`, which the inputs' names begin with */
const unpaddedInputs = (name: string, padded: Shape, count: string): Unpadded => {
  const places = product(padded)
  return {
    places: {
      rowAt: input(`${name}RowAt`, [places], 'int64'),
      placeOf: input(`${name}PlaceOf`, [count], 'int64'),
      taken: input(`${name}Taken`, [places, 1]),
    },
    positions: input(`${name}Positions`, padded, 'int32'),
  }
}

/** Declares the inputs of a grouped batch. */
export const groupedInputs = (layout: BatchLayout): GroupedBatch => {
  const { withPrefix, unpadded } = layout
  const count = sumDims(partsOf(layout))
  return {
    tokens: input('tokens', [count], 'int64'),
    positions: input('positions', [count], 'int64'),
    segments: input('segments', SAMPLES, 'int32'),
    prefixMask: withPrefix ? input('prefixMask', PROMPT) : null,
    unpadded: unpadded
      ? {
          prompts: withPrefix ? unpaddedInputs('prompt', PROMPT, 'R') : null,
          samples: unpaddedInputs('sample', SAMPLES, 'N'),
        }
      : null,
  }
}

/** Takes what a layer's attention reads of prompts, where there are any, and of samples: each [kv heads, places, headDim]. */
export type KeyValueTaker = (layer: number, keys: readonly Tensor[], values: readonly Tensor[]) => void

/**
 * Hidden states of the sample tokens, [P*G*T, hidden], or without padding [N, hidden].
 * @param recompute see `transformer` @param takeKeys called once a layer
 */
export const groupedHidden = (
  config: ModelConfig,
  weights: Weights,
  batch: GroupedBatch,
  recompute: ReadonlySet<Tensor> | null = null,
  takeKeys: KeyValueTaker = () => {},
): Tensor => {
  const { unpadded } = batch
  const parts = partsOf({ withPrefix: batch.prefixMask !== null, unpadded: unpadded !== null })
  const { positions, promptPositions } = positionsOf(batch, parts)
  const masksOf = byLayer(config, sliding => groupedMasks(batch, positions, promptPositions, sliding))
  const layouts = unpadded && [...(unpadded.prompts ? [unpadded.prompts] : []), unpadded.samples]
  const mix: Mixer = (heads, layer) => {
    const places = layouts?.map(each => each.places) ?? null
    const [q, k, v] = [heads.q, heads.k, heads.v].map(x => {
      const pieces = parts.length > 1 ? split(x, 1, parts) : [x]
      return places ? pieces.map((piece, i) => toPlaces(piece, places[i])) : pieces
    })
    takeKeys(layer, k, v)
    const mixed = mixGrouped(
      config,
      parts.map((_, i) => ({ q: q[i], k: k[i], v: v[i] })),
      masksOf(layer),
    )
    const ordered = places ? mixed.map((piece, i) => fromPlaces(piece, places[i])) : mixed
    return parts.length > 1 ? concat(ordered, 1) : ordered[0]
  }
  const attend = mixedBy(config, weights, batch.positions, mix)
  const hidden = transformer(config, weights, batch.tokens, attend, recompute)
  return batch.prefixMask ? split(hidden, 0, parts)[1] : hidden
}

/** Positions of all places, as int32. */
const positionsOf = ({ positions, unpadded }: GroupedBatch, parts: Shape) => {
  if (unpadded)
    return { positions: unpadded.samples.positions, promptPositions: unpadded.prompts?.positions ?? null }
  const perPart = parts.length > 1 ? split(asPlaces(positions), 0, parts) : [asPlaces(positions)]
  return {
    positions: reshape(perPart[parts.length - 1], SAMPLES),
    promptPositions: parts.length > 1 ? reshape(perPart[0], PROMPT) : null,
  }
}

const halves = (x: Tensor, axis: number): Tensor[] => split(x, axis, ['H', 'H'])

/** Leading axes of queries ([kv heads, queries per kv head, ...]) and of keys, which broadcast over the second. */
const queryAxes = (config: ModelConfig, rest: Shape): Shape => [
  config.kvHeads,
  config.heads / config.kvHeads,
  ...rest,
  config.headDim,
]
const keyAxes = (config: ModelConfig, rest: Shape): Shape => [config.kvHeads, 1, ...rest, config.headDim]

/** Added to scores: of each half of the sample tokens, and of and towards the prompt where there is one. */
interface GroupedMasks {
  /** First half to first half, second half to all: [P, G, H, H] and [P, G, H, 2H]. */
  halves: readonly Tensor[]
  /** `seen`: of the prompt by each half. */
  prefix: { own: Tensor; seen: readonly Tensor[] } | null
}

/** @param positions int32 [P, G, T] of the samples; of the prompts [P, S] */
const groupedMasks = (
  { segments, prefixMask }: GroupedBatch,
  positions: Tensor,
  promptPositions: Tensor | null,
  sliding: SlidingLayers | null,
): GroupedMasks => {
  const all = { positions, segments }
  const [first, second] = [0, 1].map(i => ({
    positions: halves(positions, -1)[i],
    segments: halves(segments, -1)[i],
  }))
  const masks = [causalMask(first, first, sliding), causalMask(second, all, sliding)]
  if (!prefixMask || !promptPositions) return { halves: masks, prefix: null }
  const prompt = { positions: promptPositions, segments: null }
  const own = causalMask(prompt, prompt, sliding)
  const padding = reshape(prefixMask, ['P', 1, 'S'])
  const seenBy = (half: TokenPositions) => {
    if (!sliding) return padding
    const queries = { positions: reshape(half.positions, ['P', product(['G', 'H'])]), segments: null }
    return add(padding, causalMask(queries, prompt, sliding))
  }
  return { halves: masks, prefix: { own, seen: [seenBy(first), seenBy(second)] } }
}

/** Attention of all prompts, where there are any, and of all samples; [heads, places, headDim] of each part. */
const mixGrouped = (config: ModelConfig, parts: readonly HeadTensors[], masks: GroupedMasks): Tensor[] => {
  const samples = parts[parts.length - 1]
  if (!masks.prefix) return [mixSamples(config, samples, masks, null)]
  const [prompt] = parts
  const block: KeyBlock = {
    keys: reshape(prompt.k, keyAxes(config, PROMPT)),
    values: reshape(prompt.v, keyAxes(config, PROMPT)),
    mask: masks.prefix.own,
    queryShape: queryAxes(config, PROMPT),
  }
  const promptOut = attention(reshape(prompt.q, block.queryShape), [block], scoreScale(config))
  const queryShape = queryAxes(config, ['P', product(['G', 'H'])])
  const shared = masks.prefix.seen.map(mask => ({ ...block, mask, queryShape }))
  return [reshape(promptOut, prompt.q.shape), mixSamples(config, samples, masks, shared)]
}

/** What scores of attention are multiplied by. */
export const scoreScale = ({ headDim, queryScalar = headDim }: ModelConfig): number =>
  1 / Math.sqrt(queryScalar)

/** Attention among sample tokens, half by half, and to the prompt that they share. */
const mixSamples = (
  config: ModelConfig,
  { q, k, v }: HeadTensors,
  masks: GroupedMasks,
  shared: readonly KeyBlock[] | null,
): Tensor => {
  const [keys, values] = [k, v].map(x => reshape(x, keyAxes(config, SAMPLES)))
  const queries = halves(reshape(q, queryAxes(config, SAMPLES)), -2)
  const blocks: KeyBlock[] = [
    {
      keys: halves(keys, -2)[0],
      values: halves(values, -2)[0],
      mask: masks.halves[0],
      queryShape: queries[0].shape,
    },
    { keys, values, mask: masks.halves[1], queryShape: queries[1].shape },
  ]
  const outputs = queries.map((query, i) =>
    attention(query, shared ? [shared[i], blocks[i]] : [blocks[i]], scoreScale(config)),
  )
  return reshape(concat(outputs, -2), q.shape)
}
