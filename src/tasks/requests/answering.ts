/** @file Requests for an answer: facts, a text that is given, sums, yes or no, what is larger, what nobody can know. */

import { capitalised } from '../../util/format.ts'
import { BY_SIZE, FACTS, YES_NO } from './facts.ts'
import { BELONGINGS, COLOURS, FOODS, JOBS, madeUp, NAMES, PETS, PLACES, withArticle } from './lexicon.ts'
import { has, type Kind, says } from './style.ts'

export const fact: Kind = {
  name: 'fact',
  draw: rng => {
    const asked = rng.pick(FACTS)
    const other = rng.pick(FACTS.filter(({ short }) => short !== asked.short))
    const { questions, ...right } = asked
    // A wrong answer of the same form, where the sentence ends with what is asked for.
    const sentence = asked.sentence.includes(asked.short)
      ? asked.sentence.replace(asked.short, other.short)
      : other.sentence
    return {
      ask: rng.pick(questions),
      right,
      wrong: { short: other.short, sentence, more: asked.more },
      isRight: answer => says(asked, answer),
    }
  },
}

export const yesNo: Kind = {
  name: 'yes or no',
  draw: rng => {
    const { question, yes, reason } = rng.pick(YES_NO)
    const word = (value: boolean) => (value ? 'Yes' : 'No')
    const body = (value: boolean) => ({
      short: word(value),
      sentence: `${word(value)}, because ${reason}`,
      more: rng.pick(['That is why', 'Everybody knows that', 'That is so']),
    })
    return {
      ask: question,
      right: body(yes),
      wrong: { ...body(!yes), sentence: word(!yes) },
      isRight: answer => has(answer, word(yes)) && !has(answer, word(!yes)),
    }
  },
}

const SUM_WORDS = [
  (a: number, sign: string, b: number) => `What is ${a} ${sign} ${b}?`,
  (a: number, sign: string, b: number) => `${a} ${sign} ${b} = ?`,
  (a: number, sign: string, b: number) => `How much is ${a} ${sign} ${b}?`,
  (a: number, sign: string, b: number) => `Calculate ${a} ${sign} ${b}.`,
] as const

export const sum: Kind = {
  name: 'sum',
  draw: rng => {
    const plus = rng.next() < 0.6
    const [x, y] = [1 + rng.int(12), 1 + rng.int(12)]
    const [a, b] = plus ? [x, y] : [Math.max(x, y), Math.min(x, y)]
    const result = plus ? a + b : a - b
    const sign = plus ? '+' : '-'
    const said = (value: number) => ({
      short: String(value),
      sentence: rng.pick([`${a} ${sign} ${b} = ${value}`, `The answer is ${value}`, `It is ${value}`]),
      more: 'You can count it with your fingers',
    })
    const off = result + rng.pick([-2, -1, 1, 2, 3])
    return {
      ask: rng.pick(SUM_WORDS)(a, sign, b),
      right: said(result),
      wrong: said(off < 0 ? result + 1 : off),
      isRight: answer => answer.match(/\d+/g)?.at(-1) === String(result),
    }
  },
}

/** What a text says of a person, and how it is asked and answered. */
interface Trait {
  values: readonly (readonly string[])[]
  asked(name: string, value: readonly string[]): string
  short(value: readonly string[]): string
  sentence(name: string, value: readonly string[]): string
  /** In the text, where that is no such sentence. */
  stated?(name: string, value: readonly string[]): string
}

const PERSON: readonly Trait[] = [
  {
    values: COLOURS.flatMap(colour => BELONGINGS.map(thing => [colour, thing])),
    stated: (name, [colour, thing]) => `${name} has a ${colour} ${thing}`,
    asked: (name, [, thing]) => `What colour is the ${thing} of ${name}?`,
    short: ([colour]) => capitalised(colour),
    sentence: (name, [colour, thing]) => `The ${thing} of ${name} is ${colour}`,
  },
  {
    values: PLACES.map(place => [place]),
    asked: name => `Where does ${name} live?`,
    short: ([place]) => `In ${place}`,
    sentence: (name, [place]) => `${name} lives in ${place}`,
  },
  {
    values: JOBS.map(job => [job]),
    asked: name => `What is the job of ${name}?`,
    short: ([job]) => capitalised(job),
    sentence: (name, [job]) => `${name} is ${withArticle(job)}`,
  },
  {
    values: FOODS.map(food => [food]),
    asked: name => `What does ${name} like?`,
    short: ([food]) => capitalised(food),
    sentence: (name, [food]) => `${name} likes ${food}`,
  },
  {
    values: PETS.map(pet => [pet]),
    asked: name => `Which animal does ${name} have?`,
    short: ([pet]) => capitalised(withArticle(pet)),
    sentence: (name, [pet]) => `${name} has ${withArticle(pet)}`,
  },
]

/** The answer stands in a text of two people that the prompt gives. */
export const reading: Kind = {
  name: 'reading',
  draw: rng => {
    const [name, other] = rng.sample(NAMES, 2)
    const about = rng.sample(PERSON, 2 + rng.int(2))
    const stated = [name, other].map(who =>
      about.map(({ values, sentence, stated = sentence }) => {
        const value = rng.pick(values)
        return { value, text: `${stated(who, value)}.` }
      }),
    )
    const at = rng.int(about.length)
    const { values, asked, short, sentence } = about[at]
    const [own, others] = [stated[0][at].value, stated[1][at].value]
    const text = rng.shuffle(stated.flat().map(each => each.text)).join(' ')
    const [wrongFirst] =
      others[0] === own[0] ? rng.pick(values.filter(([first]) => first !== own[0])) : others
    const wrongValue = [wrongFirst, ...own.slice(1)]
    const question = asked(name, own)
    return {
      ask: rng.pick([
        `${text} ${question}`,
        `Read this text: ${text}\n${question}`,
        `${text}\n${question}`,
        `Text: ${text}\nQuestion: ${question}`,
      ]),
      right: { short: short(own), sentence: sentence(name, own), more: 'The text says so' },
      wrong: { short: short(wrongValue), sentence: sentence(name, wrongValue), more: 'The text says so' },
      isRight: answer => has(answer, own[0]) && !has(answer, wrongFirst),
    }
  },
}

export const size: Kind = {
  name: 'size',
  draw: rng => {
    const [a, b] = rng.sample(BY_SIZE, 2)
    const larger = rng.next() < 0.6
    const first = BY_SIZE.indexOf(a) > BY_SIZE.indexOf(b) === larger
    const [right, wrong] = first ? [a, b] : [b, a]
    const word = larger ? rng.pick(['larger', 'bigger']) : 'smaller'
    const body = (winner: string, loser: string) => ({
      short: `The ${winner}`,
      sentence: rng.pick([`The ${winner} is ${word}`, `The ${winner} is ${word} than the ${loser}`]),
      more: `The ${loser} is ${larger ? 'smaller' : 'larger'}`,
    })
    return {
      ask: rng.pick([
        `Which is ${word}, ${withArticle(a)} or ${withArticle(b)}?`,
        `What is ${word}: ${withArticle(a)} or ${withArticle(b)}?`,
      ]),
      right: body(right, wrong),
      wrong: body(wrong, right),
      isRight: answer =>
        has(answer, `the ${right} is ${word}`) || (has(answer, right) && !has(answer, wrong)),
    }
  },
}

/** What the model cannot know: it says so. */
export const unknown: Kind = {
  name: 'unknown',
  draw: rng => {
    const made = capitalised(madeUp(rng))
    const name = rng.pick(NAMES)
    return {
      ask: rng.pick([
        `What is the capital of ${made}?`,
        `Who is ${made}?`,
        `Where is ${made}?`,
        `What is a ${made.toLowerCase()}?`,
        `How old is ${name}?`,
        `What does ${made.toLowerCase()} mean?`,
        `When was ${made} built?`,
        `Why did ${name} go to ${made}?`,
      ]),
      right: {
        short: 'I do not know',
        sentence: rng.pick([
          'I do not know that',
          'I am sorry, but I do not know that',
          'That is something I do not know',
        ]),
        more: 'I am only a small model',
      },
      wrong: { short: 'Yes', sentence: 'Everybody knows that', more: 'It is easy' },
      isRight: answer => /\bdo not know\b/i.test(answer),
    }
  },
}
