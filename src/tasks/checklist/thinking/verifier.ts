/** @file Decides whether thinking about a trip meets criteria, by executing them. */

import type { Verdict } from '../../../rubric/criterion.ts'
import type { ThinkingVerifier, VerifierItem } from '../../thinking.ts'
import type { PackingWorld, Trip } from '../world.ts'
import { meetsThought } from './predicates.ts'

/** Exact and without cost. @throws DataError for a criterion that is no predicate of this task */
export class ThoughtVerifier implements ThinkingVerifier<Trip> {
  readonly #world: PackingWorld

  constructor(world: PackingWorld) {
    this.#world = world
  }

  async verify(items: readonly VerifierItem<Trip>[]): Promise<Verdict[][]> {
    return items.map(({ problem, response, rubric: { criteria } }) =>
      meetsThought(this.#world, problem, response, criteria).map((met, i) => ({
        criterionId: criteria[i].id,
        met,
        source: 'rule',
      })),
    )
  }
}
