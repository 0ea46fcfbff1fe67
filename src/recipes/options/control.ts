/** @file Negative controls: what is paid is drawn at random, another response's, or inverted. Methods say where: `RewardFacts.control`. */

import { z } from 'zod'
import type { Rng } from '../../util/rng.ts'
import { refuse } from '../common/refuse.ts'
import type { RewardOption } from './option.ts'

/** Settings and their words are the methods'. `others`: always those of another response; `other-question` the method exchanges. */
const shape = { control: z.enum(['random', 'shuffled', 'others', 'flipped', 'other-question']).nullish() }
type Control = z.output<typeof shape.control>

/**
 * What a control makes of a value in [0, 1] (rules of scoring may leave it: inverted, such a value counts as its nearer end); what
 * nobody knows stays as it is.
 * @param rng of a name, so that the same response gets the same number and a resumed run sees no others
 */
export const controlledValue = <Value extends number | string | null>(
  control: Control,
  value: Value,
  rng: Rng,
): Value | number => {
  if (typeof value !== 'number') return value
  if (control === 'random') return rng.next()
  return control === 'flipped' ? 1 - Math.min(1, Math.max(0, value)) : value
}

/** For each response to a problem the place of the one whose values it gets. An order is drawn under every control. */
export const controlledOrder = (control: Control, responses: number, rng: Rng): number[] => {
  const places = Array.from({ length: responses }, (_, i) => i)
  const order = control === 'others' ? rng.cycle(places) : rng.shuffle(places)
  return control === 'shuffled' || control === 'others' ? order : places
}

export const control: RewardOption<typeof shape> = {
  shape,
  refuse({ control: own }, { control: where }) {
    if (own && where?.ignored)
      refuse(
        `control: expected nothing with ${where.ignored}, got "${own}"`,
        'leave it out, or set that back',
      )
  },
  plan: ({ control: own }) => (own ? [`control      ${own}`] : []),
  facts: ({ control: own }, { control: where }) =>
    own === 'random' && where?.of === 'scores'
      ? { unpaid: 'control "random", which no criterion can change' }
      : {},
  spoils: ({ control: own }) => !!own,
}
