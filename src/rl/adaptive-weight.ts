/** @file A fusion weight that follows how far one reward goes with another within groups. */

import { z } from 'zod'
import { CheckpointError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { amount, fraction, positive } from '../util/setting-shapes.ts'

export const adaptiveWeightSchema = z.strictObject({
  floor: fraction.default(0).describe('Smallest weight.'),
  ceiling: fraction.default(1).describe('Largest weight.'),
  full: z
    .number()
    .gt(0)
    .max(1)
    .default(0.3)
    .describe('Correlation at which the weight is largest; below it the weight is in proportion.'),
  halfLife: positive.default(10).describe('Half-life of the measurements, in steps.'),
  patience: amount
    .default(64)
    .describe(
      'Number of groups in which both rewards vary after which the measured weight counts as much as the starting one.',
    ),
})
export type AdaptiveWeightSettings = z.output<typeof adaptiveWeightSchema>

/** Pairs of the two rewards of a group's rollouts. */
export type RewardPairs = readonly (readonly [thinking: number, response: number])[]

/** Sums over groups, of deviations from the group's means, and groups in which both rewards vary; fading with the steps. */
const evidenceSchema = z.strictObject({
  thinkingThinking: z.number(),
  thinkingResponse: z.number(),
  responseResponse: z.number(),
  groups: z.number(),
})
type Evidence = z.output<typeof evidenceSchema>

const NOTHING: Evidence = { thinkingThinking: 0, thinkingResponse: 0, responseResponse: 0, groups: 0 }

const evidenceOf = (groups: readonly RewardPairs[]): Evidence => {
  const sums = { ...NOTHING }
  for (const group of groups) {
    const n = group.length
    const meanThinking = group.reduce((sum, [t]) => sum + t, 0) / n
    const meanResponse = group.reduce((sum, [, r]) => sum + r, 0) / n
    let tt = 0
    let tr = 0
    let rr = 0
    for (const [t, r] of group) {
      tt += (t - meanThinking) ** 2
      tr += (t - meanThinking) * (r - meanResponse)
      rr += (r - meanResponse) ** 2
    }
    if (!(tt > TINY && rr > TINY)) continue
    sums.thinkingThinking += tt
    sums.thinkingResponse += tr
    sums.responseResponse += rr
    sums.groups += 1
  }
  return sums
}

/** Groups whose spread is below this have none: what is left is rounding. */
const TINY = 1e-12

const correlationOf = ({ thinkingThinking, thinkingResponse, responseResponse }: Evidence): number | null =>
  thinkingThinking > 0 && responseResponse > 0
    ? thinkingResponse / Math.sqrt(thinkingThinking * responseResponse)
    : null

/**
 * Correlation of the two rewards within groups, pooled: between groups questions differ, and an easy question makes both high
 * whatever thinking is worth. Null where no group varies in both.
 */
export const withinGroupCorrelation = (groups: readonly RewardPairs[]): number | null =>
  correlationOf(evidenceOf(groups))

/**
 * The weight of thinking as a state that lives across steps. A group-relative advantage sees only what differs within a group;
 * there thinking that goes with the response is a second, denser measurement of what makes the response good, and thinking that
 * does not go with it is noise, or a way to be paid for something else, in proportion to its weight. So the weight is the
 * pooled within-group correlation of recent steps over the one that earns the whole weight, and never for a negative one.
 * It begins where the configuration says and moves with the evidence: after `patience` groups half of it is measured.
 */
export class AdaptiveWeight {
  readonly #settings: AdaptiveWeightSettings
  readonly #start: number
  #evidence: Evidence = NOTHING

  constructor(start: number, settings: AdaptiveWeightSettings) {
    this.#start = start
    this.#settings = settings
  }

  /** The weight as it stands. */
  get alpha(): number {
    const { floor, ceiling, full, patience } = this.#settings
    const clamp = (value: number) => Math.min(ceiling, Math.max(floor, value))
    const correlation = correlationOf(this.#evidence)
    if (correlation === null) return clamp(this.#start)
    const measured = floor + (ceiling - floor) * Math.min(1, Math.max(0, correlation) / full)
    const trust = this.#evidence.groups / (this.#evidence.groups + patience)
    return clamp(trust * measured + (1 - trust) * this.#start)
  }

  /** Adds a step's groups; what came before fades. */
  observe(groups: readonly RewardPairs[]): void {
    const fading = 0.5 ** (1 / this.#settings.halfLife)
    const now = evidenceOf(groups)
    const before = this.#evidence
    this.#evidence = {
      thinkingThinking: fading * before.thinkingThinking + now.thinkingThinking,
      thinkingResponse: fading * before.thinkingResponse + now.thinkingResponse,
      responseResponse: fading * before.responseResponse + now.responseResponse,
      groups: fading * before.groups + now.groups,
    }
  }

  save(): unknown {
    return { ...this.#evidence }
  }

  /** @throws CheckpointError for something else than `save` gives: the weight would stay at its start for good */
  load(value: unknown): void {
    this.#evidence = parseWith(evidenceSchema, value, "recipe's state: adaptive weight", CheckpointError)
  }
}
