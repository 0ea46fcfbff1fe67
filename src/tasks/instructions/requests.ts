/** @file What a row of the generator asks for before its instructions: something about a topic, or a message with facts. */

import type { Criterion } from '../../rubric/criterion.ts'
import type { Rng } from '../../util/rng.ts'
import { COLOURS, DAYS, EVENTS, NAMES, PLACES, THINGS, TOPICS } from './topics.ts'

export interface Request {
  ask: string
  /** What it is about, in a few words. */
  about: string
  /** Fewest words that such an answer has, where no instruction limits it. */
  words: number
  /** Words that an answer will want to use; instructions draw from them. */
  subject: readonly string[]
  /** Words of the answer that is there already: what is asked for is in it, and `subject` are its words. */
  written?: number
  /** What was asked for is there. @param without words that the answer must not use */
  content(without: readonly string[]): Criterion
}

const rule = (fn: string, params: Record<string, unknown>) => ({ kind: 'rule', fn, params }) as const

/** Requests about a topic, with the fewest words of an answer. */
const FORMS: readonly (readonly [ask: string, words: number])[] = [
  ['Write a short note about {}.', 25],
  ['Tell me something about {}.', 20],
  ['Write a short email to a friend about {}.', 35],
  ['Describe {} to a child.', 25],
  ['Can you give me some advice about {}?', 30],
  ['Write a tiny story about {}.', 40],
  ['Write a social media post about {}.', 20],
  ['What should I know about {}?', 30],
  ['Write a poem about {}.', 25],
  ['Explain why people care about {}.', 30],
  ['Write a few sentences about {}.', 18],
  ['I need a text about {} for a brochure.', 40],
  ['Write a blog post about {}.', 40],
  ['Write a dialogue between two friends about {}.', 35],
]

const aboutTopic = (rng: Rng): Request => {
  const { name, words: subject, stems } = rng.pick(TOPICS)
  const [form, words] = rng.pick(FORMS)
  return {
    ask: form.replace('{}', name),
    about: name,
    words,
    subject,
    content: without => ({
      id: 'topic',
      text: `Says something about ${name}.`,
      points: 1,
      verifier: rule('mention_count', {
        terms: [...subject, ...stems].filter(word => !without.includes(word)),
        min: 2,
        wholeWords: false,
      }),
    }),
  }
}

/** A message, and what of it has to be in the answer, each in the ways to say it. */
type Facts = { ask: string; words: number; facts: readonly (string | string[])[] }

const hour = (rng: Rng): { say: string; forms: string[] } => {
  const h = rng.int(8) + 1
  return { say: `${h} pm`, forms: [`${h} pm`, `${h}pm`, `${h}:00`, `${h} p.m.`] }
}

const FACTS: readonly ((rng: Rng) => Facts)[] = [
  rng => {
    const [name, event, day, time] = [rng.pick(NAMES), rng.pick(EVENTS), rng.pick(DAYS), hour(rng)]
    return {
      ask: `Write a message to ${name}: the ${event} is moved to ${day} at ${time.say}.`,
      words: 18,
      facts: [name, event, day, time.forms],
    }
  },
  rng => {
    const [name, event, day, place] = [rng.pick(NAMES), rng.pick(EVENTS), rng.pick(DAYS), rng.pick(PLACES)]
    return {
      ask: `Invite ${name} to a ${event} at ${place} next ${day}.`,
      words: 20,
      facts: [name, event, day, place.replace(/^the /, '')],
    }
  },
  rng => {
    const [thing, colour, price] = [rng.pick(THINGS), rng.pick(COLOURS), 5 * (rng.int(30) + 2)]
    return {
      ask: `Write an advertisement for ${colour === 'orange' ? 'an' : 'a'} ${colour} ${thing} that costs ${price} dollars.`,
      words: 25,
      facts: [thing, colour, String(price)],
    }
  },
  rng => {
    const [name, thing, day] = [rng.pick(NAMES), rng.pick(THINGS), rng.pick(DAYS)]
    return {
      ask: `My ${thing} from ${name}'s shop broke on ${day}. Write a complaint for me.`,
      words: 30,
      facts: [thing, name, day],
    }
  },
  rng => {
    const [name, other, event] = [...rng.shuffle(NAMES).slice(0, 2), rng.pick(EVENTS)]
    return {
      ask: `${name} could not come to the ${event}. Write an apology from ${name} to ${other}.`,
      words: 25,
      facts: [name, other, event],
    }
  },
]

const messageWithFacts = (rng: Rng): Request => {
  const { ask, words, facts } = rng.pick(FACTS)(rng)
  const subject = facts.flatMap(fact => (typeof fact === 'string' && /^[a-z]+$/.test(fact) ? [fact] : []))
  return {
    ask,
    about: subject[0] ?? 'message',
    words,
    subject,
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

const SHARE_OF_FACTS = 0.3

export const drawRequest = (rng: Rng): Request =>
  rng.next() < SHARE_OF_FACTS ? messageWithFacts(rng) : aboutTopic(rng)
