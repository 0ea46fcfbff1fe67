/** @file A policy for tests of the loop: samples what it is told, notes what it is asked, computes nothing. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  BatchStats,
  LogprobOptions,
  LossOptions,
  Policy,
  Sample,
  SampleRequest,
  ScoreItem,
  StepOptions,
  StepStats,
} from '../policy/policy.ts'
import type { UpdateOptions, UpdateStats } from '../policy/update.ts'
import type { Datum } from '../rl/datum.ts'
import type { LossSpec } from '../rl/loss.ts'

/** Response tokens of a sample by prompt and index. */
export type Respond = (prompt: number, index: number) => readonly number[]

const STATS = {
  loss: 0.5,
  parts: { policy: 0.5, kl: 0.25, entropy: 0, value: 0, crossEntropy: 0 },
  gradNorm: 2,
  clipFraction: 0,
  entropy: 1.5,
  oldKl: 0,
  maxLogprobDifference: 1e-5,
  meanLogprobDifference: 1e-6,
  maxRatio: 1,
  minRatio: 1,
  tokens: 4,
  microBatches: 1,
} satisfies UpdateStats

/** One batch with the step that followed it. */
export interface UpdateCall {
  datums: readonly Datum[]
  options: UpdateOptions
}

export class FakePolicy implements Policy {
  /** Everything that was asked, in order. */
  readonly calls: string[] = []
  readonly sampled: SampleRequest[] = []
  readonly updates: UpdateCall[] = []
  readonly scored: { items: readonly ScoreItem[]; options?: LogprobOptions }[] = []
  /** Milliseconds between one sample and the next. */
  readonly #paceMs: number
  readonly #respond: Respond
  #accumulated: { datums: readonly Datum[]; options: LossOptions } | null = null

  constructor(respond: Respond = (prompt, index) => [10 + prompt, 20 + index], paceMs = 0) {
    this.#respond = respond
    this.#paceMs = paceMs
  }

  /** Finishes samples one by one, the last ones first, and returns them in order. */
  async sample(request: SampleRequest, onSample?: (sample: Sample) => void): Promise<Sample[]> {
    this.calls.push('sample')
    this.sampled.push(request)
    const samples = request.prompts.flatMap((_, prompt) =>
      Array.from({ length: request.samplesPerPrompt ?? 1 }, (_, index) => this.#sample(prompt, index)),
    )
    for (const sample of [...samples].reverse()) {
      if (this.#paceMs > 0) await new Promise(resolve => setTimeout(resolve, this.#paceMs))
      onSample?.(sample)
    }
    return samples
  }

  #sample(prompt: number, index: number): Sample {
    const tokens = Int32Array.from(this.#respond(prompt, index))
    return {
      prompt,
      index,
      tokens,
      logprobs: new Float32Array(tokens.length).fill(-0.5),
      finishReason: tokens.length > 2 ? 'length' : 'stop',
    }
  }

  /** The log-prob of every token is minus the token, so that a test sees whose it is. */
  async score(items: readonly ScoreItem[], options?: LogprobOptions) {
    this.calls.push('score')
    this.scored.push({ items, options })
    return items.map(({ tokens }) => ({
      logprobs: Float32Array.from(tokens, token => -token),
      entropies: new Float32Array(tokens.length),
    }))
  }

  refuses(_loss: LossSpec): string | null {
    return null
  }

  async accumulate(datums: readonly Datum[], options: LossOptions): Promise<BatchStats> {
    this.#accumulated = { datums, options }
    const { gradNorm: _, ...stats } = STATS
    return { ...stats, maxLogprobDifference: (this.updates.length + 1) * 1e-5 }
  }

  async step(optimizer: StepOptions): Promise<StepStats> {
    if (!this.#accumulated) throw new Error('nothing is accumulated')
    const { datums, options } = this.#accumulated
    this.#accumulated = null
    this.calls.push('update')
    this.updates.push({ datums, options: { ...options, optimizer } })
    const against = optimizer.gradient?.against ?? []
    return {
      gradNorm: STATS.gradNorm,
      ...(optimizer.gradient && { gradientCosines: Object.fromEntries(against.map(name => [name, 0.5])) }),
    }
  }

  async freezeReference(): Promise<void> {
    this.calls.push('freezeReference')
  }

  async save(folder: string): Promise<void> {
    this.calls.push('save')
    writeFileSync(join(folder, 'model.txt'), `after ${this.updates.length} updates`)
  }

  async load(): Promise<void> {
    this.calls.push('load')
  }

  async close(): Promise<void> {
    this.calls.push('close')
  }
}
