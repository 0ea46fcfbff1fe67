/**
 * @file Demonstrations of instructions: a model's own answer to the request alone, edited until it follows them. Whether it does
 * is decided by the row's own rules.
 */

import { checkRule } from '../../grade/rules/registry.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { Rng } from '../../util/rng.ts'
import { drawRequest, type Request } from './requests.ts'
import { drawRow, type InstructionRow, SHARED_CRITERIA } from './rows.ts'

/** What an edit knows beside the answer. */
interface EditContext {
  kwargs: Readonly<Record<string, unknown>>
  rng: Rng
  /** What the request is about, in a few words. */
  subject: string
  /** Another answer to the same request. */
  other: string
}

type Band = { min: number; max: number }
type Edit = (answer: string, context: EditContext) => string

const PLACEHOLDERS = ['name', 'date', 'address', 'place', 'time', 'phone number', 'email', 'company']

const SENTENCE_END = /(?<=[.!?]["')]?)\s+/

const sentencesOf = (text: string): string[] => text.split(SENTENCE_END).filter(part => part.trim() !== '')
const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** As even as can be; fewer than `count` where there are fewer sentences. */
const partsOf = (answer: string, count: number): string[] => {
  const sentences = sentencesOf(onOneLine(answer))
  const at = (i: number) => Math.round((i * sentences.length) / count)
  return Array.from({ length: count }, (_, i) => sentences.slice(at(i), at(i + 1)).join(' ')).filter(Boolean)
}

/** The whole sentences that have at most so many words; none if the first has more. */
const withinWords = (answer: string, most: number): string => {
  let text = ''
  for (const part of answer.split(/(?<=[.!?]["')]?\s+)/)) {
    if (wordCount(`${text}${part}`) > most) break
    text += part
  }
  return text.trim()
}

/** Changes so many of the longer words, each one once. */
const withSomeWords = (answer: string, count: number, rng: Rng, change: (word: string) => string): string => {
  const words = [...new Set(answer.match(/\b[a-z]{5,}\b/g) ?? [])]
  return rng
    .shuffle(words)
    .slice(0, count)
    .reduce((text, word) => text.replace(new RegExp(`\\b${word}\\b`), change(word)), answer)
}

const withoutSentencesOf = (answer: string, words: readonly string[]): string => {
  const forbidden = new RegExp(`\\b(?:${words.join('|')})\\b`, 'i')
  return sentencesOf(answer)
    .filter(sentence => !forbidden.test(sentence))
    .join(' ')
}

/** Edits by public id, in the order in which they are made: words, then form, then case, then what stands around all of it. */
const EDITS: Readonly<Record<string, Edit>> = {
  'keywords:forbidden_words': (answer, { kwargs }) =>
    withoutSentencesOf(answer, kwargs.forbidden_words as string[]),
  'length_constraints:number_sentences': (answer, { kwargs, rng }) => {
    const { relation, num_sentences: n } = kwargs as { relation: string; num_sentences: number }
    return relation === 'less than'
      ? sentencesOf(answer)
          .slice(0, 1 + rng.int(n - 1))
          .join(' ')
      : answer
  },
  'length_constraints:number_words': (answer, { kwargs }) => {
    const { relation, num_words: n } = kwargs as { relation: string; num_words: number }
    return relation === 'less than' ? withinWords(answer, n - 1) : answer
  },
  'keywords:letter_frequency': (answer, { kwargs }) =>
    kwargs.let_relation === 'less than'
      ? sentencesOf(answer)
          .filter(sentence => !sentence.toLowerCase().includes(kwargs.letter as string))
          .join(' ')
      : answer,
  'punctuation:no_comma': answer => answer.replaceAll(',', ''),
  'detectable_format:number_bullet_lists': (answer, { kwargs }) =>
    partsOf(answer, kwargs.num_bullets as number)
      .map(part => `* ${part}`)
      .join('\n'),
  'detectable_format:multiple_sections': (answer, { kwargs }) =>
    partsOf(answer, kwargs.num_sections as number)
      .map((part, i) => `${kwargs.section_spliter} ${i + 1}\n${part}`)
      .join('\n\n'),
  'length_constraints:number_paragraphs': (answer, { kwargs }) =>
    partsOf(answer, kwargs.num_paragraphs as number).join('\n\n***\n\n'),
  'length_constraints:nth_paragraph_first_word': (answer, { kwargs }) => {
    const { num_paragraphs: count, nth_paragraph: nth, first_word: word } = kwargs as Record<string, never>
    return partsOf(answer, count)
      .map((part, i) => (i === nth - 1 ? `${capitalised(word)}! ${part}` : part))
      .join('\n\n')
  },
  'combination:two_responses': (answer, { other }) => `${answer}\n\n******\n\n${other}`,
  'detectable_format:number_highlighted_sections': (answer, { kwargs, rng }) =>
    withSomeWords(answer, kwargs.num_highlights as number, rng, word => `*${word}*`),
  'change_case:capital_word_frequency': (answer, { kwargs, rng }) =>
    withSomeWords(answer, kwargs.capital_frequency as number, rng, word => word.toUpperCase()),
  'detectable_format:title': (answer, { subject }) => `<<${capitalised(subject)}>>\n\n${answer}`,
  'detectable_content:number_placeholders': (answer, { kwargs, rng }) => {
    const names = rng.shuffle(PLACEHOLDERS).slice(0, kwargs.num_placeholders as number)
    return `${answer}\n\n${names.map(name => `[${name}]`).join('\n')}`
  },
  'detectable_content:postscript': (answer, { kwargs }) => {
    const sentences = sentencesOf(answer)
    const last = sentences.pop()
    return sentences.length > 0 ? `${sentences.join(' ')}\n\n${kwargs.postscript_marker} ${last}` : answer
  },
  'startend:end_checker': (answer, { kwargs }) => `${answer}\n\n${kwargs.end_phrase}`,
  'change_case:english_lowercase': answer => answer.toLowerCase(),
  'change_case:english_capital': answer => answer.toUpperCase(),
  'detectable_format:json_format': (answer, { subject }) =>
    JSON.stringify({ [subject]: onOneLine(answer) }, null, 2),
  'startend:quotation': answer => `"${answer.replaceAll('"', "'")}"`,
  'combination:repeat_prompt': (answer, { kwargs }) => `${kwargs.prompt_to_repeat}\n\n${answer}`,
}

/** The answer as the row's instructions want it. */
const edited = (
  answer: string,
  { criteria }: Pick<InstructionRow, 'criteria'>,
  context: Omit<EditContext, 'kwargs'>,
): string => {
  const asked = new Map(
    criteria.flatMap(({ verifier }) =>
      verifier?.fn === 'instruction' ? [[verifier.params!.id, verifier.params!.kwargs]] : [],
    ),
  )
  return Object.entries(EDITS)
    .filter(([id]) => asked.has(id))
    .reduce((text, [id, edit]) => edit(text, { ...context, kwargs: asked.get(id) as never }), answer)
}

/** Of a request's content an unedited answer decides; language is the model's own. */
const UNCHECKED = new Set(['topic', 'facts', 'language'])

const follows = (criteria: readonly Criterion[], prompt: string, response: string): boolean =>
  criteria
    .filter(({ id }) => !UNCHECKED.has(id))
    .every(({ verifier }) => {
      const item = { prompt: [{ role: 'user', content: prompt } as const], response }
      return checkRule(verifier!.fn, verifier!.params, item).met === true
    })

/** A row and a response that follows it. */
export interface InstructionDemonstration extends Pick<InstructionRow, 'prompt' | 'criteria'> {
  response: string
}

/** Rows that an answer is edited for, and how many are tried: no edit brings about words that are not there. */
const ROWS_PER_ANSWER = 4
const TRIES = 40
/** Most words beyond the fewest that the form wants; short ones show an instruction as well as long ones do, and cost less. */
const MORE_WORDS = 50

const wordCount = (text: string): number => text.trim().split(/\s+/).length

/** @param answers that a model gave to the request alone; two at least */
export const demonstrationsOf = (
  request: Request,
  answers: readonly string[],
  rng: Rng,
): InstructionDemonstration[] =>
  answers.flatMap((answer, i) => {
    const subject = [...new Set(answer.toLowerCase().match(/\b[a-z]{4,}\b/g) ?? [])]
    const about = { ...request, subject, written: wordCount(answer) }
    const tried = Array.from({ length: TRIES }, () => {
      const row = drawRow(rng, about)
      const { min, max } = row.criteria.find(({ id }) => id === 'length_fits')!.verifier!.params as Band
      const most = Math.min(max, min + rng.int(MORE_WORDS))
      const two = row.criteria.some(({ id }) => id === 'two_responses')
      const cut = (text: string) => withinWords(text.trim(), two ? most / 2 : most)
      const context = { rng, subject: request.about, other: cut(answers[(i + 1) % answers.length]) }
      return { ...row, response: edited(cut(answer), row, context) }
    })
    return tried
      .filter(({ criteria, prompt, response }) =>
        follows([...criteria, ...SHARED_CRITERIA], prompt, response),
      )
      .slice(0, ROWS_PER_ANSWER)
  })

/** Requests without instructions, each another one. @param seed the same seed gives the same requests */
export const plainRequests = (count: number, seed: number | string): Request[] => {
  const rng = new Rng(`plain requests/${seed}`)
  const requests = new Map<string, Request>()
  while (requests.size < count) {
    const request = drawRequest(rng)
    requests.set(request.ask, request)
  }
  return [...requests.values()]
}
