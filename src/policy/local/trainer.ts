/** @file Scores and gradients: micro-batches through compiled graphs, gradients summed until a step takes them. */

import type { BatchLayout } from '../../model/transformer.ts'
import type { Datum, TokenIds } from '../../rl/datum.ts'
import type { LossSpec } from '../../rl/loss.ts'
import {
  Executable,
  type ExecutableOptions,
  gradients,
  type Tensor,
  type TensorValue,
  type Values,
} from '../../tensor/index.ts'
import { ConfigError, DataError, NumericError } from '../../util/errors.ts'
import type { LogprobOptions, LossOptions, ScoreItem, StepOptions, StepStats } from '../policy.ts'
import { lossRefusal } from '../update.ts'
import {
  batchValues,
  computedTokens,
  gatherTokens,
  lastPlaces,
  type MicroBatch,
  microBatches,
  type Sequence,
  spreadTokens,
  withoutPadding,
} from './batches.ts'
import { gradientName } from './gradient.ts'
import { forwardGraph, lossGraph, lossInputs, nextTokenGraph, OF_PROMPTS } from './loss-graph.ts'
import type { Parameters } from './parameters.ts'
import type { PieceOutputs } from './prompt-pieces.ts'
import { cutBeginnings, sharedBeginnings } from './shared-beginnings.ts'
import {
  type BatchScores,
  batchStats,
  type LocalBatchStats,
  type LocalScores,
  type WeighedBatch,
  weighBatch,
} from './weighed-batch.ts'
import { hasTwoLayouts } from './weight-sizes.ts'

export interface TrainerOptions {
  running: ExecutableOptions
  /** Padded tokens, prompts included, that go through the network at a time: bounds memory. */
  microBatchTokens: number
  /** Layers are computed a second time for their gradient, and only their inputs are kept. */
  recompute?: boolean
  /** What prompts begin with is computed once for those that share it, where that saves much. */
  shareBeginnings?: boolean
}

export type LocalStepStats = StepStats & { gradNorm: number }

/** Compiled graphs that are kept: a loss whose coefficients follow a schedule makes a new one with every step. */
const MOST_GRAPHS = 8

/** Share of padding in a micro-batch up to which a small model computes it with the rest: moving rows takes about as much. */
const PADDING_KEPT = 0.05

/** Part of the tokens that sharing beginnings has to leave at most, for the graphs and the copies that it takes. */
const MOST_SHARED = 0.9

interface BatchedSequences {
  sequences: readonly Sequence[]
  batches: readonly MicroBatch[]
}

const floats = (value: TensorValue): Float32Array => value.data as Float32Array

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
    // What failed is tried again when it is next wanted.
    graph.catch(() => this.#graphs.get(key) === graph && this.#graphs.delete(key))
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
    return this.#compiled(key, outputs, this.#parameters.gradient.keptOutputs)
  }

  /** A device has no need of it: what it computes of padding costs less there than moving rows. */
  #layout(batch: MicroBatch): BatchLayout {
    const keepsPadding =
      batch.isEmpty || (hasTwoLayouts(this.#parameters.count) && batch.padding <= PADDING_KEPT)
    const unpadded = this.#options.running.provider !== 'webgpu' && !keepsPadding
    return { withPrefix: batch.sizes.S > 0, unpadded }
  }

  #batches(sequences: readonly Sequence[]): MicroBatch[] {
    return microBatches(sequences, this.#options.microBatchTokens, this.#parameters.config)
  }

  #values(batch: MicroBatch, sequences: readonly Sequence[], graph: Executable, temperature: number): Values {
    const padded = batchValues(batch, sequences, this.#parameters.config.maxPositions)
    const { unpadded } = this.#layout(batch)
    const all: Values = {
      ...(unpadded ? withoutPadding(batch, padded) : padded),
      inverseTemperature: { data: Float32Array.of(1 / temperature), dims: [] },
      last: lastPlaces(batch, sequences, unpadded),
    }
    // Without a gradient nobody asks which places are empty, and not all graphs have targets.
    return Object.fromEntries(Object.entries(all).filter(([name]) => graph.takes(name)))
  }

  /** Of a token's computation, what logits are beside the rest. */
  get #logitsShare(): number {
    const { vocabSize, hiddenSize } = this.#parameters.config
    const table = vocabSize * hiddenSize
    return table / Math.max(1, this.#parameters.count - table)
  }

  /** The sequences cut where they begin alike, in batches; null where that computes little less than `apart` tokens. */
  #sharing(sequences: readonly Sequence[], apart: () => number, logits: number): BatchedSequences | null {
    const cut = this.#options.shareBeginnings
      ? cutBeginnings(sequences, this.#options.microBatchTokens)
      : null
    if (!cut) return null
    const batches = this.#batches(cut)
    return computedTokens(batches, cut, logits) <= MOST_SHARED * apart() ? { sequences: cut, batches } : null
  }

  /** As batches that are computed with logits after each token, in the cheaper of two ways. */
  #batched(sequences: readonly Sequence[]): BatchedSequences {
    const batches = this.#batches(sequences)
    const logits = this.#logitsShare
    const shared = this.#sharing(sequences, () => computedTokens(batches, sequences, logits), logits)
    return shared ?? { sequences, batches }
  }

  async score(items: readonly ScoreItem[], options: LogprobOptions = {}): Promise<LocalScores[]> {
    const results = new Array<LocalScores>(items.length)
    const { sequences, batches } = this.#batched(items)
    for (const batch of batches) {
      const graph = await this.#scoring(this.#layout(batch))
      const outputs = await graph.run({
        ...this.#values(batch, sequences, graph, options.temperature ?? 1),
        ...(await this.#parameters.feeds(graph.model.inputs, options.weights)),
      })
      collect(batch, items, outputs, results)
    }
    return results
  }

  /** Logits after each prompt, [V] each. */
  async nextLogits(prompts: readonly TokenIds[]): Promise<Float32Array[]> {
    const { vocabSize } = this.#parameters.config
    const results = new Array<Float32Array>(prompts.length)
    const sequences = sharedBeginnings(prompts, this.#options.microBatchTokens)
    const batches = this.#batches(sequences)
    for (const { values, rows } of await this.#readOn({ sequences, batches }, false))
      rows.forEach(({ prompt }, row) => {
        results[prompt] = floats(values.logits).subarray(row * vocabSize, (row + 1) * vocabSize)
      })
    return results
  }

  /** Reads prompts, what several begin with once for those of a batch; null where that saves little. */
  async readPrompts(prompts: readonly TokenIds[]): Promise<PieceOutputs[] | null> {
    const apart = prompts.reduce((sum, { length }) => sum + length, 0)
    const sequences = prompts.map(promptTokens => ({ promptTokens, tokens: [0] }))
    const shared = this.#sharing(sequences, () => apart, 0)
    return shared && this.#readOn(shared, true)
  }

  /** What follows the last token but one of each sequence. @param keeps see `nextTokenGraph` */
  async #readOn({ sequences, batches }: BatchedSequences, keeps: boolean): Promise<PieceOutputs[]> {
    const pieces: PieceOutputs[] = []
    for (const batch of batches) {
      const layout = this.#layout(batch)
      const outputs = () =>
        nextTokenGraph(this.#parameters.config, this.#parameters.asInputs(), layout, keeps)
      const graph = await this.#compiled(`next/${keeps}/${JSON.stringify(layout)}`, outputs)
      const values = await graph.run({
        ...this.#values(batch, sequences, graph, 1),
        ...(await this.#parameters.feeds(graph.model.inputs)),
      })
      pieces.push({ values, rows: rowsOf(batch, sequences) })
    }
    return pieces
  }

  /** Adds a batch's gradient to the accumulated one; drops all of it when the batch cannot be used. */
  accumulate(datums: readonly Datum[], options: LossOptions): Promise<LocalBatchStats> {
    return this.#accumulate(async () =>
      batchStats(datums, await this.#addGradient(weighBatch(datums, options), options), options),
    )
  }

  /** The same for part of a batch that others learn from as well; the whole decides how much each token counts. */
  accumulatePart(part: WeighedBatch, options: LossOptions): Promise<BatchScores> {
    return this.#accumulate(() => this.#addGradient(part, options))
  }

  /** Forgets what is accumulated, behind all that is accumulating. */
  dropGradient(): Promise<void> {
    return this.#accumulate(async () => this.#parameters.gradient.drop())
  }

  #accumulate<T>(add: () => Promise<T>): Promise<T> {
    const added = this.#accumulating.then(add)
    this.#accumulating = added.then(
      () => {},
      () => this.#parameters.gradient.drop(),
    )
    return added
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

  async #addGradient(batch: WeighedBatch, options: LossOptions): Promise<BatchScores> {
    const { loss: spec, temperature = 1 } = options
    const refusal = lossRefusal(spec, this.#parameters.hasValueHead)
    if (refusal !== null) throw new ConfigError(`loss${refusal}`)
    const { datums, numbers } = batch
    const scores = new Array<LocalScores>(datums.length)
    const { sequences, batches } = this.#batched(datums)
    for (const micro of batches) {
      const graph = await this.#training(this.#layout(micro), spec)
      const values = {
        ...this.#values(micro, sequences, graph, temperature),
        ...lossValues(micro, batch, spec),
        ...(await this.#parameters.feeds(graph.model.inputs)),
      }
      const { values: outputs, kept } = await graph.execute(values, this.#parameters.gradient.targets())
      refuseNonFinite(floats(outputs.loss)[0], micro, numbers)
      await this.#parameters.gradient.add(outputs, kept)
      collect(micro, datums, outputs, scores)
    }
    return { scores, microBatches: batches.length }
  }
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
  const learning = { trained: new Set(trained), recompute, entropy: spec.entropyCoef !== 0 }
  const forward = forwardGraph(parameters.config, weights, layout, learning)
  const loss = lossGraph(spec, forward)
  return {
    loss,
    ...withoutNull({ ...forward }),
    ...Object.fromEntries(gradients(loss, trained).map((gradient, i) => [gradientName(i), gradient])),
  }
}

const refuseNonFinite = (loss: number, batch: MicroBatch, numbers: readonly number[]) => {
  if (Number.isFinite(loss)) return
  const where = batch.slots.flatMap(index => (index < 0 ? [] : [numbers[index]])).slice(0, 4)
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
  micro: MicroBatch,
  { datums, weights, numbers }: WeighedBatch,
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
      throw new DataError(`datum ${numbers[index]}: the loss needs ${name}, got nothing`, {
        hint: 'fill it in, or take the term that reads it out of the loss',
      })
    // Tokens outside the mask may hold anything, NaN included, and 0 x NaN would spoil the sum.
    return Float32Array.from(values, (value, t) => (datums[index].mask[t] === 0 ? 0 : value))
  }
  return Object.fromEntries(lossInputs(spec).map(name => [name, spreadTokens(micro, need(name))]))
}

/** Where the tokens of each sequence are in what its batch gives; the last one, which is to follow, is in none. */
const rowsOf = (
  { slots, sizes: { G, T, S } }: MicroBatch,
  sequences: readonly Sequence[],
): PieceOutputs['rows'] =>
  slots.flatMap((index, slot) => {
    if (index < 0) return []
    const { promptTokens, tokens } = sequences[index]
    const start = Math.floor(slot / G) * S
    const beginning = { prefix: OF_PROMPTS, start, count: promptTokens.length - 1 }
    const rest = { prefix: '', start: slot * T, count: tokens.length }
    return [{ prompt: index, places: S > 0 ? [beginning, rest] : [rest] }]
  })

const collect = (
  batch: MicroBatch,
  items: readonly Sequence[],
  outputs: Record<string, TensorValue>,
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
