/** @file Prompts with responses as the protocol has them: tokens that go in, targets moved by one, arrays over both. */

import type { TokenIds } from '../../rl/datum.ts'
import {
  type ForwardBackwardOutput,
  floatTensor,
  TinkerError,
  tokenTensor,
  type WireDatum,
} from '../../tinker/index.ts'
import { ShapeError } from '../../util/errors.ts'

/** A prompt of at least one token, and what is said to it. */
interface TokenSequence {
  promptTokens: TokenIds
  tokens: TokenIds
}

/** Positions of a sequence: all tokens but the last go in, all but the first are targets. */
export const sequencePositions = ({ promptTokens, tokens }: TokenSequence): number =>
  promptTokens.length + tokens.length - 1

/**
 * @param inputs by name: a number for each token of the response; 0 over the prompt
 * @throws ShapeError for an empty prompt
 */
export const wireDatum = (
  item: TokenSequence,
  inputs: Readonly<Record<string, ArrayLike<number>>>,
): WireDatum => {
  const { promptTokens, tokens } = item
  if (promptTokens.length === 0)
    throw new ShapeError('a sequence: expected a prompt of at least one token, got an empty one')
  const all = Int32Array.from([...promptTokens, ...tokens])
  const length = sequencePositions(item)
  const spread = (values: ArrayLike<number>) => {
    const whole = new Float32Array(length)
    whole.set(Float32Array.from(values), promptTokens.length - 1)
    return floatTensor(whole)
  }
  return {
    tokens: all.slice(0, -1),
    inputs: {
      target_tokens: tokenTensor(all.slice(1)),
      ...Object.fromEntries(Object.entries(inputs).map(([name, values]) => [name, spread(values)])),
    },
  }
}

/** A sequence that is only looked at: every token of the response counts alike. */
export const scoredDatum = (item: TokenSequence): WireDatum =>
  wireDatum(item, { weights: new Float32Array(item.tokens.length).fill(1) })

const ofResponses =
  (name: 'logprobs' | 'values', words: string) =>
  ({ outputs }: Pick<ForwardBackwardOutput, 'outputs'>, items: readonly TokenSequence[]): Float32Array[] =>
    items.map((item, i) => {
      const data = outputs[i]?.[name]?.data
      const length = sequencePositions(item)
      if (data?.length === length) return Float32Array.from(data.subarray(length - item.tokens.length))
      throw new TinkerError(
        'malformed',
        `${words} of sequence ${i}: expected ${length}, one a position, got ${data?.length ?? 'none'}`,
      )
    })

/**
 * Log-probs of the responses in a result.
 * @throws TinkerError where the server has left some out
 */
export const responseLogprobs = ofResponses('logprobs', 'log-probs')

/**
 * A critic's estimates before each token of the responses in a result.
 * @throws TinkerError where the server has left some out
 */
export const responseValues = ofResponses('values', 'values')
