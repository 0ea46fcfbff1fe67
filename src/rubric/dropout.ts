/**
 * @file Rubric dropout: criteria left out of the reward at random, so that no fixed rubric is there to be gamed (arXiv 2608.11669).
 *
 * From the paper: a fixed part of the positive criteria is left out, at least three stay; one draw for each question and step, which
 * all rollouts of the group share; what is left is divided by its own points; evaluation goes by the whole rubric. Criteria may be
 * protected. Ours, where what is public of it is silent: the number left out is rounded down, and penalties always stay.
 */

import { z } from 'zod'
import { Rng } from '../util/rng.ts'
import type { Criterion, Rubric } from './criterion.ts'

/** Settings of rubric dropout, the same in every recipe; a recipe without them leaves nothing out. */
export const rubricDropoutSchema = z.strictObject({
  rate: z
    .number()
    .gt(0)
    .lt(1)
    .describe(
      'Share of the criteria with points above zero that is left out, rounded down (paper: 0.3 to 0.5).',
    ),
  per: z
    .enum(['step', 'question'])
    .default('step')
    .describe(
      'When criteria are drawn: anew in every step (`step`, as in the paper), or once for a question (`question`, for comparison).',
    ),
  keepAtLeast: z
    .int()
    .positive()
    .default(3)
    .describe('Fewest criteria with points above zero that stay, whatever the rate.'),
  protect: z
    .array(z.string().min(1))
    .default([])
    .describe('Ids of criteria that are never left out; those marked `critical` never are.'),
  ask: z
    .enum(['all', 'kept'])
    .default('all')
    .describe(
      'Which criteria graders are asked about: `all`, so that rows have every verdict, or only those `kept`, which saves calls.',
    ),
})

export type RubricDropout = z.output<typeof rubricDropoutSchema>

/** What decides a draw. Nothing else does: a resumed run leaves out the same. */
export interface DropoutDraw {
  seed: number | string
  step: number
  /** Names the question within its run. */
  question: string
}

type Droppable = Pick<Criterion, 'id' | 'points' | 'critical'>

/** Products such as .29 * 100 fall short of the whole number that they mean. */
const ROUNDING = 1e-9

/** How many of a rubric's criteria a rate leaves out. @param positive criteria with points above zero. @param free those that may go */
export const leftOutCount = (
  { rate, keepAtLeast }: Pick<RubricDropout, 'rate' | 'keepAtLeast'>,
  positive: number,
  free: number,
): number => Math.max(0, Math.min(Math.floor(rate * free + ROUNDING), positive - keepAtLeast))

/**
 * Which criteria a question's reward leaves out in a step, by place: criteria of several rubrics may share ids. Penalties, critical
 * and protected criteria stay.
 */
export const leftOutPlaces = (
  criteria: readonly Droppable[],
  dropout: Pick<RubricDropout, 'rate' | 'per' | 'keepAtLeast' | 'protect'>,
  { seed, step, question }: DropoutDraw,
): ReadonlySet<number> => {
  const positive = criteria.flatMap(({ points }, i) => (points > 0 ? [i] : []))
  const free = positive.filter(i => !criteria[i].critical && !dropout.protect.includes(criteria[i].id))
  const count = leftOutCount(dropout, positive.length, free.length)
  if (count === 0) return new Set()
  const when = dropout.per === 'step' ? `step ${step}` : 'all steps'
  return new Set(new Rng(`rubric dropout/${seed}/${when}/${question}`).sample(free, count))
}

/** Ids of the criteria of one rubric that a question's reward leaves out in a step. */
export const leftOutIds = (
  { criteria }: Pick<Rubric, 'criteria'>,
  dropout: RubricDropout,
  draw: DropoutDraw,
): ReadonlySet<string> => new Set([...leftOutPlaces(criteria, dropout, draw)].map(i => criteria[i].id))

/** A rubric without some of its criteria; what is left has no tree, whose weights are those of the whole. */
export const withoutCriteria = ({ tree: _, ...rubric }: Rubric, ids: ReadonlySet<string>): Rubric => ({
  ...rubric,
  criteria: rubric.criteria.filter(({ id }) => !ids.has(id)),
})

/** What was left out of the rewards of a step: shares of all criteria, and of all positive points. */
export interface LeftOutShares {
  criteria: number
  points: number
}

/** @param rubrics of the step's questions, each with what is left out. @returns null without any criterion */
export const leftOutShares = (
  rubrics: readonly { criteria: readonly Pick<Criterion, 'points'>[]; places: ReadonlySet<number> }[],
): LeftOutShares | null => {
  const sums = { criteria: 0, points: 0, leftCriteria: 0, leftPoints: 0 }
  for (const { criteria, places } of rubrics)
    for (const [i, { points }] of criteria.entries()) {
      const worth = Math.max(0, points)
      sums.criteria++
      sums.points += worth
      if (!places.has(i)) continue
      sums.leftCriteria++
      sums.leftPoints += worth
    }
  if (sums.criteria === 0) return null
  return {
    criteria: sums.leftCriteria / sums.criteria,
    points: sums.points > 0 ? sums.leftPoints / sums.points : 0,
  }
}
