/** @file What is asked of sampling: which requests can be drawn, and what names their random streams. */

import { checkAutomaton } from '../../model/automaton.ts'
import type { ModelConfig } from '../../model/config.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { DataError } from '../../util/errors.ts'
import type { ConverseRequest, SampleRequest } from '../policy.ts'

/** Some samples of each prompt, where others draw the rest. */
export interface PartialSampleRequest extends SampleRequest {
  /** Index of the first of `samplesPerPrompt`; 0 by default. */
  firstSample?: number
}

/** Names the random streams of a prompt's samples. */
export const promptSeed = ({ seed = 0, promptSeeds }: SampleRequest, prompt: number): number | string =>
  promptSeeds?.[prompt] ?? `${seed}/${prompt}`

/**
 * Refuses a prompt that leaves no room for so many new tokens.
 * @param prompt what it is called in the message
 * @throws DataError
 */
export const assertRoom = (prompt: string, length: number, maxTokens: number, maxPositions: number): void => {
  if (length + maxTokens <= maxPositions) return
  throw new DataError(
    `${prompt}: ${length} tokens and ${maxTokens} new ones exceed the context of ${maxPositions}`,
    { hint: 'shorten the prompt or lower maxTokens' },
  )
}

/** @throws DataError for a token that the model does not have */
export const assertKnown = (what: string, tokens: TokenIds, vocabSize: number): void => {
  const wrong = tokens.find(token => !(token >= 0 && token < vocabSize))
  if (wrong !== undefined)
    throw new DataError(`${what}: token ${wrong} is outside the vocabulary of ${vocabSize}`, {
      hint: 'the tokenizer does not belong to this model',
    })
}

type Limits = Pick<ModelConfig, 'maxPositions' | 'vocabSize'>

const checkPrompt = (
  what: string,
  prompt: TokenIds,
  maxTokens: number,
  { maxPositions, vocabSize }: Limits,
) => {
  if (prompt.length === 0)
    throw new DataError(`${what} is empty`, { hint: 'give it at least one token, such as BOS' })
  assertRoom(what, prompt.length, maxTokens, maxPositions)
  assertKnown(what, prompt, vocabSize)
}

/** @throws DataError for what no sample can be drawn of */
export const checkSampleRequest = (request: SampleRequest, limits: Limits): void => {
  const { prompts, maxTokens, samplesPerPrompt = 1, promptSeeds, automaton } = request
  if (automaton) checkAutomaton(automaton, limits.vocabSize)
  if (automaton?.states[0].size === 0)
    throw new DataError('automaton: expected tokens that a sample may begin with, got none')
  for (const [name, count] of Object.entries({ maxTokens, samplesPerPrompt }))
    if (!(Number.isInteger(count) && count > 0))
      throw new DataError(`${name}: expected a positive whole number, got ${count}`)
  if (promptSeeds && promptSeeds.length !== prompts.length)
    throw new DataError(`promptSeeds: expected ${prompts.length}, one a prompt, got ${promptSeeds.length}`)
  prompts.forEach((prompt, i) => {
    checkPrompt(`prompt ${i}`, prompt, maxTokens, limits)
  })
}

/** @throws DataError for rows that no turn can be drawn of */
export const checkConversation = (request: ConverseRequest, limits: Limits): void => {
  checkSampleRequest({ ...request, prompts: [], maxTokens: 1 }, limits)
  request.rows.forEach(({ prompt, maxTokens }, i) => {
    checkPrompt(`row ${i}`, prompt, maxTokens, limits)
  })
}
