/** @file Facts about everyday things, and questions of yes or no with their reasons. */

import { capitalised } from '../../util/format.ts'
import { wordsIn } from '../../util/words.ts'
import data from './facts.json' with { type: 'json' }

/** A question with its answer in few words, as a sentence, and one sentence more. */
export interface FactQuestion {
  questions: readonly string[]
  short: string
  sentence: string
  more: string
}

/** What is asked and answered in ways of its own: two questions, the answer in few words and as a sentence, and one sentence more. */
const fact = (ask: string, again: string, short: string, sentence: string, more: string): FactQuestion => ({
  questions: [ask, again],
  ...{ short, sentence, more },
})

const capital = (country: string, city: string, more: string): FactQuestion =>
  fact(
    `What is the capital of ${country}?`,
    `Which city is the capital of ${country}?`,
    city,
    `The capital of ${country} is ${city}.`,
    more,
  )
const sound = (animal: string, verb: string): FactQuestion =>
  fact(
    `What sound does a ${animal} make?`,
    `How does a ${animal} sound?`,
    `It ${verb}`,
    `A ${animal} ${verb}.`,
    'Every animal has its own voice.',
  )
const legs = (animal: string, count: string): FactQuestion =>
  fact(
    `How many legs does a ${animal} have?`,
    `How many legs has a ${animal}?`,
    count,
    `A ${animal} has ${count.toLowerCase()} legs.`,
    'It needs them to walk.',
  )
const opposite = (a: string, b: string): FactQuestion =>
  fact(
    `What is the opposite of ${a}?`,
    `Which word means the opposite of ${a}?`,
    capitalised(b),
    `The opposite of ${a} is ${b}.`,
    'Both words are used every day.',
  )
const colour = (thing: string, said: string, more: string): FactQuestion =>
  fact(
    `What colour is ${thing}?`,
    `Which colour does ${thing} have?`,
    capitalised(said),
    `${capitalised(thing)} is ${said}.`,
    more,
  )

const all = (rows: readonly string[][], make: (...row: string[]) => FactQuestion): FactQuestion[] =>
  rows.map(row => make(...row))

export const FACTS: readonly FactQuestion[] = [
  ...all(data.colours, colour),
  ...all(data.capitals, capital),
  ...all(data.sounds, sound),
  ...all(data.legs, legs),
  ...all(data.opposites, opposite),
  ...all(data.others, fact),
]

/** A question of yes or no, the answer, and why. */
export interface YesNo {
  question: string
  yes: boolean
  reason: string
}

export const YES_NO: readonly YesNo[] = data.yesNo.map(([question, answer, reason]) => ({
  question,
  yes: answer === 'yes',
  reason,
}))

/** Things by size, from small to large. */
export const BY_SIZE: readonly string[] = wordsIn(data.bySize)
