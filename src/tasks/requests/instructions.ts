/** @file What a system message or the end of a prompt asks of the way an answer is put, and the ways that follow it. */

import type { Rng } from '../../util/rng.ts'
import { type AnswerStyle, GREETINGS, OFFERS, OPENINGS } from './style.ts'

export interface RequestInstruction {
  id: string
  /** Wordings of a user; those of a system message are the same. */
  texts: readonly string[]
  /** Whether only what can be listed can follow it. */
  lists?: boolean
  /** Whether only what has sentences can. */
  sentences?: boolean
  follow(style: AnswerStyle, rng: Rng): AnswerStyle
  /** Whether an answer did. */
  isFollowed(answer: string): boolean
}

const startsWith = (answer: string, words: readonly string[]) =>
  words.some(word => answer.toLowerCase().startsWith(word.toLowerCase()))
const NOTHING_BEFORE = [...GREETINGS, ...OPENINGS]
const isJson = (answer: string): boolean => {
  try {
    return Array.isArray(JSON.parse(answer))
  } catch {
    return false
  }
}
const wordCount = (answer: string) => answer.trim().split(/\s+/).length

const BARE = { opening: '', closing: '', capitals: false }

export const INSTRUCTIONS: readonly RequestInstruction[] = [
  {
    id: 'one sentence',
    texts: [
      'Answer in one sentence.',
      'Use one sentence.',
      'Only one sentence, please.',
      'Write one sentence.',
    ],
    follow: style => ({ ...style, ...BARE, layout: 'sentence', length: 'sentence' }),
    isFollowed: answer => (answer.match(/[.!?](?=\s|$)/g) ?? []).length === 1,
  },
  {
    id: 'short',
    texts: ['Answer shortly.', 'Keep it short.', 'Be brief.', 'Use few words.', 'Give a short answer.'],
    follow: style => ({ ...style, ...BARE, layout: 'line', length: 'short' }),
    isFollowed: answer => wordCount(answer) <= 16,
  },
  {
    id: 'long',
    texts: ['Give a long answer.', 'Tell me more than one sentence.', 'Answer in detail.'],
    sentences: true,
    follow: style => ({ ...style, length: 'long' }),
    isFollowed: answer => (answer.match(/[.!?](?=\s|$)/g) ?? []).length > 1,
  },
  {
    id: 'no exclamation marks',
    texts: ['Use no exclamation marks.', 'No exclamation marks, please.', 'Do not use exclamation marks.'],
    follow: style => ({ ...style, excited: false }),
    isFollowed: answer => !answer.includes('!'),
  },
  {
    id: 'exclamation marks',
    texts: ['Use an exclamation mark.', 'Be excited.', 'Sound excited.'],
    follow: (style, rng) => ({ ...style, excited: true, opening: style.opening || rng.pick(OPENINGS) }),
    isFollowed: answer => answer.includes('!'),
  },
  {
    id: 'greet',
    texts: ['Begin with a greeting.', 'Greet me first.', 'Say hello first.', 'Always greet the user.'],
    follow: (style, rng) => ({ ...style, opening: rng.pick(GREETINGS) }),
    isFollowed: answer => startsWith(answer, GREETINGS),
  },
  {
    id: 'no greeting',
    texts: [
      'Do not greet me.',
      'Give the answer and nothing else.',
      'Only the answer, please.',
      'No greeting.',
    ],
    follow: style => ({ ...style, ...BARE }),
    isFollowed: answer => !startsWith(answer, NOTHING_BEFORE),
  },
  {
    id: 'offer',
    texts: ['Offer more help at the end.', 'End with an offer of help.', 'Be helpful.', 'Always offer help.'],
    follow: (style, rng) => ({ ...style, closing: rng.pick(OFFERS) }),
    isFollowed: answer => OFFERS.some(offer => answer.toLowerCase().includes(offer.toLowerCase())),
  },
  {
    id: 'bullets',
    texts: [
      'Use bullet points.',
      'As a list with bullets, please.',
      'Answer with bullets.',
      'Write a bulleted list.',
    ],
    lists: true,
    follow: style => ({ ...style, layout: 'bullets' }),
    isFollowed: answer => /^- /m.test(answer),
  },
  {
    id: 'numbers',
    texts: ['Number them.', 'As a numbered list, please.', 'Write a numbered list.', 'Use numbers.'],
    lists: true,
    follow: style => ({ ...style, layout: 'numbers' }),
    isFollowed: answer => /^1\. /m.test(answer),
  },
  {
    id: 'json',
    texts: ['Answer as JSON.', 'As a JSON list, please.', 'Write JSON.', 'Give me JSON and nothing else.'],
    lists: true,
    follow: style => ({ ...style, ...BARE, layout: 'json' }),
    isFollowed: answer => isJson(answer),
  },
  {
    id: 'line',
    texts: ['Separate them by commas.', 'All on one line, please.', 'Use commas.'],
    lists: true,
    follow: style => ({ ...style, layout: 'line' }),
    isFollowed: answer => !/^(- |1\. |\[)/m.test(answer),
  },
  {
    id: 'capitals',
    texts: ['Answer in capitals.', 'Use capital letters.', 'Write in capitals.'],
    follow: style => ({ ...style, capitals: true }),
    isFollowed: answer => answer === answer.toUpperCase(),
  },
]
