/** @file The rule `coin`: a verdict that has nothing to do with the response, for rubrics spoilt on purpose (RuscaRL Table 14). */

import { z } from 'zod'
import { Rng } from '../../util/rng.ts'
import { defineRule } from './rule.ts'

export const COIN_RULES = [
  defineRule({
    name: 'coin',
    about:
      'Falls like a coin, the same way for the same response: the verdict of a criterion too vague to judge.',
    params: {
      seed: z.string(),
      probability: z.number().min(0).max(1).default(0.5),
    },
    compile:
      ({ seed, probability }) =>
      text =>
        new Rng(`${seed}/${text}`).next() < probability,
  }),
]
