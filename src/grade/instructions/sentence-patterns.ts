/** @file Instructions about sentences and how they follow each other (IFBench, group `sentence`). */

import { countSchema, instruction, phrase, position } from './definition.ts'
import { hasWholeWord } from './keywords.ts'
import { splitSentences } from './sentences.ts'
import { firstCharacter, splitBlanks, trimMarks, withoutPunctuation } from './text.ts'

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
