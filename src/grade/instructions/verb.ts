/** @file Whether a text starts with a verb, by the tagger of `compromise`. */

import { lazily } from './lazy.ts'
import { splitSentences } from './sentences.ts'

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
export const startsWithVerb = (text: string): boolean => {
  const [sentence] = splitSentences(text)
  if (sentence === undefined || !/^\p{L}/u.test(sentence)) return false
  const module = compromise()
  const tag = module.default ?? (module as unknown as Tagger)
  const [first] = tag(sentence.slice(0, CONTEXT_CHARACTERS)).json({ terms: true })
  const tags = first?.terms.find(term => term.text !== '')?.tags ?? []
  return tags.includes('Verb') && !tags.includes('Modal')
}
