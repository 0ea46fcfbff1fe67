/** @file What an index knows of a text: its words, without the commonest, as stems (English; other words stay as they are). */

import { stem } from 'porter2'
import { remembered } from '../util/remembered.ts'

/** The stop words of Lucene's EnglishAnalyzer, which published BM25 values leave out. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with'.split(
    ' ',
  ),
)

/** Letters and digits of any script. */
const WORD = /[\p{L}\p{N}]+/gu
/** Longer ones are no words: keys, hashes, pictures written as text. */
const MAX_WORD = 64
/** Stems that are remembered; a text has far fewer different words than words. */
const MAX_REMEMBERED = 500_000

const stemOf = remembered(stem, MAX_REMEMBERED)

/** The stem of a word as it stands in a text; null for a stop word, a single character and what is no word. */
const termOf = (word: string): string | null => {
  const lower = word.toLowerCase()
  if (lower.length < 2 || lower.length > MAX_WORD || STOP_WORDS.has(lower)) return null
  return stemOf(lower)
}

/** A term and where its word stands in the text, in UTF-16 units, end exclusive. */
export interface PlacedTerm {
  term: string
  start: number
  end: number
}

/** The terms of a text with their places, in order. */
export const placedTerms = (text: string): PlacedTerm[] => {
  const placed: PlacedTerm[] = []
  for (const match of text.matchAll(WORD)) {
    const term = termOf(match[0])
    if (term !== null) placed.push({ term, start: match.index, end: match.index + match[0].length })
  }
  return placed
}

/**
 * The terms of a text in order, as often as they stand there. Stems by Porter2 (snowballstem.org, "english").
 * @example
 * termsOf('The rivers of Paris') // [ 'river', 'pari' ]
 */
export const termsOf = (text: string): string[] => {
  const terms: string[] = []
  for (const word of text.match(WORD) ?? []) {
    const term = termOf(word)
    if (term !== null) terms.push(term)
  }
  return terms
}
