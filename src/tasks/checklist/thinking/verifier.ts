/** @file Decides whether thinking about a trip meets criteria, by executing them. */

import type { ThinkingVerifier } from '../../thinking.ts'
import type { PackingWorld, Trip } from '../world.ts'
import { meetsThought } from './predicates.ts'

/** Exact and without cost. @throws DataError for a criterion that is no predicate of this task */
export const thoughtVerifier = (world: PackingWorld): ThinkingVerifier<Trip> => ({
  verify: async items =>
    items.map(({ problem, response, rubric: { criteria } }) =>
      meetsThought(world, problem, response, criteria).map((met, i) => ({
        criterionId: criteria[i].id,
        met,
        source: 'rule',
      })),
    ),
})
