/** @file Instructions about length: words, sentences, paragraphs (IFEval). */

import { countSchema, holds, instruction, phrase, position, relation } from './definition.ts'
import { splitSentences } from './sentences.ts'
import { BLANK, isBlank, splitBlanks, strip, words } from './text.ts'

const DIVIDER = new RegExp(`[${BLANK}]?\\*\\*\\*[${BLANK}]?`, 'u')

/** Paragraphs between `***`; null where one between two dividers is blank. */
const dividedParagraphs = (response: string): number | null => {
  const parts = response.split(DIVIDER)
  if (parts.slice(1, -1).some(isBlank)) return null
  return parts.filter(part => !isBlank(part)).length
}

/** First word of a paragraph: quotes before it dropped, cut at the first mark, in lower case. */
const firstWord = (paragraph: string): string =>
  splitBlanks(paragraph)[0]
    .replace(/^'+/, '')
    .replace(/^"+/, '')
    .replace(/[.,?!'"].*$/su, '')
    .toLowerCase()

export const extentInstructions = [
  /** `length_constraints:number_words` {num_words, relation}: runs of word characters; `don't` counts as two. */
  instruction(
    'length_constraints:number_words',
    { num_words: countSchema, relation },
    (response, { num_words, relation }) => holds(words(response).length, relation, num_words),
  ),

  /** `length_constraints:number_sentences` {num_sentences, relation}. */
  instruction(
    'length_constraints:number_sentences',
    { num_sentences: countSchema, relation },
    (response, { num_sentences, relation }) =>
      holds(splitSentences(response).length, relation, num_sentences),
  ),

  /** `length_constraints:number_paragraphs` {num_paragraphs}: exactly so many, divided by `***`. */
  instruction(
    'length_constraints:number_paragraphs',
    { num_paragraphs: countSchema },
    (response, { num_paragraphs }) => dividedParagraphs(response) === num_paragraphs,
  ),

  /**
   * `length_constraints:nth_paragraph_first_word` {num_paragraphs, nth_paragraph, first_word}: so many paragraphs,
   * divided by an empty line, and the n-th starts with the word, in any case.
   */
  instruction(
    'length_constraints:nth_paragraph_first_word',
    { num_paragraphs: position, nth_paragraph: position, first_word: phrase },
    (response, { num_paragraphs, nth_paragraph, first_word }) => {
      const paragraphs = response.split('\n\n')
      if (paragraphs.filter(paragraph => !isBlank(paragraph)).length !== num_paragraphs) return false
      const nth = nth_paragraph <= num_paragraphs ? strip(paragraphs[nth_paragraph - 1]) : ''
      return nth !== '' && firstWord(nth) === first_word.toLowerCase()
    },
  ),
]
