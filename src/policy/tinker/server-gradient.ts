/** @file What the server's gradient holds: batches that wait for a step, or nothing that anybody knows. */

import type { Datum } from '../../rl/datum.ts'
import type { TrainingClient } from '../../tinker/index.ts'
import { ConfigError, UsageError } from '../../util/errors.ts'
import type { BatchStats, LossOptions } from '../policy.ts'
import { Batch } from './batch.ts'
import { type Normalisation, tinkerRefusal } from './losses.ts'

/** The gradient is the server's: here is known what was sent, and whether it arrived. */
export class ServerGradient {
  readonly #client: TrainingClient
  readonly #normalisation: Normalisation
  readonly #inOrder: <T>(work: () => Promise<T>) => Promise<T>
  readonly #unsupported = new Set<string>()
  /** Batches whose gradient waits for a step. */
  #pending = 0
  /** Why nobody knows what the server's gradient holds. */
  #spoilt: Error | null = null

  /** @param inOrder has work submitted after all that was submitted before it */
  constructor(
    client: TrainingClient,
    normalisation: Normalisation,
    inOrder: <T>(work: () => Promise<T>) => Promise<T>,
  ) {
    this.#client = client
    this.#normalisation = normalisation
    this.#inOrder = inOrder
  }

  get isEmpty(): boolean {
    return this.#pending === 0
  }

  /** @throws UsageError when it is not known what the gradient holds */
  assertWhole(): void {
    if (this.#spoilt)
      throw new UsageError(
        `the gradient at the server is not known any more since a batch failed (${this.#spoilt.message})`,
        { hint: 'go on from the last checkpoint with --resume' },
      )
  }

  /** See `Policy.accumulate`. */
  async accumulate(datums: readonly Datum[], options: LossOptions): Promise<BatchStats> {
    const before = this.#pending
    let isSent = false
    try {
      const { stats } = await this.#inOrder(async () => {
        this.assertWhole()
        assertTemperature(options.temperature)
        const refusal = tinkerRefusal(options.loss)
        if (refusal !== null) throw new ConfigError(`loss${refusal}`)
        this.#assertRoomForBatch()
        const batch = new Batch(datums, options, this.#normalisation)
        isSent = true
        const posted = await batch.post(this.#client, this.#unsupported)
        this.#pending++
        return posted
      })
      return await stats
    } catch (error) {
      if (isSent || before > 0) this.#spoilt ??= error as Error
      this.#pending = 0
      throw error
    }
  }

  /** @throws UsageError where the server would take the mean over this batch and the one before */
  #assertRoomForBatch(): void {
    const { sequences, requests } = this.#normalisation
    if (this.#pending > 0 && sequences === 'mean' && requests === 'together')
      throw new UsageError(
        'accumulate: expected one batch a step, because this server takes the mean of all sequences since the last step, got a second one',
        { hint: 'put the batches into one, or train on a server that sums' },
      )
  }

  /** A step uses it up. @throws UsageError when there is none */
  use(): void {
    if (this.isEmpty)
      throw new UsageError('step: expected an accumulated gradient, got none; accumulate a batch first')
    this.#pending = 0
  }

  /** The server has begun anew, from a checkpoint. */
  renew(): void {
    this.#spoilt = null
    this.#pending = 0
  }
}

/** @throws ConfigError for another temperature than the server's */
export const assertTemperature = (temperature = 1): void => {
  if (temperature !== 1)
    throw new ConfigError(
      `temperature: expected 1 with policy.kind tinker, whose server trains and scores at 1 alone, got ${temperature}`,
      { hint: 'set rollout.temperature to 1, or train with policy.kind local' },
    )
}
