/** @file What a system message or the end of a prompt asks of the way an answer is put, and the ways that follow it. */

import type { Rng } from '../../util/rng.ts'
import { type AnswerStyle, GREETINGS, isJsonList, OFFERS, OPENINGS } from './style.ts'
import wordings from './wordings.json' with { type: 'json' }

interface Instruction {
  id: keyof typeof wordings.instructions
  /** Whether only what can be listed can follow it. */
  lists?: boolean
  /** Whether only what has sentences can. */
  sentences?: boolean
  follow(style: AnswerStyle, rng: Rng): AnswerStyle
  /** Whether an answer did. */
  isFollowed(answer: string): boolean
}

export interface RequestInstruction extends Instruction {
  /** Wordings of a user; those of a system message are the same. */
  texts: readonly string[]
}

const startsWith = (answer: string, words: readonly string[]) =>
  words.some(word => answer.toLowerCase().startsWith(word.toLowerCase()))
const NOTHING_BEFORE = [...GREETINGS, ...OPENINGS]
const wordCount = (answer: string) => answer.trim().split(/\s+/).length

const BARE = { opening: '', closing: '', capitals: false }

const WAYS: readonly Instruction[] = [
  {
    id: 'one sentence',
    follow: style => ({ ...style, ...BARE, layout: 'sentence', length: 'sentence' }),
    isFollowed: answer => (answer.match(/[.!?](?=\s|$)/g) ?? []).length === 1,
  },
  {
    id: 'short',
    follow: style => ({ ...style, ...BARE, layout: 'line', length: 'short' }),
    isFollowed: answer => wordCount(answer) <= 16,
  },
  {
    id: 'long',
    sentences: true,
    follow: style => ({ ...style, length: 'long' }),
    isFollowed: answer => (answer.match(/[.!?](?=\s|$)/g) ?? []).length > 1,
  },
  {
    id: 'no exclamation marks',
    follow: style => ({ ...style, excited: false }),
    isFollowed: answer => !answer.includes('!'),
  },
  {
    id: 'exclamation marks',
    follow: (style, rng) => ({ ...style, excited: true, opening: style.opening || rng.pick(OPENINGS) }),
    isFollowed: answer => answer.includes('!'),
  },
  {
    id: 'greet',
    follow: (style, rng) => ({ ...style, opening: rng.pick(GREETINGS) }),
    isFollowed: answer => startsWith(answer, GREETINGS),
  },
  {
    id: 'no greeting',
    follow: style => ({ ...style, ...BARE }),
    isFollowed: answer => !startsWith(answer, NOTHING_BEFORE),
  },
  {
    id: 'offer',
    follow: (style, rng) => ({ ...style, closing: rng.pick(OFFERS) }),
    isFollowed: answer => OFFERS.some(offer => answer.toLowerCase().includes(offer.toLowerCase())),
  },
  {
    id: 'bullets',
    lists: true,
    follow: style => ({ ...style, layout: 'bullets' }),
    isFollowed: answer => /^- /m.test(answer),
  },
  {
    id: 'numbers',
    lists: true,
    follow: style => ({ ...style, layout: 'numbers' }),
    isFollowed: answer => /^1\. /m.test(answer),
  },
  {
    id: 'json',
    lists: true,
    follow: style => ({ ...style, ...BARE, layout: 'json' }),
    isFollowed: isJsonList,
  },
  {
    id: 'line',
    lists: true,
    follow: style => ({ ...style, layout: 'line' }),
    isFollowed: answer => !/^(- |1\. |\[)/m.test(answer),
  },
  {
    id: 'capitals',
    follow: style => ({ ...style, capitals: true }),
    isFollowed: answer => answer === answer.toUpperCase(),
  },
]

export const INSTRUCTIONS: readonly RequestInstruction[] = WAYS.map(({ id, ...way }) => ({
  id,
  texts: wordings.instructions[id],
  ...way,
}))
