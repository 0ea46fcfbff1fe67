/** @file Instructions that count: words, names, numbers, pronouns (IFBench, group `count`), and about proportions (group `ratio`). */

import { countSchema, holds, instruction, percentage, phrase, position, relation } from './definition.ts'
import { splitSentences } from './sentences.ts'
import { STOP_WORDS } from './stop-words.ts'
import {
  BLANK,
  isBlank,
  length,
  occurrences,
  splitBlanks,
  strip,
  trimMarks,
  withoutPunctuation,
  words,
} from './text.ts'
import { tokenize } from './tokens.ts'

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

const list = (text: string): string[] => text.split(/\s+/)

const CONJUNCTIONS: ReadonlySet<string> = new Set(list('and but for nor or so yet'))

/** The fifty names that the instruction lists. */
const PERSON_NAMES =
  list(`Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander
  Amelia Benjamin Harper Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob Scarlett Nathan
  Victoria Elijah Layla Nicholas Audrey David Hannah Christopher Penelope Thomas Nora Andrew Aria Joseph Claire Ryan
  Stella Jonathan`)

/** Personal, possessive, reflexive, demonstrative, interrogative and indefinite pronouns, possessive determiners too. */
const PRONOUNS: ReadonlySet<string> = new Set(
  list(`i me we us you he him she her it they them my mine our ours your yours his hers its their theirs myself ourselves
  yourself yourselves himself herself itself themselves this that these those who whom whose which what whoever whomever
  whatever whichever anybody anyone anything everybody everyone everything nobody nothing somebody someone something each
  either neither both all some any none`),
)

const JAPANESE = /[\u3040-\u30ff\u4e00-\u9fff]/

/** How often the five keywords of `count:keywords_multiple` are asked for. */
const TIMES = [1, 2, 3, 5, 7]

/** `.`, `,`, `!`, `?`, `;` and `:` outside one interrobang (`?!`, `!?` or `‽`), which is there, too. */
const coversPunctuation = (text: string): boolean => {
  const interrobang = ['?!', '!?', '‽'].find(mark => text.includes(mark))
  if (interrobang === undefined) return false
  const rest = text.replace(interrobang, '')
  return [...'.,!?;:'].every(mark => rest.includes(mark))
}

export const countInstructions = [
  /** `count:word_count_range` {min_words, max_words}: runs of word characters, both limits included. */
  instruction(
    'count:word_count_range',
    { min_words: countSchema, max_words: countSchema },
    (response, { min_words, max_words }) => {
      const n = words(response).length
      return min_words <= n && n <= max_words
    },
  ),

  /** `count:unique_word_count` {N}: at least N different pieces between blanks, marks around them and case ignored. */
  instruction('count:unique_word_count', { N: countSchema }, (response, { N }) => {
    const unique = new Set(splitBlanks(response.toLowerCase()).map(word => trimMarks(word)))
    return unique.size >= N
  }),

  /**
   * `count:conjunctions` {small_n}: at least so many different coordinating conjunctions. The public code takes `And`,
   * `and` and `and,` for different ones; so do we, for values that compare.
   */
  instruction('count:conjunctions', { small_n: countSchema }, (response, { small_n }) => {
    const found = splitBlanks(response).filter(word => CONJUNCTIONS.has(trimMarks(word).toLowerCase()))
    return new Set(found).size >= small_n
  }),

  /** `count:person_names` {N}: at least N different names of the list, as whole words with their capital. */
  instruction('count:person_names', { N: countSchema }, (response, { N }) => {
    const present = new Set(words(response))
    return PERSON_NAMES.filter(name => present.has(name)).length >= N
  }),

  /** `count:numbers` {N}: exactly N runs of digits, punctuation taken out first (`3.14` and `100,000` are one each). */
  instruction(
    'count:numbers',
    { N: countSchema },
    (response, { N }) => (withoutPunctuation(response).match(/\p{Nd}+/gu)?.length ?? 0) === N,
  ),

  /** `count:punctuation`: every standard mark, and an interrobang besides. */
  instruction('count:punctuation', {}, coversPunctuation),

  /** `count:pronouns` {N}: at least N pronouns; `she/her` counts as two. */
  instruction(
    'count:pronouns',
    { N: countSchema },
    (response, { N }) =>
      tokenize(response.toLowerCase().replaceAll('/', ' ')).filter(token => PRONOUNS.has(token)).length >= N,
  ),

  /** `count:words_japanese` {N}: every N-th piece between blanks has Japanese characters, unless it is marks or digits. */
  instruction('count:words_japanese', { N: position }, (response, { N }) =>
    splitBlanks(response)
      .filter((_, index) => (index + 1) % N === 0)
      .map(word => trimMarks(word))
      .every(word => word === '' || /^\p{N}+$/u.test(word) || JAPANESE.test(word)),
  ),

  /** `count:keywords_multiple` {keyword1..keyword5}: 1, 2, 3, 5 and 7 times, in any case, also inside words. */
  instruction(
    'count:keywords_multiple',
    { keyword1: phrase, keyword2: phrase, keyword3: phrase, keyword4: phrase, keyword5: phrase },
    (response, { keyword1, keyword2, keyword3, keyword4, keyword5 }) => {
      const text = response.toLowerCase()
      return [keyword1, keyword2, keyword3, keyword4, keyword5].every(
        (keyword, index) => occurrences(text, strip(keyword).toLowerCase()) === TIMES[index],
      )
    },
  ),
]

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
