/** @file Criteria about answers that can be computed: what a judge is asked, what is true, and what decides it. */

import { capitalised } from '../../util/format.ts'
import type { Rng } from '../../util/rng.ts'
import type { Dialogue } from './dialogue.ts'
import { CATEGORIES, madeUp, NUMBER_WORDS } from './lexicon.ts'
import { GREETINGS, has, isJsonList } from './style.ts'
import wordings from './wordings.json' with { type: 'json' }

/** An answer that is judged. */
export interface JudgedAnswer {
  dialogue: Dialogue
  answer: string
  /** How it came about: a good answer, a wrong one, one to another request. */
  origin: 'right' | 'wrong' | 'other'
}

/** A statement about an answer with its truth. */
export interface AnswerStatement {
  family: string
  text: string
  met: boolean
  /** What in the answer decides it, in a sentence. */
  because: string
}

export interface Family {
  name: string
  /** Null where nothing of the kind can be said of the answer. */
  draw(judged: JudgedAnswer, rng: Rng): Omit<AnswerStatement, 'family'> | null
}

/** Words of a text, as the rule `length` counts them. */
const wordsOf = (text: string): string[] =>
  text
    .trim()
    .split(/\s+/)
    .filter(word => word !== '')

/** Ends of sentences: a mark before a blank, a line break or the end; numbers of a list are none. */
export const sentenceEnds = (text: string): number =>
  (text.replace(/^\d+\. /gm, '').match(/[.!?](?=\s|$)/g) ?? []).length

const family = (name: string, draw: Family['draw']): Family => ({ name, draw })

const MENTIONS = [
  (word: string) => `Mentions ${word}.`,
  (word: string) => `Names ${word}.`,
  (word: string) => `The reply mentions ${word}.`,
  (word: string) => `The word ${word} is in the reply.`,
  (word: string) => `Says "${word}".`,
  (word: string) => `Contains the word ${word}.`,
] as const

const ALL_WORDS = CATEGORIES.flatMap(({ members }) => members)
const SMALL = new Set(
  'the a an is it of to and in i you are for was that this with not do my your me be at on'.split(' '),
)

/** A word that stands there or one that might. */
const candidate = ({ answer, dialogue }: JudgedAnswer, rng: Rng): string => {
  const own = (text: string) =>
    (text.match(/[A-Za-z]{3,}/g) ?? []).filter(word => !SMALL.has(word.toLowerCase()))
  const draw = rng.next()
  const there = own(answer)
  const asked = own(dialogue.messages.at(-1)!.content)
  const { right, wrong } = dialogue.request
  const related = own(
    `${right.sentence} ${right.items?.join(' ') ?? right.short} ${wrong?.items?.join(' ') ?? wrong?.short ?? ''}`,
  )
  if (draw < 0.45 && there.length > 0) return rng.pick(there).toLowerCase()
  if (draw < 0.6 && related.length > 0) return rng.pick(related).toLowerCase()
  if (draw < 0.7 && asked.length > 0) return rng.pick(asked).toLowerCase()
  return draw < 0.8 ? madeUp(rng) : rng.pick(ALL_WORDS)
}

const mentions = family('mentions', (judged, rng) => {
  const word = candidate(judged, rng)
  const met = has(judged.answer, word)
  return { text: rng.pick(MENTIONS)(word), met, because: met ? `It says ${word}.` : `There is no ${word}.` }
})

const mentionsEither = family('mentions one of two', (judged, rng) => {
  const [a, b] = [candidate(judged, rng), rng.pick(ALL_WORDS)]
  const [first, second] = rng.next() < 0.5 ? [a, b] : [b, a]
  const found = [first, second].find(word => has(judged.answer, word))
  return {
    text: rng.pick([`Mentions ${first} or ${second}.`, `Names ${first} or ${second}.`]),
    met: found !== undefined,
    because: found === undefined ? `There is no ${first} and no ${second}.` : `It says ${found}.`,
  }
})

const LIMITS = [3, 5, 6, 8, 10, 12, 15, 20, 25, 30] as const
const length = family('words', ({ answer }, rng) => {
  const count = wordsOf(answer).length
  const limit = rng.pick(LIMITS)
  const atMost = rng.next() < 0.7
  const shown = rng.next() < 0.5 || limit > 12 ? String(limit) : NUMBER_WORDS[limit]
  const text = atMost
    ? rng.pick([
        `Has at most ${shown} words.`,
        `Is at most ${shown} words long.`,
        `Uses ${shown} words or fewer.`,
      ])
    : rng.pick([`Has more than ${shown} words.`, `Is longer than ${shown} words.`])
  return {
    text,
    met: count <= limit === atMost,
    because: count > 40 ? 'It has more than 40 words.' : `It has ${count} words.`,
  }
})

const items = family('items', (judged, rng) => {
  const { answer, dialogue, origin } = judged
  if (origin === 'other' || dialogue.kind !== 'things') return null
  const body = origin === 'right' ? dialogue.request.right : dialogue.request.wrong
  const own = body?.items
  if (!own?.every(item => has(answer, item))) return null
  const count = own.length
  const asked = rng.next() < 0.5 ? count : 1 + rng.int(5)
  const number = rng.next() < 0.6 ? NUMBER_WORDS[asked] : String(asked)
  return {
    text: rng.pick([
      `Names exactly ${number} ${asked === 1 ? 'thing' : 'things'}.`,
      `Gives exactly ${number} ${asked === 1 ? 'item' : 'items'}.`,
      `Lists exactly ${number} ${asked === 1 ? 'thing' : 'things'}.`,
    ]),
    met: count === asked,
    because: `${own.map((item, i) => `${i + 1} ${item}`).join(', ')}.`,
  }
})

const lower = (text: string) => text.toLowerCase()
const greets = (text: string) => GREETINGS.some(word => lower(text).startsWith(lower(word)))
const POLITE = /\b(please|thank|thanks|sorry|gladly|pleasure|welcome|help|kind|excuse|of course|certainly)\b/i
const OFFER = /(let me know|ask me|can i help|i can help|do you need|how can i help)/i

/** What can be said of a form or not, by the name of its family; `wordings.json` says it. */
const FORM_TESTS: Readonly<Record<keyof typeof wordings.criteria, (text: string) => boolean>> = {
  'one sentence': text => sentenceEnds(text) === 1 && !text.includes('\n'),
  bullets: text => /^- /m.test(text),
  'numbered list': text => /^\d+\. /m.test(text),
  JSON: isJsonList,
  capitals: text => /[A-Z]/.test(text) && text === text.toUpperCase(),
  'exclamation marks': text => text.includes('!'),
  greeting: greets,
  offer: text => OFFER.test(text),
  polite: text => POLITE.test(text),
  question: text => text.includes('?'),
  reason: text => /\bbecause\b/i.test(text),
  apology: text => /\b(sorry|excuse)\b/i.test(text),
}

/** Wordings of a statement and of its opposite. */
const FORMS = Object.entries(FORM_TESTS).map(([name, test]) => {
  const { yes, no, because } = wordings.criteria[name as keyof typeof FORM_TESTS]
  return family(name, ({ answer }, rng) => {
    const is = test(answer)
    const turned = no.length > 0 && rng.next() < 0.3
    return { text: rng.pick(turned ? no : yes), met: is !== turned, because: because[is ? 0 : 1] }
  })
})

/** The right answer stands in the reason, and the verdict follows from comparing. */
const correct = family('right', ({ dialogue, origin }, rng) => {
  const { kind, request } = dialogue
  if (!request.wrong || !['fact', 'reading', 'sum', 'size', 'yes or no'].includes(kind)) return null
  const turned = rng.next() < 0.25
  const met = origin === 'right'
  return {
    text: turned
      ? rng.pick(['The answer is wrong.', 'Gives a wrong answer.', 'Is wrong.'])
      : rng.pick([
          'The answer is right.',
          'Is correct.',
          'Answers rightly.',
          'The answer is correct.',
          'Gives the right answer.',
        ]),
    met: met !== turned,
    because: `Right is: ${request.right.short}.`,
  }
})

const asked = family('does what was asked', ({ origin, dialogue }, rng) => {
  if (!dialogue.request.wrong && origin !== 'right') return null
  const met = origin === 'right'
  return {
    text: rng.pick([
      'Does what was asked.',
      'Answers the request.',
      'Follows the request.',
      'Does what the user wants.',
    ]),
    met,
    because: `Asked was: ${capitalised(dialogue.kind)}.`,
  }
})

/** Every family of criteria, those of most use several times. */
export const FAMILIES: readonly Family[] = [mentions, mentionsEither, length, items, correct, asked, ...FORMS]
const SHARES: readonly Family[] = [
  ...[mentions, mentions, mentions, mentions, mentionsEither, mentionsEither],
  ...[length, length, items, items, correct, correct, correct, asked],
  ...FORMS,
]

/** A family, by its share. */
export const drawFamily = (rng: Rng): Family => rng.pick(SHARES)
