/** @file One token from one row of logits: temperature, top-k, top-p, and the log-prob before truncation. */

import { NumericError } from '../../util/errors.ts'
import type { TokenAlternative } from '../policy.ts'
import { FlatBuffer, type FlatSpan } from './flat.ts'

export interface ChoiceOptions {
  temperature: number
  topK: number
  topP: number
  /** Likeliest tokens to report beside the one that is drawn. Default 0. */
  alternatives?: number
}

export interface TokenChoice extends TokenAlternative {
  /** Likeliest first; present where they were asked for. */
  top?: TokenAlternative[]
}

/** Draws tokens; holds scratch memory for one row. */
export class TokenChooser {
  readonly #buffer: FlatBuffer
  readonly #logits: FlatSpan
  readonly #weights: FlatSpan

  constructor(vocabulary: number) {
    this.#buffer = FlatBuffer.create(2 * (vocabulary + 16))
    this.#logits = this.#buffer.alloc(vocabulary)
    this.#weights = this.#buffer.alloc(vocabulary)
  }

  /**
   * Draws from the row by inversion of `u` in [0, 1). The log-prob is that of the temperature-scaled distribution over the
   * whole vocabulary; temperature 0 takes the likeliest token and reports its log-prob at temperature 1.
   * @param allowed the tokens among which it is drawn, in their proportions; null: all
   * @throws NumericError for NaN or infinite logits.
   */
  choose(
    logits: Float32Array,
    options: ChoiceOptions,
    u: number,
    allowed: readonly number[] | null = null,
  ): TokenChoice {
    this.#logits.view.set(logits)
    const temperature = options.temperature || 1
    const logSumExp = this.#buffer.softmaxRow(this.#logits, temperature, this.#weights)
    const token = allowed
      ? drawAmong(allowed, logits, options, u)
      : options.temperature === 0
        ? this.#buffer.argmax(this.#logits)
        : this.#draw(options, u)
    const logprob = logits[token] / temperature - logSumExp
    if (!Number.isFinite(logprob)) throw new NumericError(`sampled token ${token} has log-prob ${logprob}`)
    if (!options.alternatives) return { token, logprob }
    const top = likeliest(logits, options.alternatives).map(id => ({
      token: id,
      logprob: logits[id] / temperature - logSumExp,
    }))
    return { token, logprob, top }
  }

  #draw({ topK, topP }: ChoiceOptions, u: number): number {
    const weights = this.#weights.view
    if ((topK > 0 && topK < weights.length) || topP < 1) truncate(weights, topK, topP)
    return this.#buffer.sampleRow(this.#weights, u)
  }
}

/** A token of a few, by their own softmax: what the others weigh does not matter, however much that is. */
const drawAmong = (
  allowed: readonly number[],
  logits: Float32Array,
  { temperature, topK, topP }: ChoiceOptions,
  u: number,
): number => {
  const best = allowed.reduce((a, b) => (logits[b] > logits[a] ? b : a))
  if (temperature === 0 || allowed.length === 1) return best
  const weights = Float32Array.from(allowed, token => Math.exp((logits[token] - logits[best]) / temperature))
  if ((topK > 0 && topK < weights.length) || topP < 1) truncate(weights, topK, topP)
  const mass = weights.reduce((sum, weight) => sum + weight, 0)
  let left = u * mass
  for (const [i, weight] of weights.entries()) {
    left -= weight
    if (left < 0) return allowed[i]
  }
  return best
}

/** Indices of the k largest entries, largest first, the lower index where they are equal. */
const likeliest = (logits: Float32Array, k: number): number[] => {
  const best: number[] = []
  for (let i = 0; i < logits.length; i++) {
    if (best.length === k && !(logits[i] > logits[best[k - 1]])) continue
    let at = best.length === k ? k - 1 : best.length
    for (; at > 0 && logits[best[at - 1]] < logits[i]; at--) best[at] = best[at - 1]
    best[at] = i
  }
  return best
}

/** All indices as `likeliest` orders them: sorted as numbers, since the bits of a weight grow with it. */
const inOrder = (weights: Float32Array): number[] => {
  const { length } = weights
  const bits = new Uint32Array(weights.buffer, weights.byteOffset, length)
  const keys = new Float64Array(length)
  for (let i = 0; i < length; i++) keys[i] = bits[i] * length + (length - 1 - i)
  return Array.from(keys.sort().reverse(), key => length - 1 - (key % length))
}

/** Of so few, one pass finds them faster than sorting does. */
const FEW = 256

/** Sets the weights outside the top k, and outside the smallest set that reaches mass p, to zero. */
const truncate = (weights: Float32Array, topK: number, topP: number): void => {
  const order = topK > 0 && topK <= FEW ? likeliest(weights, topK) : inOrder(weights)
  const kept = topK > 0 ? order.slice(0, topK) : order
  const mass = kept.reduce((sum, i) => sum + weights[i], 0)
  let reached = 0
  let count = 0
  while (count < kept.length && (count === 0 || reached < topP * mass)) reached += weights[kept[count++]]
  const own = kept.slice(0, count).map(i => weights[i])
  weights.fill(0)
  for (const [rank, weight] of own.entries()) weights[kept[rank]] = weight
}
