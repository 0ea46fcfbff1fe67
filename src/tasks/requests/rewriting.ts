/** @file Requests to put a given text in another way. */

import { capitalised } from '../../util/format.ts'
import type { Rng } from '../../util/rng.ts'
import { BELONGINGS, COLOURS, FOODS, madeUp, NAMES, ORDERS, PETS, WORDY } from './lexicon.ts'
import { has, type Kind } from './style.ts'

const quoted = (text: string, rng: Rng) => rng.pick([`: ${text}`, `: "${text}"`, `:\n${text}`])

const POLITE = [
  (order: string) => `Could you please ${order}?`,
  (order: string) => `Would you please ${order}?`,
  (order: string) => `Please ${order}, thank you.`,
  (order: string) => `Could you ${order}, please?`,
] as const

export const politely: Kind = {
  name: 'politely',
  draw: rng => {
    const order = rng.pick(ORDERS)
    const how = rng.pick([
      'Say this politely',
      'Rewrite this politely',
      'Make this polite',
      'Put this more politely',
    ])
    const text = rng.pick(POLITE)(order)
    return {
      ask: `${how}${quoted(`${capitalised(order)}${rng.pick(['.', '!'])}`, rng)}`,
      right: { short: text, sentence: text, more: 'That is more polite' },
      isRight: answer => has(answer, order) && has(answer, 'please'),
      wrong: {
        short: `${capitalised(order)} now!`,
        sentence: `${capitalised(order)} at once!`,
        more: 'Be quick!',
      },
    }
  },
}

export const shorter: Kind = {
  name: 'shorter',
  draw: rng => {
    const [[long, short], [, other]] = rng.sample(WORDY, 2)
    const how = rng.pick([
      'Make this shorter',
      'Shorten this',
      'Say this in fewer words',
      'Rewrite this shorter',
    ])
    return {
      ask: `${how}${quoted(`${long}.`, rng)}`,
      right: { short, sentence: short, more: 'That is shorter' },
      isRight: answer => has(answer, short) && !has(answer, long),
      wrong: rng.pick([
        { short: long, sentence: long, more: 'That is shorter' },
        { short: other, sentence: other, more: 'That is shorter' },
      ]),
    }
  },
}

const simple = (rng: Rng): string => {
  const name = rng.pick(NAMES)
  return rng.pick([
    `${name} has a ${rng.pick(COLOURS)} ${rng.pick(BELONGINGS)}`,
    `${name} likes ${rng.pick(FOODS)}`,
    `The ${rng.pick(PETS)} is ${rng.pick(COLOURS)}`,
    capitalised(rng.pick(ORDERS)),
    `${name} has a ${rng.pick(PETS)}`,
    rng.pick(WORDY)[1],
    capitalised(`${madeUp(rng)} ${madeUp(rng)} ${madeUp(rng)}`),
    `${capitalised(madeUp(rng))} has a ${madeUp(rng)}`,
  ])
}

/** Said again as it is, or in capitals. */
export const repeating: Kind = {
  name: 'repeating',
  draw: rng => {
    const text = `${simple(rng)}.`
    const other = `${simple(rng)}.`
    const loud = rng.next() < 0.5
    const how = loud
      ? rng.pick(['Write this in capitals', 'Put this in capital letters', 'Say this in capitals'])
      : rng.pick(['Repeat this', 'Say this again', 'Copy this sentence', 'Repeat after me'])
    const body = (said: string) => ({ short: said, sentence: said, more: said })
    return {
      ask: `${how}${quoted(text, rng)}`,
      right: body(loud ? text.toUpperCase() : text),
      isRight: answer => answer === (loud ? text.toUpperCase() : text),
      wrong: body(loud ? text : other),
      fixed: true,
    }
  },
}
