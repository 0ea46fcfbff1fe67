/** @file Requests of many clients, sampled together: whoever waits with the same settings joins the next batch. */

import type { TokenIds } from '../../rl/datum.ts'
import { GradusError } from '../../util/errors.ts'
import type { Policy, Sample, SampledToken, SamplingOptions } from '../policy.ts'

/** More requests wait already than are let in; the same one may be let in later. */
export class QueueFullError extends GradusError {}

export interface BatchJob {
  promptTokens: TokenIds
  options: Omit<SamplingOptions, 'seed'>
  /** Samples of the prompt. */
  count: number
  /** The same seed gives the same samples but for rounding, whoever else is in the batch. */
  seed: number | string
  onToken?: (token: SampledToken) => void
}

interface Waiting {
  job: BatchJob
  /** Jobs of one key can share a batch. */
  key: string
  samples: Sample[]
  resolve(samples: Sample[]): void
  reject(error: Error): void
}

export interface BatcherOptions {
  /** Rows that are sampled together; 64 by default. */
  maxRows?: number
  /** Requests that may wait; more are refused. 1024 by default. */
  maxWaiting?: number
}

export class Batcher {
  readonly #policy: Pick<Policy, 'sample'>
  readonly #maxRows: number
  readonly #maxWaiting: number
  readonly #queue: Waiting[] = []
  #running: Promise<void> | null = null

  constructor(policy: Pick<Policy, 'sample'>, { maxRows = 64, maxWaiting = 1024 }: BatcherOptions = {}) {
    this.#policy = policy
    this.#maxRows = maxRows
    this.#maxWaiting = maxWaiting
  }

  /** Requests that wait for a batch. */
  get waiting(): number {
    return this.#queue.length
  }

  /** @throws QueueFullError when too many wait */
  assertRoom(): void {
    if (this.#queue.length >= this.#maxWaiting)
      throw new QueueFullError(`${this.#queue.length} requests wait already`, { hint: 'try again later' })
  }

  /**
   * The job's samples, as soon as its own are finished.
   * @throws QueueFullError when too many wait; what sampling throws.
   */
  async submit(job: BatchJob): Promise<Sample[]> {
    this.assertRoom()
    return new Promise((resolve, reject) => {
      const key = JSON.stringify([job.options, job.count])
      this.#queue.push({ job, key, samples: [], resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Resolves when everything that was submitted is answered. */
  async drain(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #run(): Promise<void> {
    // Requests that arrive in the same turn of the event loop share the first batch.
    await new Promise(resolve => setImmediate(resolve))
    while (this.#queue.length > 0) await this.#runBatch(this.#take())
    this.#running = null
  }

  /** The first that waits, and those behind it that can go with it. */
  #take(): Waiting[] {
    const { key, job } = this.#queue[0]
    const room = Math.max(1, Math.floor(this.#maxRows / job.count))
    const batch = this.#queue.filter(waiting => waiting.key === key).slice(0, room)
    const taken = new Set(batch)
    const left = this.#queue.filter(waiting => !taken.has(waiting))
    this.#queue.splice(0, this.#queue.length, ...left)
    return batch
  }

  async #runBatch(batch: readonly Waiting[]): Promise<void> {
    const { options, count } = batch[0].job
    const streams = batch.some(({ job }) => job.onToken)
    const onSample = (sample: Sample) => {
      const { samples, resolve } = batch[sample.prompt]
      samples[sample.index] = sample
      if (samples.filter(Boolean).length === count) resolve(samples)
    }
    const onToken = (token: SampledToken) => batch[token.prompt].job.onToken?.(token)
    try {
      await this.#policy.sample(
        {
          ...options,
          prompts: batch.map(({ job }) => job.promptTokens),
          samplesPerPrompt: count,
          promptSeeds: batch.map(({ job }) => job.seed),
        },
        onSample,
        streams ? onToken : undefined,
      )
    } catch (error) {
      for (const { reject } of batch) reject(error as Error)
    }
  }
}
