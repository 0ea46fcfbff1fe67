/** @file One batch on its way to the server: by a loss of the protocol's, or forward, derivative here, and back. */

import { tokenWeights } from '../../rl/aggregate.ts'
import { checkDatum, type Datum } from '../../rl/datum.ts'
import { batchLoss, type LossSequence } from '../../rl/loss.ts'
import { lossGradient } from '../../rl/loss-gradient.ts'
import {
  chunksOf,
  type ForwardBackwardOutput,
  TinkerError,
  type TrainingClient,
  type WireDatum,
} from '../../tinker/index.ts'
import { DataError, NumericError } from '../../util/errors.ts'
import type { BatchStats, LossOptions } from '../policy.ts'
import { tokenStatistics } from '../token-statistics.ts'
import { responseLogprobs, scoredDatum, sequencePositions, wireDatum } from './data.ts'
import { type NamedLoss, type Normalisation, namedLoss, undoing } from './losses.ts'

/** What was submitted; its statistics come when the server has computed it. */
export interface Posted {
  stats: Promise<BatchStats>
}

type LossFn = NamedLoss['name'] | 'importance_sampling'
/** Per token of a datum's response; by name. */
type Inputs = Readonly<Record<string, Float64Array>>

export class Batch {
  readonly #options: LossOptions
  readonly #normalisation: Normalisation
  /** Those with a response: the others are nothing to a server. */
  readonly #datums: readonly Datum[]
  readonly #all: readonly Datum[]
  /** Of each token in the loss, mask included. */
  readonly #weights: readonly Float64Array[]
  /** Sequences that a sequence is averaged with. */
  readonly #counts: readonly number[]

  /** @throws DataError, ShapeError, NumericError for datums that cannot be used; ConfigError as `tokenWeights` */
  constructor(datums: readonly Datum[], options: LossOptions, normalisation: Normalisation) {
    if (datums.length === 0) throw new DataError('accumulate: expected at least one datum, got none')
    datums.forEach((datum, i) => {
      checkDatum(datum, `datum ${i}`)
    })
    const masks = datums.map(({ mask }) => mask)
    const weights = tokenWeights(masks, options.loss.aggregation, { prompts: options.prompts })
    this.#options = options
    this.#normalisation = normalisation
    this.#all = datums
    this.#datums = datums.filter(({ tokens }) => tokens.length > 0)
    if (this.#datums.length === 0)
      throw new DataError('accumulate: expected a response in at least one datum, got none')
    this.#weights = weights.filter((_, i) => datums[i].tokens.length > 0)
    this.#counts = this.#countsOf()
  }

  #countsOf(): number[] {
    const { length } = this.#datums
    if (this.#normalisation.sequences === 'sum' || this.#normalisation.requests === 'together')
      return new Array<number>(length).fill(length)
    const chunks = chunksOf(this.#datums.map(scoredDatum))
    return chunks.flatMap(chunk => chunk.map(() => chunk.length))
  }

  /**
   * Submits the batch; all of it has been taken by the server when this resolves.
   * @param unsupported losses that the server refused by their names; one that it refuses now is added, and done in two passes
   */
  async post(client: TrainingClient, unsupported: Set<string>): Promise<Posted> {
    const named = this.#canBeNamed() ? namedLoss(this.#options.loss, this.#normalisation) : null
    if (named !== null && !unsupported.has(named.name)) {
      const posted = await this.#postNamed(client, named)
      if (posted !== null) return posted
      unsupported.add(named.name)
    }
    return this.#postTwice(client)
  }

  /** A factor below zero would turn a clip around. */
  #canBeNamed(): boolean {
    return this.#datums.every(({ weights }) => !weights?.some(weight => weight < 0))
  }

  async #postNamed(client: TrainingClient, loss: NamedLoss): Promise<Posted | null> {
    const data = this.#wireData(loss.name, i => this.#namedInputs(loss, i))
    const { submitted, result } = client.forwardBackward(data, loss.name, loss.config)
    try {
      await submitted
    } catch (error) {
      // A loss that is not among the server's is refused before anything is computed; one batch is one request here.
      if (error instanceof TinkerError && error.kind === 'refused' && chunksOf(data).length === 1) return null
      throw error
    }
    return { stats: result.then(output => this.#statistics(output)) }
  }

  #namedInputs({ name, by }: NamedLoss, i: number): Inputs {
    const { advantages, oldLogprobs, weights: factors, mask } = this.#datums[i]
    const own = this.#weights[i]
    const masked = (value: (t: number) => number) =>
      Float64Array.from(own, (_, t) => (mask[t] === 0 ? 0 : value(t)))
    const factor = (t: number) => own[t] * (factors?.[t] ?? 1)
    if (name !== 'cross_entropy')
      return {
        logprobs: masked(t => oldLogprobs[t]),
        advantages: masked(t => factor(t) * advantages[t]),
      }
    const { crossEntropyCoef } = this.#options.loss
    return { weights: masked(t => factor(t) * (by === 'advantage' ? advantages[t] : crossEntropyCoef)) }
  }

  /**
   * The gradient of any loss of log-probs is that of their sum, each times dL/dlogp, which is worked out here. Where
   * cross-entropy is divided by its weights, importance sampling from the same log-probs has the same gradient, its ratio
   * being 1.
   */
  async #postTwice(client: TrainingClient): Promise<Posted> {
    const forward = await client.forward(this.#datums.map(scoredDatum), 'cross_entropy').result
    const sequences = this.#sequences(forward)
    const slopes = lossGradient(this.#options.loss, sequences.all, { prompts: this.#options.prompts }).filter(
      (_, i) => this.#all[i].tokens.length > 0,
    )
    const isSum = this.#normalisation.crossEntropy === 'sum'
    const lossFn: LossFn = isSum ? 'cross_entropy' : 'importance_sampling'
    const data = this.#wireData(lossFn, (i): Inputs => {
      const back = slopes[i].map(slope => -slope)
      return isSum
        ? { weights: back }
        : { advantages: back, logprobs: Float64Array.from(sequences.live[i].logprobs) }
    })
    const { submitted, result } = client.forwardBackward(data, lossFn)
    await submitted
    return { stats: result.then(output => this.#statistics(output)) }
  }

  /** What multiplies the loss is scaled so that the server's means come out as sums. */
  #wireData(lossFn: LossFn, inputs: (i: number) => Inputs): WireDatum[] {
    const scaled = lossFn === 'cross_entropy' ? 'weights' : 'advantages'
    return this.#datums.map((datum, i) => {
      const own = inputs(i)
      const scale = undoing(this.#normalisation, lossFn, this.#counts[i], sequencePositions(datum))
      return wireDatum(datum, { ...own, [scaled]: own[scaled].map(value => value * scale) })
    })
  }

  /** The datums with the server's log-probs; `all` in the order of the call, `live` those that were sent. */
  #sequences(output: ForwardBackwardOutput): { all: LossSequence[]; live: LossSequence[] } {
    const logprobs = responseLogprobs(output, this.#datums).values()
    const all = this.#all.map((datum, i) => {
      const own = datum.tokens.length > 0 ? logprobs.next().value! : new Float32Array()
      assertFinite(own, datum, i)
      const { promptTokens: _, tokens: __, ...arrays } = datum
      return { ...arrays, logprobs: own }
    })
    return { all, live: all.filter(({ mask }) => mask.length > 0) }
  }

  #statistics(output: ForwardBackwardOutput): BatchStats {
    const { all } = this.#sequences(output)
    const { loss, parts, clipFraction } = batchLoss(this.#options.loss, all, {
      prompts: this.#options.prompts,
    })
    return { loss, parts, clipFraction, ...tokenStatistics(all) }
  }
}

const assertFinite = (logprobs: Float32Array, { mask }: Datum, i: number): void => {
  const wrong = logprobs.findIndex((logprob, t) => mask[t] !== 0 && !Number.isFinite(logprob))
  if (wrong < 0) return
  throw new NumericError(`datum ${i}: the server's log-prob of token ${wrong} is ${logprobs[wrong]}`, {
    hint: 'lower the learning rate, and go on from the last checkpoint with --resume',
  })
}
