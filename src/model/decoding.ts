/** @file Graphs for generation: the prompt once, then one token a run with keys and values kept by the caller. */

import { product, type Shape } from '../tensor/dim.ts'
import {
  add,
  attention,
  concat,
  gather,
  input,
  matmul,
  mul,
  reshape,
  rowSum,
  softmax,
  split,
  type Tensor,
} from '../tensor/index.ts'
import type { ModelConfig } from './config.ts'
import {
  asPlaces,
  causalMask,
  type HeadTensors,
  type Mixer,
  outputTable,
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
  const mask = causalMask({ positions: asPlaces(positions), segments: null })
  const axes = (heads: readonly number[]) => [...heads, 'P', 'S', config.headDim]
  const mix: Mixer = ({ q, k, v }, layer) => {
    outputs[`k${layer}`] = reshape(k, axes([config.kvHeads]))
    outputs[`v${layer}`] = reshape(v, axes([config.kvHeads]))
    const grouped = axes([config.kvHeads, config.heads / config.kvHeads])
    const [keys, values] = [k, v].map(x => reshape(x, axes([config.kvHeads, 1])))
    const block = { keys, values, mask, queryShape: grouped }
    const mixed = attention(reshape(q, grouped), [block], 1 / Math.sqrt(config.headDim))
    return reshape(mixed, [config.heads, tokens.shape[0], config.headDim])
  }
  const hidden = transformer(config, weights, tokens, reshape(positions, tokens.shape), mix)
  const last = gather(hidden, input('last', ['P'], 'int64'))
  return { logits: matmul(last, outputTable(config, weights), { transposeB: true }), ...outputs }
}

/**
 * One token for each of P*G rows: P prompts, G samples of each, sharing the prompt's keys and values.
 * Inputs: tokens, positions [P, G]; promptMask [P, 1, S]; ownMask [P, G, C] (0 for filled places of the cache, MASKED else);
 * per layer promptK<l> and promptV<l> [kvHeads, P, S, headDim], ownK<l> and ownV<l> [kvHeads, P, G, C, headDim].
 * Outputs: logits [P*G, V] and `fresh` [2*layers, kvHeads, P*G, headDim], the new keys then the new values of each layer.
 */
export const stepGraph = (config: ModelConfig, weights: Weights): Record<string, Tensor> => {
  const rows = product(['P', 'G'])
  const perRow = (name: string) => reshape(input(name, ['P', 'G'], 'int64'), [rows])
  const masks = {
    prompt: input('promptMask', ['P', 1, 'S']),
    own: reshape(input('ownMask', ['P', 'G', 'C']), [rows, 'C']),
  }
  const fresh: Tensor[] = []
  const mix: Mixer = (heads, layer) => {
    fresh.push(reshape(heads.k, [1, ...heads.k.shape]), reshape(heads.v, [1, ...heads.v.shape]))
    return attendOneToken(config, heads, layer, masks)
  }
  const hidden = transformer(config, weights, perRow('tokens'), perRow('positions'), mix)
  return {
    logits: matmul(hidden, outputTable(config, weights), { transposeB: true }),
    fresh: concat(fresh, 0),
  }
}

/**
 * Attention of one query a row over the shared prompt, the row's own cache, and the new token itself, under one softmax.
 * The new key and value are not joined to the cache first: that would copy the whole cache for every token.
 */
const attendOneToken = (
  config: ModelConfig,
  { q, k, v }: HeadTensors,
  layer: number,
  masks: { prompt: Tensor; own: Tensor },
): Tensor => {
  const { kvHeads, headDim } = config
  const repeat = config.heads / kvHeads
  const rows = product(['P', 'G'])
  const prompt = (name: string, axes: Shape) =>
    reshape(input(`${name}${layer}`, [kvHeads, 'P', ...axes]), [kvHeads, 1, 'P', ...axes])
  const cache = (name: string, axes: Shape) =>
    reshape(input(`${name}${layer}`, [kvHeads, 'P', 'G', ...axes]), [kvHeads, 1, rows, ...axes])
  const heads = [kvHeads, repeat, rows, headDim]
  const newToken = (x: Tensor) => reshape(x, [kvHeads, 1, rows, headDim])
  const flat = (x: Tensor, width: string) => reshape(x, [kvHeads, repeat, rows, width])

  const scaled = mul(q, 1 / Math.sqrt(headDim))
  const perPrompt = reshape(scaled, [kvHeads, repeat, 'P', 'G', headDim])
  const perRow = reshape(scaled, [kvHeads, repeat, rows, 1, headDim])
  const toPrompt = flat(
    add(matmul(perPrompt, prompt('promptK', ['S', headDim]), { transposeB: true }), masks.prompt),
    'S',
  )
  const toOwn = add(flat(matmul(perRow, cache('ownK', ['C', headDim]), { transposeB: true }), 'C'), masks.own)
  const toSelf = rowSum(mul(reshape(scaled, heads), newToken(k)))
  const p = softmax(concat([toPrompt, toOwn, toSelf], -1))
  const [pPrompt, pOwn, pSelf] = split(p, -1, ['S', 'C', 1])
  const fromPrompt = matmul(
    reshape(pPrompt, [kvHeads, repeat, 'P', 'G', 'S']),
    prompt('promptV', ['S', headDim]),
  )
  const fromOwn = matmul(reshape(pOwn, [kvHeads, repeat, rows, 1, 'C']), cache('ownV', ['C', headDim]))
  const mixed = add(add(reshape(fromPrompt, heads), reshape(fromOwn, heads)), mul(pSelf, newToken(v)))
  return reshape(mixed, [config.heads, rows, headDim])
}
