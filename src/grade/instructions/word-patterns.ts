/** @file Instructions about what words are made of and how they follow each other (IFBench, group `words`), and sentences (group `sentence`). */

import { syllable } from 'syllable'
import { countEach } from '../../util/descriptive.ts'
import { lazily } from '../../util/lazily.ts'
import { countSchema, instruction, phrase, position } from './definition.ts'
import { hasWholeWord } from './keywords.ts'
import { splitSentences } from './sentences.ts'
import {
  firstCharacter,
  isBlank,
  length,
  PUNCTUATION,
  splitBlanks,
  strip,
  trimMarks,
  withoutPunctuation,
} from './text.ts'
import { tokenize, wordTokens } from './tokens.ts'

/** Words of a sentence that stand in runs of the same first letter, runs of one not counted. */
const alliterativeWords = (sentence: string): number => {
  const letters = splitBlanks(sentence.toLowerCase())
    .map(word => firstCharacter(trimMarks(word, 'start')))
    .filter(letter => letter !== '')
  return letters.filter((letter, index) => letter === letters[index - 1] || letter === letters[index + 1])
    .length
}

const isIncreasing = (numbers: readonly number[]): boolean =>
  numbers.slice(1).every((number, index) => number > numbers[index])

export const sentenceInstructions = [
  /** `sentence:alliteration_increment`: each sentence has more alliterating words than the one before. */
  instruction('sentence:alliteration_increment', {}, response =>
    isIncreasing(splitSentences(response).map(alliterativeWords)),
  ),

  /** `sentence:increment` {small_n}: each sentence has exactly so many words more than the one before. */
  instruction('sentence:increment', { small_n: countSchema }, (response, { small_n }) => {
    const lengths = splitSentences(response).map(sentence => splitBlanks(withoutPunctuation(sentence)).length)
    return lengths.slice(1).every((length, index) => length === lengths[index] + small_n)
  }),

  /** `sentence:keyword` {word, N}: the N-th sentence has the word, whole and in any case. */
  instruction('sentence:keyword', { word: phrase, N: position }, (response, { word, N }) =>
    hasWholeWord(splitSentences(response)[N - 1] ?? '', word),
  ),
]

interface Sentence {
  terms: { text: string; tags: string[] }[]
}
type Tagger = (text: string) => { json(options: { terms: true }): Sentence[] }

const compromise = lazily<{ default?: Tagger }>('compromise/two')

/** The beginning of the first sentence decides; more only costs time. */
const CONTEXT_CHARACTERS = 200

/**
 * Whether the first word is a verb. Modal verbs (`can`, `should`) have a tag of their own in the Penn Treebank and are not
 * counted; a text that opens with a mark (`*`, a quote) does not start with a word.
 */
const startsWithVerb = (text: string): boolean => {
  const [sentence] = splitSentences(text)
  if (sentence === undefined || !/^\p{L}/u.test(sentence)) return false
  const module = compromise()
  const tag = module.default ?? (module as unknown as Tagger)
  const [first] = tag(sentence.slice(0, CONTEXT_CHARACTERS)).json({ terms: true })
  const tags = first?.terms.find(term => term.text !== '')?.tags ?? []
  return tags.includes('Verb') && !tags.includes('Modal')
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz'
const PRIMES: ReadonlySet<number> = new Set([
  2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
])
const CONSONANT_CLUSTER = /[bcdfghjklmnpqrstvwxyz]{2}/

/** Pieces between blanks, in lower case, without punctuation. */
const bareWords = (response: string): string[] => splitBlanks(withoutPunctuation(response.toLowerCase()))

const everyPair = <T>(items: readonly T[], test: (a: T, b: T) => boolean): boolean =>
  items.slice(1).every((item, index) => test(items[index], item))

const isNextLetter = (a: string, b: string): boolean => ALPHABET[(ALPHABET.indexOf(a) + 1) % 26] === b

/** Letters follow the alphabet word by word, from any letter on, `a` after `z`. */
const runsThroughAlphabet = (response: string): boolean => {
  const letters = bareWords(response).map(firstCharacter)
  return letters.length > 0 && ALPHABET.includes(letters[0]) && everyPair(letters, isNextLetter)
}

const isPalindrome = (word: string): boolean => word === [...word].reverse().join('')

/** No word is longer; what is, is only counted so far. */
const MAX_WORD = 100

/** Syllables of a word; one with a digit in it has none. */
const syllables = (word: string): number => (/\d/.test(word) ? 0 : syllable(word.slice(0, MAX_WORD)))

/** Second word and last but one (a closing mark aside) are the keyword. */
const frames = (response: string, keyword: string): boolean => {
  const tokens = tokenize(response).map(token => token.toLowerCase())
  const endsInMark = PUNCTUATION.includes(tokens.at(-1) ?? '')
  if (tokens.length < (endsInMark ? 3 : 2)) return false
  return tokens[1] === keyword && tokens.at(endsInMark ? -3 : -2) === keyword
}

export const wordInstructions = [
  /** `words:alphabet`: each word starts with the letter after the one before, `a` after `z`. */
  instruction('words:alphabet', {}, runsThroughAlphabet),

  /** `words:vowel`: one paragraph, at most three of the five vowels. */
  instruction('words:vowel', {}, response => {
    const text = strip(response)
    return !text.includes('\n') && new Set(text.toLowerCase().match(/[aeiou]/g)).size <= 3
  }),

  /** `words:consonants`: every word has two consonants in a row. */
  instruction('words:consonants', {}, response =>
    splitBlanks(response.toLowerCase()).every(word => CONSONANT_CLUSTER.test(word)),
  ),

  /** `words:palindrome`: at least ten palindromes of at least five characters. */
  instruction(
    'words:palindrome',
    {},
    response => bareWords(response).filter(word => length(word) >= 5 && isPalindrome(word)).length >= 10,
  ),

  /** `words:prime_lengths`: every word, punctuation taken out, has a prime number of characters (below 100). */
  instruction('words:prime_lengths', {}, response =>
    bareWords(response).every(word => PRIMES.has(length(word))),
  ),

  /** `words:repeats` {small_n}: no word more than so many times. */
  instruction('words:repeats', { small_n: countSchema }, (response, { small_n }) =>
    [...countEach(bareWords(response)).values()].every(n => n <= small_n),
  ),

  /** `words:no_consecutive`: no two words in a row start with the same letter. */
  instruction('words:no_consecutive', {}, response =>
    everyPair(bareWords(response).map(firstCharacter), (a, b) => a !== b),
  ),

  /** `words:odd_even_syllables`: words of odd and even numbers of syllables take turns. */
  instruction('words:odd_even_syllables', {}, response =>
    everyPair(
      bareWords(response).map(word => syllables(word) % 2),
      (a, b) => a !== b,
    ),
  ),

  /** `words:start_verb`: the first word is a verb. */
  instruction('words:start_verb', {}, startsWithVerb),

  /** `words:last_first`: the last word of each sentence is the first of the next. */
  instruction('words:last_first', {}, response =>
    everyPair(splitSentences(response), (a, b) => {
      const last = splitBlanks(trimMarks(a, 'end')).at(-1)
      const first = splitBlanks(trimMarks(b, 'start'))[0]
      return last !== undefined && last.toLowerCase() === first?.toLowerCase()
    }),
  ),

  /** `words:paragraph_last_first`: each line ends with the word it started with. */
  instruction('words:paragraph_last_first', {}, response =>
    response
      .split('\n')
      .filter(line => !isBlank(line))
      .map(line => splitBlanks(trimMarks(strip(line).toLowerCase())))
      .every(line => line[0] === line.at(-1)),
  ),

  /** `words:keywords_specific_position` {keyword, n, m}: the m-th word of the n-th sentence, in any case. */
  instruction(
    'words:keywords_specific_position',
    { keyword: phrase, n: position, m: position },
    (response, { keyword, n, m }) => {
      const sentence = splitSentences(response)[n - 1]
      const word = sentence === undefined ? undefined : wordTokens(sentence)[m - 1]
      return word?.toLowerCase() === strip(keyword).toLowerCase()
    },
  ),

  /** `words:words_position` {keyword}: the second and the last but one word, in any case. */
  instruction('words:words_position', { keyword: phrase }, (response, { keyword }) =>
    frames(response, strip(keyword).toLowerCase()),
  ),
]
