/** @file Operations of transformers: softmax, RMS normalisation, rotary positions, attention, log-probs over a vocabulary. */

import { ShapeError } from '../../util/errors.ts'
import { quotient, type Shape, sameShape, showShape } from '../dim.ts'
import { apply1, constant, type Op, type Tensor, withGradient } from '../tensor.ts'
import {
  add,
  div,
  exp,
  log,
  maximum,
  mul,
  neg,
  reciprocal,
  sqrt,
  sub,
  sumTo,
  zerosLike,
} from './elementwise.ts'
import { gather, pick, placeLast, scatterAddRows } from './index-ops.ts'
import { matmul } from './matmul.ts'
import { after } from './order.ts'
import { reduceMax, reduceSum } from './reduce.ts'
import { concat, reshape, slice, split } from './shape.ts'

type None = Record<never, never>

const sameType = ([x]: readonly Tensor[]) => [{ dtype: x.dtype, shape: x.shape }]

/** Sum over the last axis, kept as size 1, as a product with a column of ones: faster than a reduction. */
export const rowSum = (x: Tensor, factor = 1): Tensor => {
  const width = x.dim(-1)
  if (typeof width !== 'number') return mul(reduceSum(x, [-1], { keepDims: true }), factor)
  return matmul(x, constant(new Float32Array(width).fill(factor), [width, 1]))
}

const softmaxOp: Op<None> = {
  name: 'softmax',
  infer: sameType,
  emit: inputs => ({ type: 'Softmax', attributes: { axis: -1 }, inputs: [...inputs] }),
  gradient: ({ outputs: [p] }, [dp]) => {
    const weighted = mul(p, dp!)
    return [sub(weighted, mul(p, reduceSum(weighted, [-1], { keepDims: true })))]
  },
}
/** Softmax over the last axis. */
export const softmax = (x: Tensor): Tensor => apply1(softmaxOp, [x], {})

const logSoftmaxOp: Op<None> = {
  name: 'logSoftmax',
  infer: sameType,
  emit: inputs => ({ type: 'LogSoftmax', attributes: { axis: -1 }, inputs: [...inputs] }),
  compose: ([x]) => {
    const above = sub(x, reduceMax(x, [-1], { keepDims: true }))
    return [sub(above, log(reduceSum(exp(above), [-1], { keepDims: true })))]
  },
  gradient: ({ outputs: [y] }, [dy]) => [sub(dy!, mul(exp(y), reduceSum(dy!, [-1], { keepDims: true })))],
}
/** Log-softmax over the last axis. */
export const logSoftmax = (x: Tensor): Tensor => apply1(logSoftmaxOp, [x], {})

const rmsNormOp: Op<{ epsilon: number }> = {
  name: 'rmsNorm',
  infer: ([x, weight]) => {
    if (!sameShape(weight.shape, [x.dim(-1)]))
      throw new ShapeError(`rmsNorm: weight ${showShape(weight.shape)} for ${showShape(x.shape)}`)
    return [{ dtype: x.dtype, shape: x.shape }]
  },
  // Only the first output is used: the second (the inverse rms) is wrong on WebGPU.
  emit: (inputs, { epsilon }) => ({
    type: 'SimplifiedLayerNormalization',
    attributes: { axis: -1, epsilon: { float: epsilon }, stash_type: 1 },
    inputs: [...inputs],
  }),
  gradient: ({ inputs: [x, weight], attributes: { epsilon } }, [dy]) => {
    const width = x.dim(-1) as number
    const inverse = reciprocal(sqrt(add(rowSum(mul(x, x), 1 / width), epsilon))) // [..., 1]
    const normed = mul(x, inverse)
    const dNormed = mul(dy!, weight)
    const projection = rowSum(mul(dNormed, normed), 1 / width) // [..., 1]
    return [mul(inverse, sub(dNormed, mul(normed, projection))), sumTo(mul(dy!, normed), weight.shape)]
  },
}
/** x / rms(x) * weight over the last axis (Zhang and Sennrich 2019, as in Llama). */
export const rmsNorm = (x: Tensor, weight: Tensor, epsilon: number): Tensor =>
  apply1(rmsNormOp, [x, weight], { epsilon })

// The kernel wants [batch, tokens, heads * headDim]; every token is a batch entry of its own here, because it refuses
// more tokens in a sequence than the table has positions.
const rotaryOp: Op<None> = {
  name: 'rotary',
  infer: ([x, positions, cos]) => {
    const headDim = (cos.dim(-1) as number) * 2
    if (x.rank !== 3 || x.shape[0] !== positions.shape[0] || quotient(x.dim(-1), headDim) === null)
      throw new ShapeError(
        `rotary: x ${showShape(x.shape)} with positions ${showShape(positions.shape)} and heads of ${headDim}`,
      )
    return [{ dtype: x.dtype, shape: x.shape }]
  },
  emit: inputs => ({
    type: 'RotaryEmbedding',
    domain: 'com.microsoft',
    attributes: { interleaved: 0 },
    inputs: [...inputs],
  }),
  gradient: ({ inputs: [, positions, cos, sin] }, [dy]) => [
    apply1(rotaryOp, [dy!, positions, cos, neg(sin)], {}),
    null,
    null,
    null,
  ],
}

/** Cosines and sines of the rotation angles, each [positions, headDim / 2]. */
export interface RotaryTable {
  cos: Tensor
  sin: Tensor
}

/**
 * Rotary position embedding of x [tokens, heads * headDim] in the half-split layout of Llama and Qwen;
 * positions [tokens] int64. The gradient rotates back.
 */
export const rotary = (x: Tensor, positions: Tensor, table: RotaryTable): Tensor => {
  const [tokens, width] = x.shape
  const perToken = [reshape(x, [tokens, 1, width]), reshape(positions, [tokens, 1])]
  return reshape(apply1(rotaryOp, [...perToken, table.cos, table.sin], {}), x.shape)
}

/**
 * Rotary position embedding of x [tokens, heads, headDim] where every head has a position of its own: positions [tokens, heads]
 * int64. Position 0 turns nothing, so that heads that are not to be turned can be among them.
 */
export const rotaryHeads = (x: Tensor, positions: Tensor, table: RotaryTable): Tensor =>
  apply1(rotaryOp, [x, positions, table.cos, table.sin], {})

/**
 * Softmax attention of queries over one or more blocks of keys (a prompt shared by a group, then the sample's own tokens):
 * queries and keys [..., T, D] and [..., S, D], whose leading axes broadcast; `mask` is added to the scores. One softmax
 * runs over all blocks together. `fold` and `unfold` reshape queries for a block whose leading axes differ.
 */
export interface KeyBlock {
  keys: Tensor
  values: Tensor
  /** Added to the scores: 0 where a query may look, a large negative number elsewhere. */
  mask: Tensor
  /** Shape of the queries for this block (same elements, other grouping). */
  queryShape: Shape
}

/**
 * Attention output in the shape of q. Gradient by hand: ds = p * (dp - rowsum(do * o)), which needs one row sum of width D
 * instead of one over all keys (Dao et al. 2022, equation 4).
 */
export const attention = (q: Tensor, blocks: readonly KeyBlock[], scale: number): Tensor => {
  const inputs = [q, ...blocks.flatMap(block => [block.keys, block.values])]
  const scores = blocks.map(({ keys, mask, queryShape }) => {
    const raw = matmul(reshape(q, queryShape), keys, { transposeB: true, alpha: scale })
    return reshape(add(raw, mask), [...q.shape.slice(0, -1), keys.dim(-2)])
  })
  const joint = softmax(concat(scores, -1))
  const parts = splitLike(joint, scores)
  const weights = blocks.map(({ keys, queryShape }, i) =>
    reshape(parts[i], [...queryShape.slice(0, -1), keys.dim(-2)]),
  )
  const output = blocks
    .map(({ values }, i) => reshape(matmul(weights[i], values), q.shape))
    .reduce((a, b) => add(a, b))
  return withGradient([output], inputs, ([dO]) => {
    const inner = rowSum(mul(dO!, output)) // [..., T, 1]
    const perBlock = blocks.map((block, i) => blockGradient(q, block, weights[i], dO!, inner, scale))
    const dq = perBlock.map(gradient => gradient.dq).reduce((a, b) => add(a, b))
    return [dq, ...perBlock.flatMap(({ dKeys, dValues }) => [dKeys, dValues])]
  })[0]
}

const splitLike = (joint: Tensor, parts: readonly Tensor[]): Tensor[] =>
  parts.length === 1
    ? [joint]
    : split(
        joint,
        -1,
        parts.map(part => part.dim(-1)),
      )

const blockGradient = (q: Tensor, block: KeyBlock, p: Tensor, dO: Tensor, inner: Tensor, scale: number) => {
  const { keys, values, queryShape } = block
  const dOut = reshape(dO, queryShape)
  const dWeights = matmul(dOut, values, { transposeB: true })
  const dScores = mul(p, sub(dWeights, reshape(inner, [...queryShape.slice(0, -1), 1])))
  const queries = reshape(q, queryShape)
  return {
    dq: reshape(matmul(dScores, keys, { alpha: scale }), q.shape),
    dKeys: sumTo(matmul(dScores, queries, { transposeA: true, alpha: scale }), keys.shape),
    dValues: sumTo(matmul(p, dOut, { transposeA: true }), values.shape),
  }
}

/** Log-probabilities of chosen tokens and the entropy of the whole distribution, each [N]. */
export interface TokenLogProbs {
  logprobs: Tensor
  entropy: Tensor
}

/** Rows of a larger vocabulary that are scored at a time: bounds memory to tokens x this. Fewer take a graph longer to make. */
export const VOCABULARY_CHUNK = 4096
/** A vocabulary of up to so many rows is scored whole. */
const WHOLE_VOCABULARY = 8192

export interface LogProbsOptions {
  /** Rows of the table that are scored at a time. Default: all of a small vocabulary, 4,096 of a larger one. */
  chunk?: number
  /** No gradient of the table is asked for. That of the hidden states then takes no second pass over it. Default false. */
  fixedTable?: boolean
  /** The gradient of the entropy is asked for as well, which takes a second pass whatever the table. Default false. */
  learnsEntropy?: boolean
}

/**
 * log softmax(h W^T)[target] and the entropy of the softmax, for hidden states [N, d], an output table [V, d] and
 * targets [N] int64. A vocabulary above `chunk` is streamed: logits of one chunk exist at a time, forward and backward.
 */
export const tokenLogProbs = (
  hidden: Tensor,
  table: Tensor,
  targets: Tensor,
  { chunk, fixedTable = false, learnsEntropy = false }: LogProbsOptions = {},
): TokenLogProbs => {
  const vocabulary = table.shape[0] as number
  const size = chunk ?? (vocabulary <= WHOLE_VOCABULARY ? vocabulary : VOCABULARY_CHUNK)
  return vocabulary <= size
    ? wholeLogProbs(hidden, table, targets)
    : streamedLogProbs(hidden, table, targets, { chunk: size, fixedTable, learnsEntropy })
}

const column = (x: Tensor): Tensor => reshape(x, [...x.shape, 1])
const flat = (x: Tensor): Tensor => reshape(x, x.shape.slice(0, -1))

const wholeLogProbs = (hidden: Tensor, table: Tensor, targets: Tensor): TokenLogProbs => {
  const ids = column(targets)
  const all = logSoftmax(matmul(hidden, table, { transposeB: true })) // [N, V]
  const p = exp(all)
  const chosen = pick(all, ids) // [N, 1]
  const entropy = neg(rowSum(mul(p, all))) // [N, 1]
  const [logprobs, h] = withGradient([chosen, entropy], [hidden, table], ([dLogprobs, dEntropy]) => {
    const spread = logitSpread(all, entropy, dLogprobs, dEntropy)
    const dense = mul(p, spread)
    const dLogits = dLogprobs ? placeLast(dense, ids, dLogprobs) : dense
    return [matmul(dLogits, table), matmul(dLogits, hidden, { transposeA: true })]
  })
  return { logprobs: flat(logprobs), entropy: flat(h) }
}

/** What multiplies p in the gradient of the logits: -dLogprob - dEntropy * (log p + H). */
const logitSpread = (
  logp: Tensor,
  entropy: Tensor,
  dLogprobs: Tensor | null,
  dEntropy: Tensor | null,
): Tensor => {
  const fromEntropy = dEntropy && neg(mul(dEntropy, add(logp, entropy)))
  if (!dLogprobs) return fromEntropy ?? zerosLike(logp)
  return fromEntropy ? sub(fromEntropy, dLogprobs) : neg(dLogprobs)
}

/** Places at which parts of so many rows begin. */
const partsOf = (rows: number, part: number): number[] =>
  Array.from({ length: Math.ceil(rows / part) }, (_, i) => i * part)

/** A chunk waits for the one before: the runtime would otherwise compute the logits of all of them first, and keep them. */
const streamedLogProbs = (
  hidden: Tensor,
  table: Tensor,
  targets: Tensor,
  { chunk, fixedTable, learnsEntropy }: Required<LogProbsOptions>,
): TokenLogProbs => {
  const vocabulary = table.shape[0] as number
  const rows = (start: number, size: number) => slice(table, 0, start, Math.min(start + size, vocabulary))
  const logits = (part: Tensor, before: readonly Tensor[]) =>
    matmul(after(hidden, before), part, { transposeB: true })
  const inOnePass = fixedTable && !learnsEntropy
  const total = partsOf(vocabulary, chunk).reduce((state: Running | null, start) => {
    const part = rows(start, chunk)
    return extend(state, logits(part, state ? Object.values(state) : []), inOnePass ? part : null)
  }, null)!
  const logMass = log(total.mass) // [N, 1]
  // The peak goes first: logits of several hundred would otherwise cost the small differences their digits.
  const normalised = (logit: Tensor) => sub(sub(logit, total.peak), logMass)
  const targetRows = gather(table, targets) // [N, d]
  const chosen = normalised(rowSum(mul(hidden, targetRows)))
  const entropy = sub(logMass, div(total.weighted, total.mass))
  /** Logits are computed again, in chunks of half the size: it holds about twice as much of each, and shares no slice with the above. */
  const again = ([dLogprobs, dEntropy]: readonly (Tensor | null)[]): Tensor[] => {
    const half = Math.ceil(chunk / 2)
    const dTables: Tensor[] = []
    const dHidden = partsOf(vocabulary, half).reduce((sum: Tensor | null, start) => {
      const part = rows(start, half)
      const logp = normalised(logits(part, sum ? [sum, ...(fixedTable ? [] : dTables.slice(-1))] : []))
      const d = mul(exp(logp), logitSpread(logp, entropy, dLogprobs, dEntropy))
      dTables.push(matmul(d, hidden, { transposeA: true }))
      const own = matmul(d, part)
      return sum ? add(sum, own) : own
    }, null)!
    const dTable = concat(dTables, 0)
    if (!dLogprobs) return [dHidden, dTable]
    return [add(dHidden, mul(dLogprobs, targetRows)), scatterAddRows(dTable, targets, mul(dLogprobs, hidden))]
  }
  const [logprobs, h] = withGradient([chosen, entropy], [hidden, table], ([dLogprobs, dEntropy]) =>
    total.rows && dLogprobs && !dEntropy
      ? [mul(dLogprobs, sub(targetRows, div(total.rows, total.mass))), null]
      : again([dLogprobs, dEntropy]),
  )
  return { logprobs: flat(logprobs), entropy: flat(h) }
}

/**
 * Largest logit so far, sums of exp(logit - peak) and of that times (logit - peak), all [N, 1]; where one pass is all also the sum of the
 * table's rows, each exp(logit - peak) times [N, d], whose mean is the gradient of log sum exp (as FlashAttention has values: arXiv
 * 2205.14135, algorithm 1).
 */
interface Running {
  peak: Tensor
  mass: Tensor
  weighted: Tensor
  rows?: Tensor
}

/** @param part rows of the table that these logits [N, part] are of, where their sum is wanted */
const extend = (state: Running | null, logits: Tensor, part: Tensor | null): Running => {
  const own = reduceMax(logits, [-1], { keepDims: true })
  const peak = state ? maximum(state.peak, own) : own
  const above = sub(logits, peak)
  const p = exp(above)
  const mass = reduceSum(p, [-1], { keepDims: true })
  const weighted = reduceSum(mul(p, above), [-1], { keepDims: true })
  const rows = part && matmul(p, part)
  if (!state) return { peak, mass, weighted, ...(rows && { rows }) }
  const shift = sub(state.peak, peak)
  const rescale = exp(shift)
  return {
    peak,
    mass: add(mul(state.mass, rescale), mass),
    weighted: add(mul(add(state.weighted, mul(state.mass, shift)), rescale), weighted),
    ...(rows && { rows: add(mul(state.rows!, rescale), rows) }),
  }
}
