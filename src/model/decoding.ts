/** @file Graphs for generation: the prompt once, then one token a run with keys and values kept by the caller. */

import { type Dim, product, type Shape } from '../tensor/dim.ts'
import {
  add,
  attention,
  concat,
  constant,
  gather,
  input,
  matmul,
  mul,
  type RotaryTable,
  reshape,
  rotaryHeads,
  rowSum,
  softmax,
  split,
  type Tensor,
  transpose,
} from '../tensor/index.ts'
import type { ModelConfig } from './config.ts'
import {
  type Attention,
  asPlaces,
  byLayer,
  causalMask,
  type HeadTensors,
  headsSideBySide,
  logitsOf,
  type Mixer,
  mixedBy,
  rotaryTables,
  scoreScale,
  transformer,
  type Weights,
} from './transformer.ts'

/**
 * The prompt pass. Inputs: tokens [P*S], positions [P, S], last [P] (flat index of each prompt's last token).
 * Outputs: logits [P, V] after the last token, and per layer `k<l>` and `v<l>` [kvHeads, P, S, headDim].
 */
export const prefillGraph = (config: ModelConfig, weights: Weights): Record<string, Tensor> => {
  const tokens = input('tokens', [product(['P', 'S'])], 'int64')
  const positions = input('positions', ['P', 'S'], 'int64')
  const outputs: Record<string, Tensor> = {}
  const places = { positions: asPlaces(positions), segments: null }
  const maskOf = byLayer(config, sliding => causalMask(places, places, sliding))
  const axes = (heads: readonly number[]) => [...heads, 'P', 'S', config.headDim]
  const mix: Mixer = ({ q, k, v }, layer) => {
    outputs[`k${layer}`] = reshape(k, axes([config.kvHeads]))
    outputs[`v${layer}`] = reshape(v, axes([config.kvHeads]))
    const grouped = axes([config.kvHeads, config.heads / config.kvHeads])
    const [keys, values] = [k, v].map(x => reshape(x, axes([config.kvHeads, 1])))
    const block = { keys, values, mask: maskOf(layer), queryShape: grouped }
    const mixed = attention(reshape(q, grouped), [block], scoreScale(config))
    return reshape(mixed, [config.heads, tokens.shape[0], config.headDim])
  }
  const attend = mixedBy(config, weights, reshape(positions, tokens.shape), mix)
  const hidden = transformer(config, weights, tokens, attend)
  const last = gather(hidden, input('last', ['P'], 'int64'))
  return { logits: logitsOf(config, weights, last), ...outputs }
}

/** Where the keys and values of prompts are while samples of them are decoded. */
export interface StepLayout {
  /** G samples share a prompt, whose keys and values are apart; else each of the P rows has its prompt before its own tokens. */
  sharedPrompt: boolean
}

/** Inputs of a step that all layers share. */
interface StepInputs {
  /** How many rows there are: P*G. */
  rows: Dim
  /** [rows, heads + 2 kvHeads]: of queries and keys the token's, of values 0. */
  headPositions: Tensor
  tableOf: (layer: number) => RotaryTable
  masksOf: (layer: number) => StepMasks
}

/** Added to the scores of a step. */
interface StepMasks {
  /** 0 for places of the cache that are looked at, MASKED else: [rows, 1, C]. */
  own: Tensor
  /** The same for places of the prompt: [P, 1, S], or [P, G, S] where rows see different parts of it. */
  prompt: Tensor | null
}

/**
 * One token for each of P*G rows: P prompts, G samples of each (one, unless they share the prompt's keys and values).
 * Inputs: tokens, positions [P, G]; ownMask [P, G, C] (0 for filled places of the cache, MASKED else); per layer ownK<l> and ownV<l>
 * [kvHeads, 1, P*G, C, headDim]; with a shared prompt promptMask [P, 1, S], and promptK<l> and promptV<l> [kvHeads, 1, P, S, headDim];
 * where layers slide their masks nearOwnMask [P, G, C] and nearPromptMask [P, G, S].
 * Outputs: logits [P*G, V] and `fresh` [2*layers*kvHeads, 1, P*G, 1, headDim], the new keys then the new values of each layer.
 */
export const stepGraph = (
  config: ModelConfig,
  weights: Weights,
  { sharedPrompt }: StepLayout,
): Record<string, Tensor> => {
  const grid = ['P', sharedPrompt ? 'G' : 1]
  const rows = product(grid)
  const positions = reshape(input('positions', grid, 'int64'), [rows, 1])
  const shared: StepInputs = {
    rows,
    headPositions: mul(positions, turnedHeads(config)),
    tableOf: rotaryTables({ ...config, maxPositions: Math.max(config.maxPositions, headCount(config)) }),
    masksOf: byLayer(config, sliding => ({
      own: reshape(input(sliding ? 'nearOwnMask' : 'ownMask', [...grid, 'C']), [rows, 1, 'C']),
      prompt: sharedPrompt
        ? sliding
          ? input('nearPromptMask', ['P', 'G', 'S'])
          : input('promptMask', ['P', 1, 'S'])
        : null,
    })),
  }
  const fresh: Tensor[] = []
  const attend: Attention = (x, layer) => {
    const heads = oneTokenHeads(config, headsSideBySide(config, weights, layer, x), layer, shared)
    fresh.push(heads.k, heads.v)
    return attendOneToken(config, heads, layer, shared)
  }
  const tokens = reshape(input('tokens', grid, 'int64'), [rows])
  const hidden = transformer(config, weights, tokens, attend)
  return {
    logits: logitsOf(config, weights, hidden),
    fresh: concat(fresh, 0),
  }
}

/** Of queries, keys and values. */
const headCount = ({ heads, kvHeads }: ModelConfig): number => heads + 2 * kvHeads

/** 1 for heads of queries and keys, 0 for those of values: int64 [1, heads + 2 kvHeads]. */
const turnedHeads = (config: ModelConfig): Tensor => {
  const turning = config.heads + config.kvHeads
  const turned = Array.from({ length: headCount(config) }, (_, head) => (head < turning ? 1n : 0n))
  return constant(BigInt64Array.from(turned), [1, turned.length], 'int64')
}

/** The heads of one token a row, turned and heads first: q [heads, 1, rows, 1, headDim], k and v [kvHeads, 1, rows, 1, headDim]. */
const oneTokenHeads = (
  config: ModelConfig,
  sideBySide: Tensor,
  layer: number,
  { rows, headPositions, tableOf }: StepInputs,
): HeadTensors => {
  // One turning and one transposition for all of them: with a single row what takes time is the number of operations.
  const turned = transpose(rotaryHeads(sideBySide, headPositions, tableOf(layer)), [1, 0, 2])
  const all = reshape(turned, [headCount(config), 1, rows, 1, config.headDim])
  const [q, k, v] = split(all, 0, [config.heads, config.kvHeads, config.kvHeads])
  return { q, k, v }
}

/**
 * Attention of one query a row over the shared prompt, where there is one, the row's own cache, and the new token itself, under one
 * softmax: [rows, heads * headDim]. The new key and value are not joined to the cache first: that would copy the whole cache for
 * every token.
 */
const attendOneToken = (
  config: ModelConfig,
  { q, k, v }: HeadTensors,
  layer: number,
  { rows, masksOf }: StepInputs,
): Tensor => {
  const { heads, kvHeads, headDim } = config
  const masks = masksOf(layer)
  const repeat = heads / kvHeads
  const cache = (name: string, axes: Shape) => input(`${name}${layer}`, [kvHeads, 1, ...axes, headDim])
  const [ownK, ownV] = ['ownK', 'ownV'].map(name => cache(name, [rows, 'C']))
  // Not as a factor of the products: with one, the runtime leaves its kernel for one row and packs all keys first.
  const queries = mul(reshape(q, [kvHeads, repeat, rows, 1, headDim]), scoreScale(config))
  const toOwn = add(matmul(queries, ownK, { transposeB: true }), masks.own)
  const toSelf = rowSum(mul(queries, k))
  if (masks.prompt === null) {
    const [pOwn, pSelf] = split(softmax(concat([toOwn, toSelf], -1)), -1, ['C', 1])
    return rowsFirst(config, add(matmul(pOwn, ownV), mul(pSelf, v)), rows)
  }
  const [promptK, promptV] = ['promptK', 'promptV'].map(name => cache(name, ['P', 'S']))
  const perPrompt = (x: Tensor) => reshape(x, [kvHeads, repeat, 'P', 'G', x.dim(-1)])
  const perRow = (x: Tensor) => reshape(x, [kvHeads, repeat, rows, 1, x.dim(-1)])
  const toPrompt = perRow(add(matmul(perPrompt(queries), promptK, { transposeB: true }), masks.prompt))
  const p = softmax(concat([toPrompt, toOwn, toSelf], -1))
  const [pPrompt, pOwn, pSelf] = split(p, -1, ['S', 'C', 1])
  const fromPrompt = perRow(matmul(perPrompt(pPrompt), promptV))
  return rowsFirst(config, add(add(fromPrompt, matmul(pOwn, ownV)), mul(pSelf, v)), rows)
}

/** [kvHeads, repeat, rows, 1, headDim] to [rows, heads * headDim]. */
const rowsFirst = ({ heads, headDim }: ModelConfig, x: Tensor, rows: Dim): Tensor =>
  reshape(transpose(x, [2, 0, 1, 3, 4]), [rows, heads * headDim])
