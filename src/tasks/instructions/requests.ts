/** @file What a row of the generator asks for before its instructions: something about a topic or a text, or a message with facts. */

import type { Criterion } from '../../rubric/criterion.ts'
import type { Rng } from '../../util/rng.ts'
import data from './requests.json' with { type: 'json' }

/** What is asked for, with the fewest and the most words of an answer. */
export interface RequestForm {
  text: string
  words: number
  most: number
}

/** Of lines such as `20-80 Write a short note about {}.` */
const readForms = (lines: readonly string[]): readonly RequestForm[] =>
  lines.map(line => {
    const [, words, most, text] = /^(\d+)-(\d+) (.+)$/.exec(line)!
    return { text, words: Number(words), most: Number(most) }
  })

/** About a topic, what is asked for being short or not; about a text; messages: all that stands in their gaps has to be said. */
const FORMS = {
  short: readForms(data.forms.short),
  long: readForms(data.forms.long),
  passage: readForms(data.forms.passage),
  messages: readForms(data.forms.messages),
}

/** What requests are about: topics, each with words, and with a hyphen beginnings of words, that an answer about it would use. */
const TOPICS = Object.entries(data.topics).map(([name, list]) => {
  const words = list.split(' ')
  const isStem = (word: string) => word.endsWith('-')
  return {
    name,
    words: words.filter(word => !isStem(word)),
    stems: words.filter(isStem).map(stem => stem.slice(0, -1)),
  }
})

/** To be rewritten, answered or asked about. */
const PASSAGES: readonly string[] = data.passages

export interface Request {
  ask: string
  /** What it is about, in a few words. */
  about: string
  /** Fewest and most words that such an answer has, where no instruction limits it. */
  words: number
  most: number
  /** Something long is asked for. */
  isLong: boolean
  /** Words that an answer will want to use; instructions draw from them. */
  subject: readonly string[]
  /** It has a text in it that the answer may take over. */
  quotes: boolean
  /** What was asked for is there. @param without words that the answer must not use */
  content(without: readonly string[]): Criterion
}

const rule = (fn: string, params: Record<string, unknown>) => ({ kind: 'rule', fn, params }) as const

/** What stands in the gaps of one request; the same gap has the same in it. */
const drawGaps = (rng: Rng): Record<string, string> => {
  const { gaps } = data
  const [name, other] = rng.shuffle(gaps.name)
  const hour = 1 + rng.int(8)
  const colour = rng.pick(gaps.colour)
  return {
    ...{ name, other, day: rng.pick(gaps.day), place: rng.pick(gaps.place), event: rng.pick(gaps.event) },
    ...{ thing: rng.pick(gaps.thing), colour: `${colour === 'orange' ? 'an' : 'a'} ${colour}` },
    ...{ price: String(5 * (2 + rng.int(30))), hour: `${hour} pm`, job: rng.pick(gaps.job) },
    ...{ reader: rng.pick(gaps.reader), tone: rng.pick(gaps.tone) },
  }
}

/** `a` before a vowel becomes `an`. */
const filled = (form: string, gaps: Readonly<Record<string, string>>): string =>
  form.replace(/\{(\w*)\}/g, (_, gap: string) => gaps[gap]).replace(/\b(a) (?=[aeiou])/gi, '$1n ')

/** What has to be in an answer: words or beginnings of words of which two are there. */
const topicCriterion = (about: string, terms: readonly string[], without: readonly string[]): Criterion => ({
  id: 'topic',
  text: `Says something about ${about}.`,
  points: 1,
  verifier: rule('mention_count', {
    terms: terms.filter(word => !without.includes(word)),
    min: 2,
    wholeWords: false,
  }),
})

const aboutTopic = (rng: Rng, forms: readonly RequestForm[]): Request => {
  const { name, words: subject, stems } = rng.pick(TOPICS)
  const { text, words, most } = rng.pick(forms)
  return {
    ask: filled(text, { ...drawGaps(rng), '': name }),
    ...{ about: name, words, most, isLong: forms === FORMS.long, subject, quotes: false },
    content: without => topicCriterion(name, [...subject, ...stems], without),
  }
}

const aboutPassage = (rng: Rng): Request => {
  const passage = rng.pick(PASSAGES)
  const { text, words, most } = rng.pick(FORMS.passage)
  const subject = [...new Set(passage.toLowerCase().match(/\b[a-z]{5,}\b/g))]
  return {
    ask: filled(text, { ...drawGaps(rng), '': passage }),
    ...{ about: subject[0], words, most, isLong: false, subject, quotes: true },
    content: without => topicCriterion('the text', subject, without),
  }
}

/** Ways to write what is in a gap. */
const formsOf = (gap: string, value: string): string | string[] => {
  if (gap === 'place') return value.replace(/^the /, '')
  if (gap === 'colour') return value.replace(/^an? /, '')
  if (gap !== 'hour') return value
  const hour = value.split(' ')[0]
  return [value, `${hour}pm`, `${hour}:00`, `${hour} p.m.`]
}

const messageWithFacts = (rng: Rng): Request => {
  const gaps = drawGaps(rng)
  const { text, words, most } = rng.pick(FORMS.messages)
  const said = new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, gap]) => gap).filter(gap => gap !== 'tone'))
  const facts = [...said].map(gap => formsOf(gap, gaps[gap]))
  const subject = facts.flatMap(fact => (typeof fact === 'string' && /^[a-z]+$/.test(fact) ? [fact] : []))
  return {
    ask: filled(text, gaps),
    ...{ about: gaps[(['thing', 'event', 'job'] as const).find(gap => said.has(gap)) ?? 'name'] },
    ...{ words, most, isLong: false, subject, quotes: false },
    content: without => ({
      id: 'facts',
      text: `Says all that was to be said: ${facts.map(fact => [fact].flat()[0]).join(', ')}.`,
      points: 1,
      verifier: rule('contains', {
        all: facts.filter(fact => !without.includes([fact].flat()[0])),
        graded: true,
      }),
    }),
  }
}

const SHARE_OF_FACTS = 0.25
const SHARE_OF_PASSAGES = 0.12
const SHARE_OF_LEADS = 0.15

/** @param long whether something long is asked for, which takes a few hundred words */
export const drawRequest = (rng: Rng, long = false): Request => {
  const at = rng.next()
  const request = long
    ? aboutTopic(rng, FORMS.long)
    : at < SHARE_OF_FACTS
      ? messageWithFacts(rng)
      : at < SHARE_OF_FACTS + SHARE_OF_PASSAGES
        ? aboutPassage(rng)
        : aboutTopic(rng, FORMS.short)
  if (rng.next() >= SHARE_OF_LEADS) return request
  return { ...request, ask: `${filled(rng.pick(data.leads), drawGaps(rng))} ${request.ask}` }
}
