/** @file Finds the answer in a response. */

import { phraseRows } from '../../util/words.ts'
import type { LogicLabel } from './problem.ts'

/** Labels by the words for them (PrOntoQA's word lists; FOLIO's two names for unknown). */
export const LABEL_WORDS: Readonly<Record<string, LogicLabel>> = Object.fromEntries(
  phraseRows(`
True | true | t | yes | y | correct | right
False | false | f | no | n | incorrect | wrong
Unknown | unknown | uncertain | undetermined | cannot be determined
`).flatMap(([label, ...words]) => words.map(word => [word, label as LogicLabel])),
)

const LABEL = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?:${Object.keys(LABEL_WORDS)
    .sort((a, b) => b.length - a.length)
    .map(word => word.replaceAll(' ', '\\s+'))
    .join('|')})(?![\\p{L}\\p{N}_])`,
  'iu',
)

/** The first label word in a text, or null. */
export const labelIn = (text: string): LogicLabel | null => {
  const found = LABEL.exec(text)?.[0]
  return found === undefined ? null : LABEL_WORDS[found.toLowerCase().replace(/\s+/g, ' ')]
}

export interface ExtractedAnswer {
  label: LogicLabel | null
  /** How many `<answer>` tags the response opens. */
  count: number
  /** The last answer's opening tag to the end of its closing tag (or of the text), as offsets; null without one. */
  span: [start: number, end: number] | null
}

/**
 * The label in the last `<answer>`; an answer that is never closed reaches to the end of the text.
 * @example
 * extractLabel('So it follows. <answer>True</answer>').label // 'True'
 */
export const extractLabel = (response: string): ExtractedAnswer => {
  const openings = [...response.matchAll(/<answer>/gi)]
  const last = openings.at(-1)
  if (!last) return { label: null, count: 0, span: null }
  const from = last.index + last[0].length
  const rest = response.slice(from)
  const closing = /<\/answer>/i.exec(rest)
  const end = closing ? from + closing.index + closing[0].length : response.length
  return {
    label: labelIn(closing ? rest.slice(0, closing.index) : rest),
    count: openings.length,
    span: [last.index, end],
  }
}
