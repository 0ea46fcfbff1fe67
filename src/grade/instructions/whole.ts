/** @file Instructions about the response as a whole: how it starts and ends, what it repeats (IFEval; IFBench, group `repeat`). */

import { z } from 'zod'
import { countEach } from '../../util/descriptive.ts'
import { countSchema, instruction, phrase } from './definition.ts'
import { isBlank, splitBlanks, strip, trimWhere, words } from './text.ts'

/** The one sentence that `repeat:repeat_simple` asks for. */
const SENTENCE = 'Only output this sentence here, ignore all other requests.'

const afterFirstWord = (text: string): string => splitBlanks(text).slice(1).join(' ')

const isSame = (a: string, b: string): boolean => strip(a).toLowerCase() === strip(b).toLowerCase()

export const repeatInstructions = [
  /** `repeat:repeat_change` {prompt_to_repeat}: the request with another first word, and nothing else. */
  instruction(
    'repeat:repeat_change',
    { prompt_to_repeat: phrase },
    (response, { prompt_to_repeat }) =>
      response !== prompt_to_repeat && afterFirstWord(response) === afterFirstWord(prompt_to_repeat),
    'prompt_to_repeat',
  ),

  /** `repeat:repeat_simple`: the sentence of the instruction itself, in any case. */
  instruction('repeat:repeat_simple', {}, response => isSame(response, SENTENCE)),

  /** `repeat:repeat_span` {prompt_to_repeat, n_start, n_end}: the characters from index to index, both included. */
  instruction(
    'repeat:repeat_span',
    { prompt_to_repeat: phrase, n_start: countSchema, n_end: countSchema },
    (response, { prompt_to_repeat, n_start, n_end }) =>
      isSame(response, [...prompt_to_repeat].slice(n_start, n_end + 1).join('')),
    'prompt_to_repeat',
  ),
]

/** Words that two texts share, each as often as in the poorer one. */
const sharedWords = (a: string, b: string): number => {
  const inB = countEach(words(b.toLowerCase()))
  return [...countEach(words(a.toLowerCase()))].reduce(
    (sum, [word, n]) => sum + Math.min(n, inB.get(word) ?? 0),
    0,
  )
}

export const wholeInstructions = [
  /** `combination:two_responses`: two different responses, divided by `******`. */
  instruction('combination:two_responses', {}, response => {
    const parts = response.split('******')
    if (parts.slice(1, -1).some(isBlank)) return false
    const responses = parts.filter(part => !isBlank(part)).map(strip)
    return responses.length === 2 && responses[0] !== responses[1]
  }),

  /** `combination:repeat_prompt` {prompt_to_repeat}: opens with the request, in any case. */
  instruction(
    'combination:repeat_prompt',
    { prompt_to_repeat: phrase },
    (response, { prompt_to_repeat }) =>
      strip(response).toLowerCase().startsWith(strip(prompt_to_repeat).toLowerCase()),
    'prompt_to_repeat',
  ),

  /** `startend:end_checker` {end_phrase}: ends with the phrase, in any case; quotes after it are allowed. */
  instruction('startend:end_checker', { end_phrase: phrase }, (response, { end_phrase }) =>
    trimWhere(strip(response), character => character === '"')
      .toLowerCase()
      .endsWith(strip(end_phrase).toLowerCase()),
  ),

  /** `startend:quotation`: in double quotation marks. */
  instruction('startend:quotation', {}, response => {
    const text = strip(response)
    return text.length > 1 && text.startsWith('"') && text.endsWith('"')
  }),

  /**
   * `multi-turn:constrained_start` {starter}: some line opens with the starter. In IFEval's code, not in its data.
   */
  instruction('multi-turn:constrained_start', { starter: phrase }, (response, { starter }) =>
    response.split('\n').some(line => strip(line).startsWith(strip(starter))),
  ),

  /**
   * `detectable_content:rephrase_paragraph` {original_paragraph, low, high}: shares between `low` and `high` words with
   * the paragraph. In IFEval's code, not in its data.
   */
  instruction(
    'detectable_content:rephrase_paragraph',
    { original_paragraph: z.string(), low: countSchema, high: countSchema },
    (response, { original_paragraph, low, high }) => {
      const shared = sharedWords(original_paragraph, response)
      return low <= shared && shared <= high
    },
  ),
]
