/** @file Short conversations with one of many good answers: a request, an instruction or none, sometimes a second turn. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import type { Rng } from '../../util/rng.ts'
import { fact, reading, size, sum, unknown, yesNo } from './answering.ts'
import { apology, declining, greeting, note } from './courtesy.ts'
import { INSTRUCTIONS, type RequestInstruction } from './instructions.ts'
import { steps, things } from './listing.ts'
import { politely, repeating, shorter } from './rewriting.ts'
import { type AnswerStyle, type DialogueRequest, drawStyle, type Kind, PLAIN, put } from './style.ts'

/** Kinds of requests with their shares. */
const SHARES: readonly (readonly [Kind, number])[] = [
  [greeting, 5],
  [things, 22],
  [steps, 9],
  [fact, 15],
  [reading, 12],
  [sum, 8],
  [yesNo, 6],
  [size, 4],
  [apology, 4],
  [declining, 4],
  [note, 5],
  [politely, 4],
  [shorter, 3],
  [repeating, 5],
  [unknown, 4],
]
export const REQUEST_KINDS: readonly Kind[] = SHARES.map(([kind]) => kind)
const TOTAL = SHARES.reduce((sum, [, share]) => sum + share, 0)

export interface Dialogue {
  kind: string
  request: DialogueRequest
  /** What is asked of the way to answer. */
  instruction: RequestInstruction | null
  /** Ends with a user's message. */
  messages: ChatMessage[]
  /** A good answer to it. */
  answer: string
  /** The way in which that is put. */
  style: AnswerStyle
}

/** Any kind, by its share. */
const drawKind = (rng: Rng): Kind => {
  let at = rng.int(TOTAL)
  for (const [kind, share] of SHARES) {
    at -= share
    if (at < 0) return kind
  }
  return greeting
}

const SYSTEM = [
  'You are a helpful assistant.',
  'You are a small chat model.',
  'Answer the user.',
  'You help people.',
] as const

/** Instructions that an answer to a request can follow. */
export const instructionsFor = ({ right, fixed }: DialogueRequest): readonly RequestInstruction[] =>
  INSTRUCTIONS.filter(
    ({ lists, sentences }) =>
      !fixed && !(lists && !right.items) && !(sentences && (right.items || right.more === undefined)),
  )

/** As people type: without a capital, without its end, with please. */
const typed = (ask: string, rng: Rng): string => {
  const draw = rng.next()
  const lowered = `${ask.charAt(0).toLowerCase()}${ask.slice(1)}`
  if (draw < 0.08 && !/^[A-Z][a-z]+ (has|is|lives|likes)/.test(ask)) return lowered
  if (draw < 0.14) return ask.replace(/[.?!]$/, '')
  if (draw < 0.2 && /^(Name|List|Give|Tell|Write|Say|Explain|Make)/.test(ask)) return `Please ${lowered}`
  return ask
}

const AGAIN = ['Please write that again.', 'Once more, please.', 'Say it again.'] as const

/** The same asked for in another way, after an answer. */
const again = (request: DialogueRequest, first: AnswerStyle, ask: ChatMessage[], rng: Rng) => {
  const instruction = rng.pick(instructionsFor(request))
  const style = instruction.follow(first, rng)
  return {
    instruction,
    style,
    messages: [
      ...ask,
      { role: 'assistant' as const, content: put(request.right, first) },
      {
        role: 'user' as const,
        content: `${rng.pick(['', '', `${rng.pick(AGAIN)} `])}${rng.pick(instruction.texts)}`,
      },
    ],
  }
}

/** A request as messages, the instruction in the system message or behind it. */
const messagesOf = (
  request: DialogueRequest,
  instruction: RequestInstruction | null,
  rng: Rng,
): ChatMessage[] => {
  const ask = typed(request.ask, rng)
  const text = instruction === null ? '' : rng.pick(instruction.texts)
  const inSystem = instruction !== null && rng.next() < 0.45
  const system = inSystem ? text : rng.next() < 0.1 ? rng.pick(SYSTEM) : ''
  return [
    ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
    { role: 'user', content: instruction === null || inSystem ? ask : `${ask} ${text}` },
  ]
}

/** A conversation of a kind. */
export const drawDialogue = (rng: Rng, kind: Kind = drawKind(rng)): Dialogue => {
  const request = kind.draw(rng)
  const possible = instructionsFor(request)
  const free = request.fixed ? PLAIN : drawStyle(rng)
  const common = { kind: kind.name, request }
  if (possible.length > 0 && rng.next() < 0.1) {
    const asked = again(request, free, messagesOf(request, null, rng), rng)
    return { ...common, ...asked, answer: put(request.right, asked.style) }
  }
  const instruction = possible.length > 0 && rng.next() < 0.4 ? rng.pick(possible) : null
  const style = instruction === null ? free : instruction.follow(free, rng)
  return {
    ...common,
    ...{ instruction, style },
    messages: messagesOf(request, instruction, rng),
    answer: put(request.right, style),
  }
}
