/** @file Instructions about language, capital letters and commas (IFEval). */

import { z } from 'zod'
import { countSchema, holds, instruction, relation } from './definition.ts'
import { isInLanguage, LANGUAGES } from './language.ts'
import { isLower, isUpper } from './text.ts'
import { tokenize } from './tokens.ts'

export const caseInstructions = [
  /** `language:response_language` {language}: the whole response is in the language (ISO 639-1 code). */
  instruction('language:response_language', { language: z.enum(LANGUAGES) }, (response, { language }) =>
    isInLanguage(response, language),
  ),

  /** `change_case:capital_word_frequency` {capital_frequency, capital_relation}: words all in capitals. */
  instruction(
    'change_case:capital_word_frequency',
    { capital_frequency: countSchema, capital_relation: relation },
    (response, { capital_frequency, capital_relation }) =>
      holds(tokenize(response).filter(isUpper).length, capital_relation, capital_frequency),
  ),

  /** `change_case:english_capital`: English, all in capitals. */
  instruction(
    'change_case:english_capital',
    {},
    // In lower case, because capitals are rare in what language detectors learned from.
    response => isUpper(response) && isInLanguage(response.toLowerCase(), 'en'),
  ),

  /** `change_case:english_lowercase`: English, no capitals. */
  instruction(
    'change_case:english_lowercase',
    {},
    response => isLower(response) && isInLanguage(response, 'en'),
  ),

  /** `punctuation:no_comma`: no ASCII comma. */
  instruction('punctuation:no_comma', {}, response => !response.includes(',')),
]
