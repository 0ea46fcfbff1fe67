/** @file The rule `likelihood`: whether a response is language, by the model that a training started from. */

import { z } from 'zod'
import type { Criterion } from '../../rubric/criterion.ts'
import { defineRule } from './rule.ts'

const likelihoodRule = defineRule({
  name: 'likelihood',
  about:
    'Is no less likely than min, in mean nats a token, under the model that the training started from; known to trainings, and to `gradus eval` with that model as --against or under --adapter.',
  params: { min: z.number().max(0) },
  uses: ['startLogprob'],
  compile:
    ({ min }) =>
    (_text, { startLogprob }) =>
      startLogprob === undefined
        ? { met: null, explanation: 'no starting model has scored the response' }
        : { met: startLogprob >= min, explanation: `${startLogprob.toFixed(2)} nats a token` },
})

/** Whether any criterion asks for the likelihood under the starting model. */
export const needsStart = (criteria: readonly Criterion[]): boolean =>
  criteria.some(({ verifier }) => verifier?.kind === 'rule' && verifier.fn === likelihoodRule.name)

export const LIKELIHOOD_RULES = [likelihoodRule]
