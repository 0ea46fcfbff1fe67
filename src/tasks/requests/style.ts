/** @file The ways in which one answer can be put: with or without a greeting, an offer, bullets, in few words or more. */

import { tryJson } from '../../util/json.ts'
import type { Rng } from '../../util/rng.ts'
import { phrasesIn, wordsIn } from '../../util/words.ts'
import { joined } from './lexicon.ts'

/** What an answer says, before it is put in a way. */
export interface Body {
  /** In few words. */
  short: string
  /** As a sentence, without its full stop where it has several layouts. */
  sentence: string
  /** A sentence more. */
  more?: string
  /** Things that can be listed; then `sentence` is what leads to them. */
  items?: readonly string[]
}

export type AnswerLayout = 'line' | 'sentence' | 'bullets' | 'numbers' | 'json'
export type Length = 'short' | 'sentence' | 'long'

export interface AnswerStyle {
  opening: string
  closing: string
  /** Openings and closings end with exclamation marks. */
  excited: boolean
  layout: AnswerLayout
  length: Length
  capitals: boolean
}

export const GREETINGS = ['Hello', 'Hi', 'Hi there', 'Good day', 'Hello there'] as const
export const OPENINGS = ['Sure', 'Of course', 'Gladly', 'Certainly', 'Here you are', 'With pleasure'] as const
export const OFFERS = phrasesIn(`
  Let me know if you need more | Ask me if you want more | Can I help you with anything else?
  I can help you with more | Do you need anything else?
`)
const WISHES = ['I hope this helps', 'Have a nice day', 'Good luck', 'Thank you for asking'] as const
const LAYOUTS = wordsIn('line line sentence sentence bullets bullets numbers json')
const LENGTHS: readonly Length[] = ['short', 'sentence', 'sentence', 'sentence', 'long', 'long']

/** Nothing but the answer, in a sentence. */
export const PLAIN: AnswerStyle = {
  ...{ opening: '', closing: '', excited: false, layout: 'sentence', length: 'sentence', capitals: false },
}

const some = <T extends string>(rng: Rng, share: number, words: readonly T[]): T | '' =>
  rng.next() < share ? rng.pick(words) : ''

/** Whether a text is a list in JSON and nothing else. */
export const isJsonList = (text: string): boolean => Array.isArray(tryJson(text))

/** A way to put an answer, any of them. */
export const drawStyle = (rng: Rng): AnswerStyle => ({
  opening: some(rng, 0.25, GREETINGS) || some(rng, 0.3, OPENINGS),
  closing: some(rng, 0.25, OFFERS) || some(rng, 0.2, WISHES),
  excited: rng.next() < 0.5,
  layout: rng.pick(LAYOUTS),
  length: rng.pick(LENGTHS),
  capitals: rng.next() < 0.01,
})

const stopped = (text: string, mark: string): string => (/[.!?:]$/.test(text) ? text : `${text}${mark}`)

/** Items in a layout, and whether it takes lines of its own. */
const listed = ({ items = [], sentence }: Body, layout: AnswerLayout): { text: string; block: boolean } => {
  if (layout === 'json') return { text: JSON.stringify(items), block: true }
  if (layout === 'bullets') return { text: items.map(item => `- ${item}`).join('\n'), block: true }
  if (layout === 'numbers')
    return { text: items.map((item, i) => `${i + 1}. ${item}`).join('\n'), block: true }
  if (layout === 'line') return { text: items.join(', '), block: false }
  return { text: stopped(`${sentence} ${joined(items)}`, '.'), block: false }
}

const coreOf = (body: Body, { layout, length }: AnswerStyle): { text: string; block: boolean } => {
  if (body.items) return listed(body, layout)
  if (length === 'short') return { text: stopped(body.short, '.'), block: false }
  const sentence = stopped(body.sentence, '.')
  return {
    text: length === 'long' && body.more !== undefined ? `${sentence} ${stopped(body.more, '.')}` : sentence,
    block: false,
  }
}

/** An answer's text. */
export const put = (body: Body, style: AnswerStyle): string => {
  const { text, block } = coreOf(body, style)
  const mark = style.excited ? '!' : '.'
  const gap = block ? '\n' : ' '
  const before = style.opening === '' ? '' : `${stopped(style.opening, mark)}${gap}`
  // A bare list of words needs an end before something follows it.
  const core = style.closing === '' || block ? text : stopped(text, '.')
  const after = style.closing === '' ? '' : `${gap}${stopped(style.closing, mark)}`
  const whole = `${before}${core}${after}`
  return style.capitals ? whole.toUpperCase() : whole
}

export interface DialogueRequest {
  ask: string
  right: Body
  /** An answer to the same request that is wrong; absent where nearly anything is right. */
  wrong?: Body
  /** Whether an answer is right, however it is put; absent where that cannot be computed. */
  isRight?(answer: string): boolean
  /** The whole answer stands there as it is: no way to put it is added. */
  fixed?: boolean
}

/** A family of requests. */
export interface Kind {
  name: string
  draw(rng: Rng): DialogueRequest
}

/** Whether a text has a phrase as whole words, whatever the case of its letters. */
export const has = (text: string, phrase: string): boolean => {
  const escaped = phrase.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\d])${escaped}(?![\\p{L}\\d])`, 'iu').test(text)
}

/** Whether a text says what a body says, in few words or in a sentence. */
export const says = ({ short, sentence }: Body, text: string): boolean =>
  has(text, short) || has(text, sentence)
