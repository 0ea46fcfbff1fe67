/** @file What models on servers have in common: what none of them can do, and how their samples are handed out. */

import { ConfigError } from '../util/errors.ts'
import type { Sample, SampledToken, SampleRequest } from './policy.ts'

/** @throws ConfigError for what no server can do */
export const refuseUnknown = ({ automaton, topLogprobs }: SampleRequest): void => {
  const hint = 'leave it out, or sample with a checkpoint in this process (policy.kind local)'
  if (automaton)
    throw new ConfigError('a grammar: expected none with a model on a server, which holds samples to none', {
      hint,
    })
  if (topLogprobs)
    throw new ConfigError(
      `topLogprobs: expected 0 with a model on a server, of which the drawn token's log-prob alone is read, got ${topLogprobs}`,
      { hint },
    )
}

/** Hands a sample out that came as a whole: its tokens, then itself. */
export const handOut = (
  sample: Sample,
  onSample?: (sample: Sample) => void,
  onToken?: (token: SampledToken) => void,
): Sample => {
  const { prompt, index, logprobs } = sample
  for (const [t, token] of sample.tokens.entries()) onToken?.({ prompt, index, token, logprob: logprobs[t] })
  onSample?.(sample)
  return sample
}
