/** @file Texts as vectors by the model itself: the mean of its last hidden states, after the final norm. */

import type { ModelConfig } from '../../model/config.ts'
import { groupedHidden, groupedInputs, SAMPLES, type Weights } from '../../model/transformer.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { product } from '../../tensor/dim.ts'
import {
  Executable,
  type ExecutableOptions,
  input,
  mul,
  reduceSum,
  reshape,
  type Tensor,
  type Values,
} from '../../tensor/index.ts'
import { DataError, NumericError } from '../../util/errors.ts'
import type { Parameters } from './parameters.ts'

export interface HiddenStatesOptions {
  running: ExecutableOptions
  /** Padded tokens that go through the network at a time. */
  microBatchTokens: number
}

/** Sequences that go through the network together, by their numbers; T is their padded length. */
interface Batch {
  members: number[]
  T: number
}

/** [P, hidden]: the mean over each sequence's tokens; the weights of the mean are 0 on padding. */
const meanGraph = (config: ModelConfig, weights: Weights): Tensor => {
  const hidden = groupedHidden(config, weights, groupedInputs({ withPrefix: false, unpadded: false }))
  const shares = reshape(input('shares', SAMPLES), [product(['P', 'G']), SAMPLES[2], 1])
  const perSequence = reshape(hidden, [product(['P', 'G']), SAMPLES[2], config.hiddenSize])
  return reduceSum(mul(perSequence, shares), [1])
}

/** Graphs work on halves of a sequence's length. */
const evenLength = (length: number): number => 2 * Math.ceil(length / 2)

/** Longest first, so that a batch is filled with sequences of about one length. */
const batchesOf = (sequences: readonly TokenIds[], budget: number): Batch[] => {
  const order = sequences.map((_, i) => i).sort((a, b) => sequences[b].length - sequences[a].length || a - b)
  const batches: Batch[] = []
  for (const member of order) {
    const last = batches.at(-1)
    if (last && (last.members.length + 1) * last.T <= budget) last.members.push(member)
    else batches.push({ members: [member], T: evenLength(sequences[member].length) })
  }
  return batches
}

const check = (sequence: TokenIds, i: number, { vocabSize, maxPositions }: ModelConfig): void => {
  if (sequence.length === 0) throw new DataError(`sequence ${i}: expected at least one token, got none`)
  if (sequence.length > maxPositions)
    throw new DataError(
      `sequence ${i}: expected at most ${maxPositions} tokens, the model's context, got ${sequence.length}`,
    )
  for (let t = 0; t < sequence.length; t++)
    if (!(sequence[t] >= 0 && sequence[t] < vocabSize))
      throw new DataError(`sequence ${i}: token ${sequence[t]} is outside the vocabulary of ${vocabSize}`, {
        hint: 'the tokenizer does not belong to this model',
      })
}

/** Inputs of `groupedInputs(false)`, a sequence a row, and what each of its tokens weighs in the mean. */
const valuesOf = ({ members, T }: Batch, sequences: readonly TokenIds[], maxPositions: number): Values => {
  const P = members.length
  const tokens = new BigInt64Array(P * T)
  const positions = new BigInt64Array(P * T)
  const segments = new Int32Array(P * T)
  const shares = new Float32Array(P * T)
  for (const [p, member] of members.entries()) {
    const sequence = sequences[member]
    for (let t = 0; t < T; t++) {
      const isReal = t < sequence.length
      tokens[p * T + t] = BigInt(isReal ? sequence[t] : 0)
      positions[p * T + t] = BigInt(Math.min(t, maxPositions - 1))
      segments[p * T + t] = isReal ? 0 : 1
      shares[p * T + t] = isReal ? 1 / sequence.length : 0
    }
  }
  const dims = [P, 1, T]
  return {
    tokens: { data: tokens, dims: [P * T] },
    positions: { data: positions, dims: [P * T] },
    segments: { data: segments, dims },
    shares: { data: shares, dims },
  }
}

export class HiddenStates {
  readonly #parameters: Parameters
  readonly #options: HiddenStatesOptions
  #graph: Promise<Executable> | null = null

  constructor(parameters: Parameters, options: HiddenStatesOptions) {
    this.#parameters = parameters
    this.#options = options
  }

  /**
   * For each sequence of token ids the mean of its tokens' last hidden states after the final norm, [hidden], with the
   * weights as they are.
   * @throws DataError for a sequence that is empty, beyond the context, or not of this vocabulary; NumericError where the
   * model's states are not finite
   */
  async means(sequences: readonly TokenIds[]): Promise<Float32Array[]> {
    const { config } = this.#parameters
    for (const [i, sequence] of sequences.entries()) check(sequence, i, config)
    const results = new Array<Float32Array>(sequences.length)
    for (const batch of batchesOf(sequences, this.#options.microBatchTokens)) {
      const graph = await this.#compiled()
      const { means } = await graph.run({
        ...valuesOf(batch, sequences, config.maxPositions),
        ...(await this.#parameters.feeds(graph.model.inputs)),
      })
      const data = means.data as Float32Array
      for (const [p, member] of batch.members.entries())
        results[member] = finite(data.slice(p * config.hiddenSize, (p + 1) * config.hiddenSize), member)
    }
    return results
  }

  #compiled(): Promise<Executable> {
    this.#graph ??= Executable.compile(
      { means: meanGraph(this.#parameters.config, this.#parameters.asInputs()) },
      this.#options.running,
    )
    return this.#graph
  }
}

const finite = (vector: Float32Array, sequence: number): Float32Array => {
  if (vector.every(Number.isFinite)) return vector
  throw new NumericError(`sequence ${sequence}: the model's hidden states are not finite`)
}
