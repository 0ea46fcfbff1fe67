/** @file Finds out what a server makes of a batch's losses, by a model of its own that is thrown away afterwards. */

import type { TinkerDialect } from '../../tinker/index.ts'
import {
  type LoraSettings,
  TinkerError,
  type TinkerSession,
  TrainingClient,
  type WireDatum,
} from '../../tinker/index.ts'
import { responseLogprobs, wireDatum } from './data.ts'
import type { Normalisation } from './losses.ts'

/** Two tokens out of seven positions: divisors by weights, positions and sequences all show. */
const ITEM = { promptTokens: [1, 2, 3, 4, 5, 6], tokens: [7, 8] }
const POSITIONS = 7
const TOKENS = 2

/**
 * Far above any gradient, so that Adam without memory moves by gradient x (learning rate / epsilon): what a batch does to
 * the log-probs then tells its size.
 */
const EPSILON = 1e6
/** Change of a log-prob that is far above rounding, and still nearly proportional to the step. */
const WANTED_CHANGE = 0.02
/** How far a measured ratio may be from what it stands for. */
const TOLERANCE = 0.2

type Batch = { lossFn: 'importance_sampling' | 'cross_entropy'; scale: number; copies?: number }

class Probe {
  readonly #client: TrainingClient
  #step = 1e-4
  #logprobs: Float32Array = new Float32Array(TOKENS)
  /** Sum of the log-probs as they are; null before the first look. */
  #now: number | null = null
  /** What one sequence with advantages of 1 moved when that was last tried. */
  #unit = 0

  constructor(client: TrainingClient) {
    this.#client = client
  }

  #datum({ lossFn, scale }: Batch): WireDatum {
    const each = new Float32Array(TOKENS).fill(scale)
    return wireDatum(
      ITEM,
      lossFn === 'cross_entropy' ? { weights: each } : { logprobs: this.#logprobs, advantages: each },
    )
  }

  async #look(): Promise<number> {
    const output = await this.#client.forward(
      [this.#datum({ lossFn: 'cross_entropy', scale: 1 })],
      'cross_entropy',
    ).result
    const [logprobs] = responseLogprobs(output, [ITEM])
    this.#logprobs = logprobs
    return logprobs.reduce((sum, x) => sum + x, 0)
  }

  /** How far the requests, followed by a step, move the sum of the log-probs. All is under way at once: servers may have beats. */
  async #move(requests: readonly Batch[]): Promise<number> {
    const before = this.#now ?? (await this.#look())
    const computed = requests.map(batch => {
      const copies = Array.from({ length: batch.copies ?? 1 }, () => this.#datum(batch))
      return this.#client.forwardBackward(copies, batch.lossFn).result
    })
    const step = this.#client.optimStep({
      learningRate: this.#step * EPSILON,
      beta1: 0,
      beta2: 0,
      epsilon: EPSILON,
      weightDecay: 0,
      gradClipNorm: 0,
    })
    const after = this.#look()
    await Promise.all([...computed, step.result, after])
    this.#now = await after
    return this.#now - before
  }

  /** Finds a step of a size that can be measured. @throws TinkerError where no step moves anything */
  async calibrate(): Promise<void> {
    for (let attempt = 0; attempt < 6; attempt++) {
      const change = await this.#move([ONE])
      this.#unit = change
      if (change > WANTED_CHANGE / 3 && change < 3 * WANTED_CHANGE) return
      const factor = change > 0 ? WANTED_CHANGE / change : 100
      this.#step *= Math.min(Math.max(factor, 1e-3), 1e3)
    }
    throw strange('no step of the optimiser moves the log-probs by a small amount')
  }

  /** Size of a batch's gradient in units of one sequence's with advantages of 1. */
  async size(requests: readonly Batch[]): Promise<number> {
    // The step after a step is a little smaller or larger: the unit is measured on both sides.
    const before = this.#unit
    const change = await this.#move(requests)
    this.#unit = await this.#move([ONE])
    return (2 * change) / (before + this.#unit)
  }
}

const ONE: Batch = { lossFn: 'importance_sampling', scale: 1 }

const strange = (what: string): TinkerError =>
  new TinkerError('malformed', `how the server normalises losses could not be found out: ${what}`, {
    hint: 'its losses are neither sums, as the protocol says, nor means as SkyRL takes them; gradients would be others than asked for, so nothing is trained. Where its optimiser heeds the learning rate alone (SkyRL on its FSDP backend), set policy.reduction to sums',
  })

/** The candidate that a ratio stands for. @throws TinkerError where it is none */
const nearest = <T>(measured: number, candidates: readonly [number, T][], what: string): T => {
  const found = candidates.find(([value]) => Math.abs(measured / value - 1) < TOLERANCE)
  if (found) return found[1]
  const expected = candidates.map(([value]) => value).join(' or ')
  throw strange(`${what} moves the model ${measured.toFixed(3)} times as far, expected ${expected}`)
}

const measure = async (client: TrainingClient): Promise<Normalisation> => {
  const probe = new Probe(client)
  await probe.calibrate()
  const size = (...requests: Batch[]) => probe.size(requests)
  nearest(await size({ ...ONE, scale: 2 }), [[2, true]], 'an advantage of 2 in place of 1')
  const weighted = await size({ lossFn: 'cross_entropy', scale: 1 })
  const doubled = await size({ lossFn: 'cross_entropy', scale: 2 })
  const crossEntropy = nearest<Normalisation['crossEntropy']>(
    doubled / weighted,
    [
      [2, 'sum'],
      [1, 'weights'],
    ],
    'a weight of 2 in place of 1',
  )
  const divisor = crossEntropy === 'sum' ? 1 : TOKENS
  const policy = nearest<Normalisation['policy']>(
    weighted,
    [
      [1 / divisor, 'sum'],
      [POSITIONS / divisor, 'positions'],
    ],
    'cross-entropy in place of importance sampling',
  )
  const sequences = nearest<Normalisation['sequences']>(
    await size({ ...ONE, copies: 2 }),
    [
      [2, 'sum'],
      [1, 'mean'],
    ],
    'a sequence that is there twice',
  )
  const requests = nearest<Normalisation['requests']>(
    await size(ONE, ONE),
    [
      [2, 'each'],
      [1, 'together'],
    ],
    'a request that comes twice before the step',
  )
  return { crossEntropy, policy, sequences, requests }
}

/** What is found out about a server. */
export interface Found {
  normalisation: Normalisation
  /** Whether it knows a request that it is sent twice. */
  isIdempotent: boolean
}

/**
 * Trains a few steps on eight tokens, and looks at what they did.
 * @throws TinkerError for a model or a rank that the server does not have, and for losses that are neither sums nor means
 */
export const probeServer = async (
  session: TinkerSession,
  model: string,
  lora: LoraSettings,
  dialect?: TinkerDialect,
): Promise<Found> => {
  const client = await TrainingClient.create(session, model, lora, dialect)
  try {
    await client.learnRepetition([wireDatum(ITEM, { weights: [1, 1] })])
    return { normalisation: await measure(client), isIdempotent: client.isIdempotent }
  } finally {
    await client.unload().catch(() => {})
  }
}
