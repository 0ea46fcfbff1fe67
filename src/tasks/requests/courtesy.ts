/** @file Requests of courtesy: greetings, thanks, apologies, declining, notes. */

import { phrasesIn } from '../../util/words.ts'
import { DAYS, FAULTS, INVITATION_OCCASIONS, NAMES } from './lexicon.ts'
import { has, type Kind } from './style.ts'

const HOW_ARE_YOU = ['Hello, how are you?', 'Hi, how are you?', 'How are you?', 'How are you today?'] as const
const HELLO = phrasesIn(`
  Hello! | Hi! | Good morning! | Hello. | Hey | Hi there | Good evening | Hello there!
`)
const THANKS = phrasesIn(`
  Thank you! | Thanks. | Thank you very much. | Many thanks! | That was helpful, thank you.
`)
const WHO = ['Who are you?', 'What are you?', 'What is your name?', 'What can you do?'] as const
const BYE = ['Goodbye!', 'Bye.', 'See you.', 'Good night!'] as const

export const greeting: Kind = {
  name: 'greeting',
  draw: rng =>
    rng.pick([
      {
        ask: rng.pick(HOW_ARE_YOU),
        right: { short: 'Fine, thank you', sentence: 'I am fine, thank you', more: 'How can I help you?' },
      },
      {
        ask: rng.pick(HELLO),
        right: { short: 'Welcome', sentence: 'How can I help you?', more: 'Ask me anything' },
      },
      {
        ask: rng.pick(THANKS),
        right: { short: 'You are welcome', sentence: 'You are welcome', more: 'I am happy to help' },
      },
      {
        ask: rng.pick(WHO),
        right: {
          short: 'A small chat model',
          sentence: 'I am a small chat model',
          more: 'I can answer short questions and write lists',
        },
      },
      {
        ask: rng.pick(BYE),
        right: { short: 'Goodbye', sentence: 'Goodbye and see you soon', more: 'It was nice to talk to you' },
      },
    ]),
}

const APOLOGISE = phrasesIn(`
  Write an apology for | Apologise for | Say sorry for | Help me to apologise for
  Write that I am sorry for
`)

export const apology: Kind = {
  name: 'apology',
  draw: rng => {
    const fault = rng.pick(FAULTS)
    return {
      ask: `${rng.pick(APOLOGISE)} ${fault}.`,
      right: {
        short: `Sorry for ${fault}`,
        sentence: rng.pick([
          `I am sorry for ${fault}`,
          `I am very sorry for ${fault}`,
          `Please excuse ${fault}`,
        ]),
        more: rng.pick([
          'It will not happen again',
          'I will do better next time',
          'I understand that you are angry',
        ]),
      },
      wrong: {
        short: `Nobody minds ${fault}`,
        sentence: `You should not be angry about ${fault}`,
        more: 'It does not matter',
      },
      isRight: answer => has(answer, fault) && /\b(sorry|excuse)\b/i.test(answer),
    }
  },
}

const DECLINE = phrasesIn(`
  Decline the invitation to | Politely decline to come to | Say that I cannot come to | How do I say no to
  Write that I will not come to
`)

export const declining: Kind = {
  name: 'declining',
  draw: rng => {
    const occasion = rng.pick(INVITATION_OCCASIONS)
    return {
      ask: `${rng.pick(DECLINE)} ${occasion}.`,
      right: {
        short: rng.pick([`No, I cannot come to ${occasion}`, `Sorry, I cannot come to ${occasion}`]),
        sentence: rng.pick([
          `Thank you for the invitation, but I cannot come to ${occasion}`,
          `I am sorry, but I cannot come to ${occasion}`,
          `Unfortunately I cannot come to ${occasion}`,
        ]),
        more: rng.pick(['I hope you have a good time', 'I have no time on that day', 'Maybe next time']),
      },
      wrong: {
        short: `Yes, I will come to ${occasion}`,
        sentence: `Thank you, I will gladly come to ${occasion}`,
        more: 'I look forward to it',
      },
      isRight: answer => has(answer, `cannot come to ${occasion}`),
    }
  },
}

const NOTES = [
  (name: string, day: string) => ({
    ask: [`Write a birthday card for ${name}.`, `Wish ${name} a happy birthday.`],
    short: `Happy birthday, ${name}`,
    sentence: `Dear ${name}, I wish you a happy birthday`,
    more: `Let us meet on ${day}`,
  }),
  (name: string, day: string) => ({
    ask: [`Invite ${name} to dinner on ${day}.`, `Write an invitation to dinner on ${day} for ${name}.`],
    short: `${name}, come to dinner on ${day}`,
    sentence: `Dear ${name}, please come to dinner on ${day}`,
    more: 'I would be very happy',
  }),
  (name: string, day: string) => ({
    ask: [`Ask ${name} for a meeting on ${day}.`, `Write to ${name} about a meeting on ${day}.`],
    short: `${name}, can we meet on ${day}?`,
    sentence: `Dear ${name}, could we meet on ${day}, please?`,
    more: 'Please tell me what time is good for you',
  }),
  (name: string, day: string) => ({
    ask: [`Thank ${name} for the help on ${day}.`, `Write a note of thanks to ${name} for ${day}.`],
    short: `Thanks for ${day}, ${name}`,
    sentence: `Dear ${name}, thank you very much for your help on ${day}`,
    more: 'It was very kind of you',
  }),
] as const

export const note: Kind = {
  name: 'note',
  draw: rng => {
    const [name, other] = rng.sample(NAMES, 2)
    const day = rng.pick(DAYS)
    const write = rng.pick(NOTES)
    const { ask, ...right } = write(name, day)
    const { ask: _, ...wrong } = write(other, day)
    return { ask: rng.pick(ask), right, wrong, isRight: answer => has(answer, name) && !has(answer, other) }
  },
}
