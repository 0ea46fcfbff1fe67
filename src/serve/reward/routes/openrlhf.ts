/**
 * @file OpenRLHF's remote reward (`--reward.remote_url`): lists in, lists out. Shape as in its openrlhf/utils/agent.py and
 * openrlhf/cli/serve_rm.py at 3c3be623.
 */

import { z } from 'zod'
import type { RouteOf } from '../config.ts'
import { referenceAt } from '../fields.ts'
import { asMessages, nullShare, type RewardItem } from '../item.ts'
import { numericRewards, numericScores } from './null-reward.ts'
import { listLength, type RewardRoute } from './route.ts'

// Lists may be empty: with several addresses, those beyond the first get no samples of a batch of one.
const openRlhfRequest = z
  .object({
    /** Prompt and response as one text, special tokens spelt out. */
    query: z.array(z.string()),
    prompts: z.array(z.string()).optional(),
    labels: z.array(z.unknown()).optional(),
  })
  .refine(
    ({ query, prompts, labels }) => [prompts, labels].every(list => !list || list.length === query.length),
    'query, prompts and labels of the same length; send one of each for a sample',
  )
export type OpenRlhfRequest = z.output<typeof openRlhfRequest>

const openRlhfResponse = z.object({
  rewards: z.array(z.number()),
  /** Before scale and clip: what OpenRLHF's dynamic filtering looks at. */
  scores: z.array(z.number()),
  /** The same keys in every answer, as the client needs them. */
  extra_logs: z.object({ rubric_null_share: z.array(z.number()) }),
})

/** So much of a query's beginning is looked for in a prompt that was cut at the front, at so many places. */
const HEAD = 32
const MOST_PLACES = 1_000
/** Characters that are compared at all those places together: a text that repeats itself fits almost everywhere. */
const MOST_COMPARED = 20_000_000
/** So much of a prompt's end is looked for in a query, where a token at the cut was decoded differently. */
const TAIL = 200

/**
 * Where one text stands in another, or -1. A search of the language's own may compare every character of one with every
 * character of the other; this one gives up.
 */
const placeOf = (text: string, query: string): number => {
  const head = text.slice(0, HEAD)
  let compared = 0
  for (let at = query.indexOf(head); at >= 0 && compared < MOST_COMPARED; at = query.indexOf(head, at + 1)) {
    if (query.startsWith(text, at)) return at
    compared += text.length
  }
  return -1
}

/** Length of the longest end of the prompt that the query begins with; 0 for none. */
const cutPrompt = (query: string, prompt: string): number => {
  const head = query.slice(0, HEAD)
  let at = prompt.indexOf(head)
  let compared = 0
  for (let tries = 0; at >= 0 && tries < MOST_PLACES && compared < MOST_COMPARED; tries++) {
    compared += prompt.length - at
    if (query.startsWith(prompt.slice(at))) return prompt.length - at
    at = prompt.indexOf(head, at + 1)
  }
  return 0
}

/**
 * Index in a query at which the response begins: behind the prompt, also where a token stands before it or the client cut
 * it at the front to make it fit. 0 where the prompt is not found: then everything is the response.
 */
export const responseStart = (query: string, prompt: string): number => {
  if (prompt === '') return 0
  if (query.startsWith(prompt)) return prompt.length
  const whole = placeOf(prompt, query)
  if (whole >= 0) return whole + prompt.length
  const cut = cutPrompt(query, prompt)
  if (cut > 0) return cut
  const tail = prompt.slice(-TAIL)
  const at = placeOf(tail, query)
  return at >= 0 ? at + tail.length : 0
}

const isSpace = (text: string, at: number): boolean => text[at].trim() === ''

/** Takes special tokens and white space off both ends. */
export const stripTokens = (text: string, tokens: readonly string[]): string => {
  let start = 0
  let end = text.length
  // Two indices instead of a new text a token: a text may be nothing but tokens.
  for (;;) {
    while (start < end && isSpace(text, start)) start++
    while (start < end && isSpace(text, end - 1)) end--
    const before = tokens.find(token => end - start >= token.length && text.startsWith(token, start))
    if (before !== undefined) start += before.length
    const behind = tokens.find(token => end - start >= token.length && text.endsWith(token, end))
    if (behind !== undefined) end -= behind.length
    if (before === undefined && behind === undefined) return text.slice(start, end)
  }
}

const toItem = (
  { query, prompts, labels }: OpenRlhfRequest,
  index: number,
  { reference, strip }: RouteOf<'openrlhf'>,
): RewardItem => {
  const prompt = prompts?.[index] ?? ''
  const fields = { query: query[index], prompt, label: labels?.[index] }
  return {
    prompt: asMessages(prompt),
    response: stripTokens(query[index].slice(responseStart(query[index], prompt)), strip),
    reference: referenceAt(fields, reference),
    fields,
  }
}

export const openRlhfRoute = (config: RouteOf<'openrlhf'>): RewardRoute<OpenRlhfRequest> => ({
  config,
  summary: 'Rewards for OpenRLHF',
  request: openRlhfRequest,
  response: openRlhfResponse,
  count: given => listLength(given, 'query'),
  items: body => body.query.map((_, index) => toItem(body, index, config)),
  place: index => `query[${index}]`,
  answer: (_, results) => {
    const rewards = numericRewards(results, config.onNull)
    return {
      rewards,
      scores: numericScores(results, rewards),
      extra_logs: { rubric_null_share: results.map(nullShare) },
    }
  },
})
