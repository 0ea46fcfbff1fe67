/** @file Datums of samples, with random advantages. */

import type { Datum, TokenIds } from '../../rl/datum.ts'
import { Rng } from '../../util/rng.ts'
import type { Sample } from '../policy.ts'

/** What samples of the prompts are learnt from; the seed draws their advantages. */
export const rolloutDatums = (
  prompts: readonly TokenIds[],
  samples: readonly Sample[],
  seed: string,
): Datum[] => {
  const rng = new Rng(seed)
  return samples.map(({ prompt, tokens, logprobs }) => ({
    promptTokens: prompts[prompt],
    tokens,
    mask: new Float32Array(tokens.length).fill(1),
    oldLogprobs: logprobs,
    advantages: new Float32Array(tokens.length).fill(rng.normal()),
  }))
}
