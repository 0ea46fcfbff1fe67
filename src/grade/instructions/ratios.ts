/** @file Instructions about proportions (IFBench, group `ratio`). */

import { instruction, percentage, phrase } from './definition.ts'
import { splitSentences } from './sentences.ts'
import { STOP_WORDS } from './stop-words.ts'
import { length, words } from './text.ts'

/** Sentences that end in a period, a question mark, an exclamation mark. */
const sentenceTypes = (response: string) => {
  const sentences = splitSentences(response)
  const ending = (mark: string) => sentences.filter(sentence => sentence.endsWith(mark)).length
  return { declarative: ending('.'), interrogative: ending('?'), exclamatory: ending('!') }
}

/** Every three characters in a row. */
const trigrams = (text: string): Set<string> => {
  const characters = [...text]
  return new Set(characters.slice(2).map((_, index) => characters.slice(index, index + 3).join('')))
}

export const ratioInstructions = [
  /** `ratio:stop_words` {percentage}: stop words are at most that percentage of the words. */
  instruction('ratio:stop_words', { percentage }, (response, { percentage }) => {
    const all = words(response)
    if (all.length === 0) return false
    const stop = all.filter(word => STOP_WORDS.has(word.toLowerCase())).length
    return (stop / all.length) * 100 <= percentage
  }),

  /** `ratio:sentence_type`: twice as many sentences end in a period as in a question mark. */
  instruction('ratio:sentence_type', {}, response => {
    const { declarative, interrogative } = sentenceTypes(response)
    return declarative === 2 * interrogative
  }),

  /** `ratio:sentence_balance`: as many sentences end in a period as in a question mark as in an exclamation mark. */
  instruction('ratio:sentence_balance', {}, response => {
    const { declarative, interrogative, exclamatory } = sentenceTypes(response)
    return declarative === interrogative && interrogative === exclamatory
  }),

  /** `ratio:sentence_words`: three sentences of the same number of characters. (That words differ is not checked.) */
  instruction('ratio:sentence_words', {}, response => {
    const sentences = splitSentences(response)
    return sentences.length === 3 && new Set(sentences.map(length)).size === 1
  }),

  /**
   * `ratio:overlap` {reference_text, percentage}: of the response's different character trigrams, that percentage (2 more
   * or less) occur in the reference.
   */
  instruction(
    'ratio:overlap',
    { reference_text: phrase, percentage },
    (response, { reference_text, percentage }) => {
      const own = trigrams(response)
      if (own.size === 0) return false
      const reference = trigrams(reference_text)
      const shared = [...own].filter(trigram => reference.has(trigram)).length
      return Math.abs((shared / own.size) * 100 - percentage) <= 2
    },
    'reference_text',
  ),
]
