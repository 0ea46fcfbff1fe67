/** @file Scores and gradients: micro-batches through compiled graphs, gradients summed until a step takes them. */

import type { BatchLayout } from '../../model/transformer.ts'
import { tokenWeights } from '../../rl/aggregate.ts'
import { checkDatum, type Datum } from '../../rl/datum.ts'
import { batchLoss, type LossSequence, type LossSpec } from '../../rl/loss.ts'
import {
  Executable,
  type ExecutableOptions,
  gradients,
  type Tensor,
  type Value,
  type Values,
} from '../../tensor/index.ts'
import { ConfigError, DataError, NumericError } from '../../util/errors.ts'
import type {
  BatchStats,
  LossOptions,
  ScoreItem,
  ScoreOptions,
  Scores,
  StepOptions,
  StepStats,
} from '../policy.ts'
import { tokenStatistics } from '../token-statistics.ts'
import { lossRefusal } from '../update.ts'
import {
  batchValues,
  gatherTokens,
  type MicroBatch,
  microBatches,
  type Sequence,
  spreadTokens,
  withoutPadding,
} from './batches.ts'
import { forwardGraph, lossGraph, lossInputs } from './loss-graph.ts'
import { gradientName, type Parameters } from './parameters.ts'

export interface TrainerOptions {
  running: ExecutableOptions
  /** Padded tokens, prompts included, that go through the network at a time: bounds memory. */
  microBatchTokens: number
  /** Layers are computed a second time for their gradient, and only their inputs are kept. */
  recompute?: boolean
}

/** In this process nothing about a batch is unknown. */
export interface LocalBatchStats
  extends Required<Omit<BatchStats, 'logprobs'>>,
    Pick<BatchStats, 'logprobs'> {
  parts: Required<NonNullable<BatchStats['parts']>>
}

export type LocalStepStats = StepStats & { gradNorm: number }

/** Compiled graphs that are kept: a loss whose coefficients follow a schedule makes a new one with every step. */
const MOST_GRAPHS = 8

/** Share of padding in a micro-batch up to which it is computed with the rest: moving rows takes about as much. */
const PADDING_KEPT = 0.05

/** Per-token results for every sequence of a batch. */
export type LocalScores = Scores & { entropies: Float32Array }

const floats = (value: Value): Float32Array => value.data as Float32Array

export class Trainer {
  readonly #parameters: Parameters
  readonly #options: TrainerOptions
  readonly #graphs = new Map<string, Promise<Executable>>()
  #accumulating: Promise<void> = Promise.resolve()

  constructor(parameters: Parameters, options: TrainerOptions) {
    this.#parameters = parameters
    this.#options = options
  }

  #compiled(
    key: string,
    outputs: () => Record<string, Tensor>,
    keep?: readonly string[],
  ): Promise<Executable> {
    const graph = this.#graphs.get(key) ?? Executable.compile(outputs(), { ...this.#options.running, keep })
    // The one used last stands last, so that the first is the one to let go.
    this.#graphs.delete(key)
    this.#graphs.set(key, graph)
    if (this.#graphs.size > MOST_GRAPHS) this.#forgetOldest()
    return graph
  }

  #forgetOldest(): void {
    const [[key, graph]] = this.#graphs
    this.#graphs.delete(key)
    void graph.then(
      executable => executable.release(),
      () => {},
    )
  }

  #scoring(layout: BatchLayout): Promise<Executable> {
    return this.#compiled(`score/${JSON.stringify(layout)}`, () => scoringOutputs(this.#parameters, layout))
  }

  #training(layout: BatchLayout, spec: LossSpec): Promise<Executable> {
    const key = `train/${JSON.stringify([layout, spec])}`
    const outputs = () => trainingOutputs(this.#parameters, spec, layout, this.#options.recompute)
    return this.#compiled(key, outputs, this.#parameters.keptGradients)
  }

  /** A device has no need of it: what it computes of padding costs less there than moving rows. */
  #layout(batch: MicroBatch): BatchLayout {
    const unpadded = this.#options.running.provider !== 'webgpu' && batch.padding > PADDING_KEPT
    return { withPrefix: batch.sizes.S > 0, unpadded }
  }

  #batches(sequences: readonly Sequence[]): MicroBatch[] {
    return microBatches(sequences, this.#options.microBatchTokens, this.#parameters.config)
  }

  #values(batch: MicroBatch, sequences: readonly Sequence[], graph: Executable, temperature: number): Values {
    const values = batchValues(batch, sequences, this.#parameters.config.maxPositions)
    return {
      ...(this.#layout(batch).unpadded ? withoutPadding(batch, values, name => graph.takes(name)) : values),
      inverseTemperature: { data: Float32Array.of(1 / temperature), dims: [] },
    }
  }

  async score(items: readonly ScoreItem[], options: ScoreOptions = {}): Promise<LocalScores[]> {
    const results = new Array<LocalScores>(items.length)
    for (const batch of this.#batches(items)) {
      const graph = await this.#scoring(this.#layout(batch))
      const outputs = await graph.run({
        ...this.#values(batch, items, graph, options.temperature ?? 1),
        ...(await this.#parameters.feeds(graph.model.inputs, options.weights)),
      })
      collect(batch, items, outputs, results)
    }
    return results
  }

  /** Adds a batch's gradient to the accumulated one; drops all of it when the batch cannot be used. */
  accumulate(datums: readonly Datum[], options: LossOptions): Promise<LocalBatchStats> {
    const batch = this.#accumulating.then(() => this.#addGradient(datums, options))
    this.#accumulating = batch.then(
      () => {},
      () => this.#parameters.dropGradient(),
    )
    return batch
  }

  /** Waits for the batches before it, and takes a step with what they have accumulated. */
  step(options: StepOptions): Promise<LocalStepStats> {
    const step = this.#accumulating.then(() => this.#parameters.step(options))
    this.#accumulating = step.then(
      () => {},
      () => {},
    )
    return step
  }

  async #addGradient(datums: readonly Datum[], options: LossOptions): Promise<LocalBatchStats> {
    const { loss: spec, temperature = 1 } = options
    checkBatch(datums)
    const refusal = lossRefusal(spec, this.#parameters.hasValueHead)
    if (refusal !== null) throw new ConfigError(`loss${refusal}`)
    const weights = tokenWeights(
      datums.map(({ mask }) => mask),
      spec.aggregation,
      { prompts: options.prompts },
    )
    const results = new Array<LocalScores>(datums.length)
    const batches = this.#batches(datums)
    for (const batch of batches) {
      const graph = await this.#training(this.#layout(batch), spec)
      const values = {
        ...this.#values(batch, datums, graph, temperature),
        ...lossValues(batch, datums, weights, spec),
        ...(await this.#parameters.feeds(graph.model.inputs)),
      }
      const { values: outputs, kept } = await graph.execute(values, this.#parameters.gradientTargets())
      refuseNonFinite(floats(outputs.loss)[0], batch)
      await this.#parameters.addGradient(outputs, kept)
      collect(batch, datums, outputs, results)
    }
    return {
      ...describe(datums, results, spec, options),
      microBatches: batches.length,
      ...(options.logprobs && { logprobs: results.map(({ logprobs }) => logprobs) }),
    }
  }
}

const checkBatch = (datums: readonly Datum[]): void => {
  if (datums.length === 0) throw new DataError('accumulate: expected at least one datum, got none')
  datums.forEach((datum, i) => {
    checkDatum(datum, `datum ${i}`)
  })
}

const withoutNull = (tensors: Record<string, Tensor | null>): Record<string, Tensor> =>
  Object.fromEntries(Object.entries(tensors).filter((entry): entry is [string, Tensor] => entry[1] !== null))

/** Outputs of the graph that scores sequences. */
export const scoringOutputs = (parameters: Parameters, layout: BatchLayout): Record<string, Tensor> =>
  withoutNull({ ...forwardGraph(parameters.config, parameters.asInputs(), layout) })

/**
 * Outputs of the graph that trains: the loss, what scoring gives, and the gradient of every trained tensor.
 * @param recompute layers are computed a second time for their gradient
 */
export const trainingOutputs = (
  parameters: Parameters,
  spec: LossSpec,
  layout: BatchLayout,
  recompute = false,
): Record<string, Tensor> => {
  const weights = parameters.asInputs()
  const trained = parameters.trained.map(({ name }) => weights.get(name))
  const forward = forwardGraph(parameters.config, weights, layout, recompute ? new Set(trained) : null)
  const loss = lossGraph(spec, forward)
  return {
    loss,
    ...withoutNull({ ...forward }),
    ...Object.fromEntries(gradients(loss, trained).map((gradient, i) => [gradientName(i), gradient])),
  }
}

const refuseNonFinite = (loss: number, batch: MicroBatch) => {
  if (Number.isFinite(loss)) return
  const where = batch.slots.filter(index => index >= 0).slice(0, 4)
  throw new NumericError(
    `loss is ${loss} in a micro-batch with datums ${where.join(', ')}…; no weight was changed`,
    {
      hint: 'lower the learning rate, or look at the log-probs and advantages of these datums',
    },
  )
}

const ones = (length: number) => new Float32Array(length).fill(1)

/** The per-token arrays that this loss reads. A datum that lacks one it needs is refused by `batchLoss` and here. */
const lossValues = (
  batch: MicroBatch,
  datums: readonly Datum[],
  weights: readonly Float64Array[],
  spec: LossSpec,
): Values => {
  const perDatum: Record<string, (index: number) => ArrayLike<number> | undefined> = {
    tokenWeights: i => weights[i],
    factors: i => datums[i].weights ?? ones(datums[i].tokens.length),
    oldLogprobs: i => datums[i].oldLogprobs,
    advantages: i => datums[i].advantages,
    refLogprobs: i => datums[i].refLogprobs,
    returns: i => datums[i].returns,
    oldValues: i => datums[i].oldValues,
  }
  const need = (name: string) => (index: number) => {
    const values = perDatum[name](index)
    if (!values)
      throw new DataError(`datum ${index}: the loss needs ${name}, got nothing`, {
        hint: 'fill it in, or take the term that reads it out of the loss',
      })
    // Tokens outside the mask may hold anything, NaN included, and 0 x NaN would spoil the sum.
    return Float32Array.from(values, (value, t) => (datums[index].mask[t] === 0 ? 0 : value))
  }
  return Object.fromEntries(lossInputs(spec).map(name => [name, spreadTokens(batch, need(name))]))
}

const collect = (
  batch: MicroBatch,
  items: readonly Sequence[],
  outputs: Record<string, Value>,
  results: LocalScores[],
): void => {
  batch.slots.forEach((index, slot) => {
    if (index < 0) return
    const part = (name: string) =>
      gatherTokens(batch, slot, items[index].tokens.length, floats(outputs[name]))
    results[index] = {
      logprobs: part('logprobs'),
      entropies: part('entropy'),
      ...(outputs.values && { values: part('values') }),
    }
  })
}

const describe = (
  datums: readonly Datum[],
  results: readonly LocalScores[],
  spec: LossSpec,
  options: LossOptions,
): Omit<LocalBatchStats, 'microBatches'> => {
  const sequences: LossSequence[] = datums.map((datum, i) => ({ ...pickLoss(datum), ...results[i] }))
  const { loss, parts, clipFraction } = batchLoss(spec, sequences, { prompts: options.prompts })
  return { loss, parts, clipFraction, ...tokenStatistics(sequences), entropy: meanEntropy(results, datums) }
}

const pickLoss = ({ oldLogprobs, refLogprobs, advantages, mask, weights, oldValues, returns }: Datum) => ({
  oldLogprobs,
  ...(refLogprobs && { refLogprobs }),
  advantages,
  mask,
  ...(weights && { weights }),
  ...(oldValues && { oldValues }),
  ...(returns && { returns }),
})

/** Over policy tokens, nats. */
const meanEntropy = (results: readonly LocalScores[], datums: readonly Datum[]): number => {
  let [sum, count] = [0, 0]
  for (const [i, { mask }] of datums.entries())
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] === 0) continue
      sum += results[i].entropies[t]
      count++
    }
  return sum / Math.max(count, 1)
}
