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
} from '../../tensor/index.ts'
import { DataError, NumericError } from '../../util/errors.ts'
import { batchValues, microBatches, spreadTokens } from './batches.ts'
import type { Parameters } from './parameters.ts'

export interface HiddenStatesOptions {
  running: ExecutableOptions
  /** Padded tokens that go through the network at a time. */
  microBatchTokens: number
}

/** [P, hidden]: the mean over each sequence's tokens; the weights of the mean are 0 on padding. */
const meanGraph = (config: ModelConfig, weights: Weights): Tensor => {
  const hidden = groupedHidden(config, weights, groupedInputs({ withPrefix: false, unpadded: false }))
  const shares = reshape(input('shares', SAMPLES), [product(['P', 'G']), SAMPLES[2], 1])
  const perSequence = reshape(hidden, [product(['P', 'G']), SAMPLES[2], config.hiddenSize])
  return reduceSum(mul(perSequence, shares), [1])
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

export class HiddenStates {
  readonly #parameters: Parameters
  readonly #options: HiddenStatesOptions
  #graph: Executable | null = null

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
    const longestFirst = sequences.map((_, i) => i).sort((a, b) => sequences[b].length - sequences[a].length)
    // Prompts of a token each, and at the end a token that nobody asks for: rows are the sequences themselves.
    const rows = longestFirst.map(i => ({
      promptTokens: [sequences[i][0]],
      tokens: [...Array.from(sequences[i]).slice(1), 0],
    }))
    for (const batch of microBatches(rows, this.#options.microBatchTokens, config)) {
      const graph = await this.#compiled()
      const { targets, ...values } = batchValues(batch, rows, config.maxPositions)
      const { means } = await graph.run({
        ...values,
        shares: spreadTokens(batch, row => rows[row].tokens.map((_, __, { length }) => 1 / length)),
        ...(await this.#parameters.feeds(graph.model.inputs)),
      })
      const { hiddenSize } = config
      batch.slots.forEach((row, slot) => {
        if (row < 0) return
        const member = longestFirst[row]
        const data = (means.data as Float32Array).slice(slot * hiddenSize, (slot + 1) * hiddenSize)
        results[member] = finite(data, member)
      })
    }
    return results
  }

  /** What fails is tried again with the next request. */
  async #compiled(): Promise<Executable> {
    this.#graph ??= await Executable.compile(
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
