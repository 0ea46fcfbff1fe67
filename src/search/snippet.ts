/** @file The part of a passage that says most about a query. */

import { type PlacedTerm, placedTerms } from './terms.ts'

/** Most characters of a snippet where nothing else is asked for. */
export const SNIPPET_CHARS = 400

interface Window {
  first: PlacedTerm
  last: PlacedTerm
  worth: number
}

/** The stretch of hits within so many characters whose different terms are worth most; the earliest of the best. */
const bestWindow = (
  hits: readonly PlacedTerm[],
  worthOf: (term: string) => number,
  maxChars: number,
): Window | null => {
  let best: Window | null = null
  for (const [from, first] of hits.entries()) {
    const seen = new Set<string>()
    let worth = 0
    let last = first
    for (let at = from; at < hits.length && hits[at].end - first.start <= maxChars; at++) {
      last = hits[at]
      if (seen.has(last.term)) continue
      seen.add(last.term)
      worth += worthOf(last.term)
    }
    if (best === null || worth > best.worth) best = { first, last, worth }
  }
  return best
}

const isBlank = (char: string | undefined): boolean => char !== undefined && /\s/.test(char)

/** A place not inside a word, at `at` or up to 40 characters further in the direction of `step`. */
const betweenWords = (text: string, at: number, step: 1 | -1): number => {
  for (let place = at, tried = 0; tried < 40; place += step, tried++) {
    if (place <= 0 || place >= text.length) return Math.min(Math.max(place, 0), text.length)
    if (isBlank(text[place]) || isBlank(text[place - 1])) return place
  }
  const splitsPair = /[\udc00-\udfff]/.test(text[at] ?? '')
  return splitsPair ? at + step : at
}

/**
 * At most `maxChars` characters of a passage, marks of omission apart: the window with the query's most telling terms.
 * @param terms of the query
 * @param worthOf how telling a term is
 */
export const snippetOf = (
  passage: string,
  terms: readonly string[],
  worthOf: (term: string) => number,
  maxChars = SNIPPET_CHARS,
): string => {
  if (passage.length <= maxChars) return passage
  const wanted = new Set(terms)
  const hits = placedTerms(passage).filter(({ term }) => wanted.has(term))
  const window = bestWindow(hits, worthOf, maxChars)
  const spare = window === null ? 0 : maxChars - (window.last.end - window.first.start)
  // The words before the first hit are shorter than those behind: a sentence explains itself towards its end.
  const ideal = window === null ? 0 : window.first.start - Math.floor(spare / 3)
  const from = Math.max(0, Math.min(ideal, passage.length - maxChars))
  const start = from === 0 ? 0 : betweenWords(passage, from, 1)
  const end =
    start + maxChars >= passage.length ? passage.length : betweenWords(passage, start + maxChars, -1)
  const middle = passage.slice(start, end).trim()
  return `${start > 0 ? '… ' : ''}${middle}${end < passage.length ? ' …' : ''}`
}
