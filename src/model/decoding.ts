/** @file Graphs for generation: the prompt once, then one token a run with keys and values kept by the caller. */

import { product } from '../tensor/dim.ts'
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
  causalMask,
  type HeadTensors,
  type Mixer,
  outputTable,
  transformer,
  type Weights,
} from './transformer.ts'

/**
 * The prompt pass. Inputs: tokens [P*S], positions [P, S], last [P] (flat index of each prompt's last token).
 * Outputs: logits [P, V] after the last token, and per layer `k<l>`, `v<l>` [kvHeads, P, S, headDim].
 */
export const prefillGraph = (config: ModelConfig, weights: Weights): Record<string, Tensor> => {
  const tokens = input('tokens', [product(['P', 'S'])], 'int64')
  const positions = input('positions', ['P', 'S'], 'int64')
  const outputs: Record<string, Tensor> = {}
  const mask = causalMask({ positions, segments: null })
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
 * per layer promptK<l>, promptV<l> [kvHeads, P, S, headDim] and ownK<l>, ownV<l> [kvHeads, P, G, C, headDim].
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
  const scale = 1 / Math.sqrt(headDim)
  const prompt = (name: string) =>
    reshape(input(`${name}${layer}`, [kvHeads, 'P', 'S', headDim]), [kvHeads, 1, 'P', 'S', headDim])
  const cache = (name: string) =>
    reshape(input(`${name}${layer}`, [kvHeads, 'P', 'G', 'C', headDim]), [kvHeads, 1, rows, 'C', headDim])
  const heads = [kvHeads, repeat, rows, headDim]
  const newToken = (x: Tensor) => reshape(x, [kvHeads, 1, rows, headDim])
  const scores = (queries: Tensor, keys: Tensor) => matmul(queries, keys, { transposeB: true, alpha: scale })
  const flat = (x: Tensor, width: string) => reshape(x, [kvHeads, repeat, rows, width])

  const perPrompt = reshape(q, [kvHeads, repeat, 'P', 'G', headDim])
  const perRow = reshape(q, [kvHeads, repeat, rows, 1, headDim])
  const toPrompt = flat(add(scores(perPrompt, prompt('promptK')), masks.prompt), 'S')
  const toOwn = add(flat(scores(perRow, cache('ownK')), 'C'), masks.own)
  const toSelf = rowSum(mul(reshape(q, heads), newToken(k)), scale)
  const p = softmax(concat([toPrompt, toOwn, toSelf], -1))
  const [pPrompt, pOwn, pSelf] = split(p, -1, ['S', 'C', 1])
  const fromPrompt = matmul(reshape(pPrompt, [kvHeads, repeat, 'P', 'G', 'S']), prompt('promptV'))
  const fromOwn = matmul(reshape(pOwn, [kvHeads, repeat, rows, 1, 'C']), cache('ownV'))
  const mixed = add(add(reshape(fromPrompt, heads), reshape(fromOwn, heads)), mul(pSelf, newToken(v)))
  return reshape(mixed, [config.heads, rows, headDim])
}
