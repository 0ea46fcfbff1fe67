/** @file Rubric dropout as an option: what a run leaves out of the reward of each question in each step. */

import { leftOutCount, leftOutPlaces, type RubricDropout, rubricDropoutSchema } from '../../rubric/dropout.ts'
import { refuse } from '../common/refuse.ts'
import type { Droppable, RewardFacts, RewardOption } from './option.ts'

const PATH = 'rubricDropout'

const shape = {
  rubricDropout: rubricDropoutSchema
    .optional()
    .describe(
      'Leave criteria with points above zero out of the reward at random; absent: none. Evaluations use the whole rubric.',
    ),
}

/** Refuses a rate that leaves nothing out, and protected criteria that there are not. */
const assertDrops = ({ rate, keepAtLeast, protect }: RubricDropout, criteria: readonly Droppable[]): void => {
  const stranger = protect.find(id => !criteria.some(own => own.id === id))
  if (stranger !== undefined)
    refuse(
      `${PATH}.protect: expected ids of criteria, got ${JSON.stringify(stranger)}`,
      `the criteria are ${criteria.map(({ id }) => id).join(', ')}`,
    )
  const positive = criteria.filter(({ points }) => points > 0)
  const free = positive.filter(({ id, critical }) => !critical && !protect.includes(id))
  if (leftOutCount({ rate, keepAtLeast }, positive.length, free.length) > 0) return
  refuse(
    `${PATH}: expected settings that leave something out, got rate ${rate} of ${free.length} criteria, at least ${keepAtLeast} of ${positive.length} to stay`,
    `raise ${PATH}.rate or lower ${PATH}.keepAtLeast`,
  )
}

const check = (dropout: RubricDropout, facts: RewardFacts): void => {
  const { per, ask, protect } = dropout
  const { unpaid, evolving, unnamed, allAsked, criteria } = facts
  if (unpaid) refuse(`${PATH}: expected nothing with ${unpaid}`, 'leave it out, or set that back')
  const wrong = [
    evolving && per === 'question' && 'per "step": the criteria of a question are other ones in every step',
    allAsked && ask === 'kept' && `ask "all": ${allAsked}`,
    unnamed && protect.length > 0 && 'nothing in protect: criteria are proposed while training',
  ].find(Boolean)
  if (wrong) refuse(`${PATH}: expected ${wrong}`, 'leave it out')
  if (criteria) assertDrops(dropout, criteria)
}

export const rubricDropout: RewardOption<typeof shape> = {
  shape,
  refuse: ({ rubricDropout: own }, facts) => own && check(own, facts),
  plan({ rubricDropout: own }) {
    if (own === undefined) return []
    const when = own.per === 'step' ? 'each question and step' : 'each question, the same in all steps'
    const asked = own.ask === 'kept' ? '; graders are asked about the others alone' : ''
    return [
      `dropout      ${Math.round(100 * own.rate)}% of the positive criteria are left out of rewards, for ${when}; at least ${own.keepAtLeast} stay${asked}`,
    ]
  },
  leavesOut: ({ rubricDropout: own }, criteria, draw) =>
    own && { places: leftOutPlaces(criteria, own, draw), asked: own.ask === 'all' },
}
