/** @file Samples by a sampling session: a group is one request, handed out as soon as it is there. */

import pMap from 'p-map'
import type { Tokenizer } from '../../model/tokenizer.ts'
import type { SampledSequence, SamplingClient } from '../../tinker/index.ts'
import { TinkerError } from '../../tinker/index.ts'
import { ConfigError } from '../../util/errors.ts'
import { seedNumber } from '../../util/rng.ts'
import { handOut, refuseUnknown } from '../asked-elsewhere.ts'
import type { Sample, SampledToken, SampleRequest } from '../policy.ts'
import { StopSearch } from '../stop-search.ts'

export interface SamplingParts {
  /** Groups that are asked for at a time. */
  concurrency: number
  /** What ends a sample where the request does not say. */
  stopTokens: readonly number[]
  /** Only stop strings need one. */
  tokenizer(): Tokenizer | null
}

/** Tokens up to the one that completes a stop string. */
const stopLength = (tokenizer: Tokenizer, tokens: Int32Array, stops: readonly string[]): number | null => {
  const search = new StopSearch(tokenizer, stops)
  const at = tokens.findIndex(token => search.isAt(token))
  return at < 0 ? null : at + 1
}

const tokenizerFor = ({ stopStrings }: SampleRequest, { tokenizer }: SamplingParts): Tokenizer | null => {
  if (!stopStrings?.length) return null
  const found = tokenizer()
  if (found) return found
  throw new ConfigError('stop strings need a tokenizer, and the model has none', {
    hint: "set policy.tokenizer to a folder with the model's tokenizer.json",
  })
}

/**
 * Samples in the order of the prompts, groups together; each is handed out when its group is there.
 * @throws ConfigError for grammars and alternatives; TinkerError where the server fails or gives no log-probs
 */
export const sampleGroups = async (
  client: SamplingClient,
  request: SampleRequest,
  parts: SamplingParts,
  onSample?: (sample: Sample) => void,
  onToken?: (token: SampledToken) => void,
): Promise<Sample[]> => {
  refuseUnknown(request)
  const tokenizer = tokenizerFor(request, parts)
  const { prompts, samplesPerPrompt = 1, seed = 0, promptSeeds, stopStrings = [] } = request
  const params = {
    maxTokens: request.maxTokens,
    temperature: request.temperature ?? 1,
    topP: request.topP ?? 1,
    topK: request.topK ? request.topK : -1,
    stop: request.stopTokens ?? parts.stopTokens,
  }
  const group = async (tokens: SampleRequest['prompts'][number], prompt: number): Promise<Sample[]> => {
    const name = String(promptSeeds?.[prompt] ?? `${seed}/${prompt}`)
    const own = { ...params, seed: seedNumber(name) }
    const { sequences } = await client.sample(tokens, samplesPerPrompt, own)
    if (sequences.length !== samplesPerPrompt)
      throw new TinkerError(
        'malformed',
        `asample: expected ${samplesPerPrompt} samples, got ${sequences.length}`,
      )
    return sequences.map((sequence, index) => {
      const cut = tokenizer && stopLength(tokenizer, sequence.tokens, stopStrings)
      return handOut({ prompt, index, ...sampleOf(sequence, cut) }, onSample, onToken)
    })
  }
  return (await pMap(prompts, group, { concurrency: parts.concurrency })).flat()
}

const sampleOf = (
  { tokens, logprobs, stopReason }: SampledSequence,
  cut: number | null,
): Omit<Sample, 'prompt' | 'index'> => {
  if (logprobs === null || logprobs.length !== tokens.length)
    throw new TinkerError(
      'malformed',
      `asample: expected ${tokens.length} log-probs, one a token, got ${logprobs?.length ?? 'none'}; without them nothing can be learnt`,
    )
  if (cut === null) return { tokens, logprobs, finishReason: stopReason }
  return { tokens: tokens.slice(0, cut), logprobs: logprobs.slice(0, cut), finishReason: 'stop' }
}
