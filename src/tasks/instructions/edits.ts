/** @file Edits by rule that make an answer follow an instruction; whether it then does is decided by the instruction's own rule. */

import { capitalised } from '../../util/format.ts'
import type { Rng } from '../../util/rng.ts'
import { phrasesIn } from '../../util/words.ts'
import {
  evenParts,
  firstSentences,
  onOneLine,
  roughSentences,
  withinWords,
  withoutSentencesOf,
  wordCount,
} from './text.ts'

/** What an edit knows beside the answer. */
export interface EditContext {
  kwargs: Readonly<Record<string, unknown>>
  rng: Rng
  /** What the request is about, in a few words. */
  subject: string
  /** Another answer to the same request. */
  other: string
}

type Edit = (answer: string, context: EditContext) => string

const PLACEHOLDERS = phrasesIn(
  'name|date|address|place|time|phone number|email|company|your name|city|price|topic|recipient|signature',
)

/** Changes so many runs of lower-case words that begin with a longer one. @param most words of a run */
const withSomeRuns = (
  answer: string,
  count: number,
  most: number,
  rng: Rng,
  change: (run: string) => string,
): string => {
  const runs = [
    ...answer.matchAll(new RegExp(`\\b[a-z]{5,}(?: [a-z]+){0,${rng.int(most)}}\\b(?!['’-])`, 'g')),
  ]
  return rng
    .shuffle(runs)
    .slice(0, count)
    .sort((a, b) => b.index - a.index)
    .reduce(
      (text, { 0: run, index }) => text.slice(0, index) + change(run) + text.slice(index + run.length),
      answer,
    )
}

const withPlaceholders: Edit = (answer, { kwargs, rng }) => {
  const missing = (kwargs.num_placeholders as number) - (answer.match(/\[[^\][\n]+\]/g) ?? []).length
  if (missing <= 0) return answer
  if (rng.next() < 0.5) return withSomeRuns(answer, missing, 1, rng, word => `[${word}]`)
  const names = rng.shuffle(PLACEHOLDERS).slice(0, missing)
  return `${answer}\n\n${names.map(name => `[${name}]`).join('\n')}`
}

const withPostscript: Edit = (answer, { kwargs }) => {
  const last = roughSentences(answer).at(-1) ?? ''
  const before = answer.slice(0, answer.lastIndexOf(last)).trim()
  // A signature is no afterthought.
  return before === '' || wordCount(last) < 4
    ? answer
    : `${before}\n\n${kwargs.postscript_marker} ${last.trim()}`
}

const asJson: Edit = (answer, { subject, rng }) => {
  const parts = evenParts(answer, 2 + rng.int(4))
  const shapes = [{ [subject]: onOneLine(answer) }, { title: subject, text: parts }]
  return JSON.stringify(rng.pick(shapes), null, 2)
}

/** Edits by public id, in the order in which they are made: words, then form, then case, then what stands around all of it. */
export const EDITS: Readonly<Record<string, Edit>> = {
  'keywords:forbidden_words': (answer, { kwargs }) =>
    withoutSentencesOf(answer, kwargs.forbidden_words as string[]),
  'length_constraints:number_sentences': (answer, { kwargs }) =>
    kwargs.relation === 'less than' ? firstSentences(answer, (kwargs.num_sentences as number) - 1) : answer,
  'length_constraints:number_words': (answer, { kwargs }) =>
    kwargs.relation === 'less than' ? withinWords(answer, (kwargs.num_words as number) - 1) : answer,
  'punctuation:no_comma': answer => answer.replaceAll(',', ''),
  'detectable_format:number_bullet_lists': (answer, { kwargs }) =>
    evenParts(answer, kwargs.num_bullets as number)
      .map(part => `* ${part}`)
      .join('\n'),
  'detectable_format:multiple_sections': (answer, { kwargs }) =>
    evenParts(answer, kwargs.num_sections as number)
      .map((part, i) => `${kwargs.section_spliter} ${i + 1}\n${part}`)
      .join('\n\n'),
  'length_constraints:number_paragraphs': (answer, { kwargs }) =>
    evenParts(answer, kwargs.num_paragraphs as number).join('\n\n***\n\n'),
  'length_constraints:nth_paragraph_first_word': (answer, { kwargs }) => {
    const { num_paragraphs: count, nth_paragraph: nth, first_word: word } = kwargs as Record<string, never>
    const begins = new RegExp(`^${word}\\b`, 'i')
    return evenParts(answer, count)
      .map((part, i) => (i !== nth - 1 || begins.test(part) ? part : `${capitalised(word)}! ${part}`))
      .join('\n\n')
  },
  'combination:two_responses': (answer, { other }) => `${answer}\n\n******\n\n${other}`,
  'detectable_format:number_highlighted_sections': (answer, { kwargs, rng }) =>
    withSomeRuns(answer, kwargs.num_highlights as number, 4, rng, run => `*${run}*`),
  'change_case:capital_word_frequency': (answer, { kwargs, rng }) =>
    kwargs.capital_relation === 'less than'
      ? answer
      : withSomeRuns(answer, kwargs.capital_frequency as number, 1, rng, word => word.toUpperCase()),
  'detectable_format:title': (answer, { subject }) => `<<${capitalised(subject)}>>\n\n${answer}`,
  'detectable_content:number_placeholders': withPlaceholders,
  'detectable_content:postscript': withPostscript,
  'startend:end_checker': (answer, { kwargs }) => `${answer}\n\n${kwargs.end_phrase}`,
  'change_case:english_lowercase': answer => answer.toLowerCase(),
  'change_case:english_capital': answer => answer.toUpperCase(),
  'detectable_format:json_format': asJson,
  'startend:quotation': answer => `"${answer.replaceAll('"', "'")}"`,
  'combination:repeat_prompt': (answer, { kwargs }) => `${kwargs.prompt_to_repeat}\n\n${answer}`,
}
