/** @file Instructions to repeat a text (IFBench, group `repeat`). */

import { countSchema, instruction, phrase } from './definition.ts'
import { splitBlanks, strip } from './text.ts'

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
