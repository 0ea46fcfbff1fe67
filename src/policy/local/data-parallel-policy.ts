/** @file A policy of several engines with the same weights, among which what is sampled, scored and learnt from is divided. */

import type { ModelConfig } from '../../model/config.ts'
import { GradusError, UsageError } from '../../util/errors.ts'
import type {
  ConverseRequest,
  Policy,
  Sample,
  SampledToken,
  SampleRequest,
  StepOptions,
  TurnReply,
} from '../policy.ts'
import { microBatches, type Sequence } from './batches.ts'
import { converseAmong, sampleAmong, settleAll } from './divided-sampling.ts'
import { type EngineOptions, MICRO_BATCH_TOKENS } from './engine.ts'
import { LocalPolicy } from './local-policy.ts'
import type { ModelSource } from './model-source.ts'
import { assertFiniteNorm, cosinesOf, nothingAccumulated } from './optimizer-step.ts'
import type { LocalStepStats } from './trainer.ts'
import {
  batchStats,
  type LocalBatchStats,
  type LocalScores,
  partOfBatch,
  type WeighedBatch,
  weighBatch,
} from './weighed-batch.ts'
import { MOST_ENGINES } from './weight-sizes.ts'

export interface DataParallelOptions extends EngineOptions {
  /** `threads`, `maxRows` and `microBatchTokens` are those of all of them together. */
  engines: number
}

interface Share {
  maxRows: number
  microBatchTokens: number
}

const assertEngines = ({ engines, provider = 'cpu' }: DataParallelOptions): void => {
  if (engines > MOST_ENGINES)
    throw new UsageError(`engines: expected at most ${MOST_ENGINES}, got ${engines}`, {
      hint: 'as many as there are cores is the most that is of use',
    })
  if (provider !== 'cpu')
    throw new UsageError(`engines: expected 1 with provider ${provider}, got ${engines}`, {
      hint: 'several engines share the processor',
    })
}

/** What one of so many engines gets of it, at least one. */
const shareOf = (whole: number, engines: number): number => Math.max(1, Math.floor(whole / engines))

/** Deals items of so much work among engines, the largest first, each to the one that has least so far. */
export const deal = (work: readonly number[], engines: number): number[][] => {
  const dealt: number[][] = Array.from({ length: engines }, () => [])
  const loads = new Array<number>(engines).fill(0)
  const order = work.map((_, i) => i).sort((a, b) => work[b] - work[a] || a - b)
  for (const item of order) {
    const least = loads.indexOf(Math.min(...loads))
    dealt[least].push(item)
    loads[least] += work[item]
  }
  return dealt
}

/**
 * Engines of few threads get more out of a processor than one of many, because most of a small model's operations are too short to
 * be divided (docs/decisions/two-engines.md). Each has all weights, and of the optimiser its pieces of every tensor; the first one reads
 * and writes checkpoints. What is divided, and how, depends on nothing but the request, so that a seed gives the same run
 * whichever engine is faster. When one of them ends, all are closed, and so they are when a change was made by some of them only.
 */
export class DataParallelPolicy implements Policy {
  readonly #engines: readonly LocalPolicy[]
  readonly #share: Share
  /** Calls are carried out in the order in which they were made. */
  #queue: Promise<unknown> = Promise.resolve()

  /** Takes over engines that were started from the same source, each with its `part`; `share` is what each was started with. */
  constructor(engines: readonly LocalPolicy[], share: Share) {
    this.#engines = engines
    this.#share = share
    for (const engine of engines) void engine.ended.then(reason => this.#closeAll(reason))
  }

  /**
   * Starts the engines.
   * @throws UsageError for too many, or with a GPU; CheckpointError and others from loading; none of them is left running then
   */
  static async start(source: ModelSource, options: DataParallelOptions): Promise<DataParallelPolicy> {
    assertEngines(options)
    const {
      engines: count,
      threads = 2,
      maxRows = 128,
      microBatchTokens = MICRO_BATCH_TOKENS,
      ...rest
    } = options
    const share = {
      maxRows: shareOf(maxRows, count),
      microBatchTokens: shareOf(microBatchTokens, count),
    }
    const own = { ...rest, ...share, threads: shareOf(threads, count) }
    const started = await Promise.allSettled(
      Array.from({ length: count }, (_, index) =>
        LocalPolicy.start(source, { ...own, part: { index, of: count } }),
      ),
    )
    const engines = started.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
    if (engines.length === count) return new DataParallelPolicy(engines, share)
    await Promise.all(engines.map(engine => engine.close()))
    throw started.find(result => result.status === 'rejected')!.reason
  }

  get #first(): LocalPolicy {
    return this.#engines[0]
  }

  get config(): ModelConfig {
    return this.#first.config
  }

  get parameterCount(): number {
    return this.#first.parameterCount
  }
  get trainedCount(): number {
    return this.#first.trainedCount
  }

  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(call)
    this.#queue = result.catch(() => {})
    return result
  }

  /**
   * A change that all engines make. One that fails on the way leaves them with different weights, with which nothing may go on:
   * they are closed.
   */
  async #together<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await change()
    } catch (error) {
      const { message } = error as Error
      const reason = new GradusError(`the engines no longer have the same weights: ${message}`, {
        hint: 'go on from the last checkpoint',
      })
      await this.#closeAll(reason)
      throw error
    }
  }

  sample(
    request: SampleRequest,
    onSample?: (sample: Sample) => void,
    onToken?: (token: SampledToken) => void,
  ): Promise<Sample[]> {
    const { maxRows } = this.#share
    return this.#inTurn(() => sampleAmong(this.#engines, maxRows, request, onSample, onToken))
  }

  converse(request: ConverseRequest, reply: TurnReply): Promise<void> {
    return this.#inTurn(() => converseAmong(this.#engines, request, reply))
  }

  /** By micro-batches, so that a prompt of many samples goes through once. */
  #deal(sequences: readonly Sequence[]): number[][] {
    const batches = microBatches(sequences, this.#share.microBatchTokens, this.config)
    const members = batches.map(({ slots }) => slots.filter(slot => slot >= 0))
    const work = batches.map(({ sizes: { P, G, T, S } }) => P * (S + G * T))
    return deal(work, this.#engines.length).map(dealt =>
      dealt.flatMap(batch => members[batch]).sort((a, b) => a - b),
    )
  }

  score: LocalPolicy['score'] = (items, options) =>
    this.#inTurn(async () => {
      const scores = new Array<LocalScores>(items.length)
      const score = async (numbers: readonly number[], at: number): Promise<void> => {
        if (numbers.length === 0) return
        const own = await this.#engines[at].score(
          numbers.map(number => items[number]),
          options,
        )
        numbers.forEach((number, i) => {
          scores[number] = own[i]
        })
      }
      await settleAll(this.#deal(items).map(score))
      return scores
    })

  refuses: Policy['refuses'] = loss => this.#first.refuses(loss)

  accumulate: LocalPolicy['accumulate'] = (datums, options) =>
    this.#inTurn(async () => {
      try {
        return await this.#accumulate(weighBatch(datums, options), options)
      } catch (error) {
        await this.#dropGradients()
        throw error
      }
    })

  async #accumulate(
    batch: WeighedBatch,
    options: Parameters<LocalPolicy['accumulate']>[1],
  ): Promise<LocalBatchStats> {
    const { datums } = batch
    const scores = new Array<LocalScores>(datums.length)
    const learn = async (numbers: readonly number[], at: number): Promise<number> => {
      if (numbers.length === 0) return 0
      const part = await this.#engines[at].accumulatePart(partOfBatch(batch, numbers), options)
      numbers.forEach((number, i) => {
        scores[number] = part.scores[i]
      })
      return part.microBatches
    }
    const counts = await settleAll(this.#deal(datums).map(learn))
    return batchStats(
      datums,
      { scores, microBatches: counts.reduce((sum, count) => sum + count, 0) },
      options,
    )
  }

  /** Each engine sums, clips and steps its own pieces of all tensors, and takes over what the others make of theirs. */
  step: LocalPolicy['step'] = options =>
    this.#inTurn(async () => {
      try {
        return await this.#step(options)
      } catch (error) {
        await this.#dropGradients()
        throw error
      }
    })

  /** Memory between the engines is always the same: read to the end before it is written again. */
  async #step(options: StepOptions): Promise<LocalStepStats> {
    const engines = this.#engines
    const shared = await settleAll(engines.map(engine => engine.shareGradient()))
    if (shared.every(gradient => gradient === null)) throw nothingAccumulated()
    const squares = await settleAll(
      engines.map((engine, at) => engine.gatherGradient(shared.filter((_, other) => other !== at))),
    )
    const norm = Math.sqrt(squares.reduce((sum, part) => sum + part, 0))
    assertFiniteNorm(norm)
    const parts = await this.#together(async () => {
      const taken = await settleAll(engines.map(engine => engine.stepPart(options, norm)))
      const weights = taken.map(part => part.weights)
      await settleAll(engines.map(engine => engine.takeParts(weights)))
      return taken
    })
    const angles = parts.flatMap(part => (part.angles ? [part.angles] : []))
    return { gradNorm: norm, ...(angles.length > 0 && { gradientCosines: cosinesOf(angles, norm) }) }
  }

  /** Whatever comes of it, what went before is to be told. */
  async #dropGradients(): Promise<void> {
    await Promise.allSettled(this.#engines.map(engine => engine.dropGradient()))
  }

  freezeReference: Policy['freezeReference'] = () =>
    this.#inTurn(() =>
      this.#together(async () => {
        await settleAll(this.#engines.map(engine => engine.freezeReference()))
      }),
    )

  /** The first engine writes; of the optimiser's state it has but its own pieces otherwise. */
  save: Policy['save'] = (folder, options) =>
    this.#inTurn(async () => {
      const [first, ...others] = this.#engines
      if (options?.optimizer !== false)
        for (const moments of await settleAll(others.map(engine => engine.moments())))
          await first.takeMoments(moments)
      await first.save(folder, options)
    })

  /** The first engine reads. */
  load: Policy['load'] = folder =>
    this.#inTurn(async () => {
      const [first, ...others] = this.#engines
      await first.load(folder)
      await this.#together(async () => {
        const weights = await first.shareWeights()
        await settleAll(others.map(engine => engine.takeWeights(weights)))
        for (const [i, engine] of others.entries())
          await engine.takeMoments(await first.moments({ index: i + 1, of: this.#engines.length }))
      })
    })

  /** Calls that are still running are rejected, and so is every later one. */
  close(): Promise<void> {
    return this.#closeAll()
  }

  async #closeAll(reason?: Error): Promise<void> {
    await Promise.all(this.#engines.map(engine => engine.close(reason)))
  }
}

/** One engine, or several that share the work. @throws CheckpointError and others from loading */
export const startEngines = (
  source: ModelSource,
  { engines, ...options }: DataParallelOptions,
): Promise<LocalPolicy | DataParallelPolicy> =>
  engines === 1
    ? LocalPolicy.start(source, options)
    : DataParallelPolicy.start(source, { engines, ...options })
