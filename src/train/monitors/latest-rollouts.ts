/** @file The rollouts of the latest step, for monitors: figures about all of them at once, rows only when a warning asks. */

import type { MetricGroup, MetricsRow, RolloutRow } from '../../runs/rows.ts'
import { mean } from '../../util/statistics.ts'
import type { Group } from '../rollout.ts'
import type { TokenAdvantages } from '../update.ts'
import { rolloutFigures } from './figures.ts'
import type { WatchedRollout } from './monitor.ts'

type Opinions = readonly (readonly (number | null)[])[]

/** What a recipe can tell of its rollouts beyond its metrics; all optional. */
export interface Witness<Problem, Grade> {
  /**
   * What a grader that training does not see says of each rollout: [problem][sample]; null where it says nothing, and for a
   * step that it is not asked about. It is asked while the update goes on.
   */
  heldOut?(groups: readonly Group<Problem, Grade>[], step: number): Opinions | null | Promise<Opinions | null>
  /** What that took since it was last asked about, where it costs: for the row's `time`. */
  heldOutFigures?(): MetricGroup
  /** Every rollout as it would be kept for reading: [problem][sample]. Without it, warnings have no rollouts. */
  rows?(
    step: number,
    groups: readonly Group<Problem, Grade>[],
    advantages: TokenAdvantages,
  ): readonly (readonly RolloutRow[])[]
}

export class LatestRollouts<Problem, Grade> {
  readonly #witness: Witness<Problem, Grade>
  #rollouts: () => WatchedRollout[] = () => []

  constructor(witness: Witness<Problem, Grade>) {
    this.#witness = witness
  }

  /** Takes in a step's rollouts; returns the figures that the monitors need of them. */
  async take(
    step: number,
    groups: readonly Group<Problem, Grade>[],
    advantages: TokenAdvantages,
  ): Promise<Omit<MetricsRow, 'step'>> {
    const opinions_P_G = await this.#witness.heldOut?.(groups, step)
    const flat = groups.flatMap(({ samples }, p) =>
      samples.map(({ tokens, logprobs }, g) => ({
        p,
        g,
        tokens,
        logprobs,
        advantage: tokens.length > 0 ? mean(advantages[p][g]) : 0,
        heldOut: opinions_P_G?.[p][g] ?? null,
      })),
    )
    this.#rollouts = () => {
      const rows_P_G = this.#witness.rows?.(step, groups, advantages)
      if (!rows_P_G) return []
      return flat.map(({ p, g, tokens, logprobs, advantage, heldOut }) => {
        const row = { ...rows_P_G[p][g], ...(heldOut !== null && { heldOut }) }
        return { row, tokens, logprobs, group: p, advantage }
      })
    }
    const opinions = flat.flatMap(({ heldOut }) => heldOut ?? [])
    const time = this.#witness.heldOutFigures?.()
    return {
      ...(time && { time }),
      ...(opinions_P_G && { heldOut: opinions.length > 0 ? mean(opinions) : null }),
      ...rolloutFigures(flat),
    }
  }

  all(): WatchedRollout[] {
    return this.#rollouts()
  }
}
