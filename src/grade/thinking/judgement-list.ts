/** @file Answers that are a list of judgements in the order of the criteria, `{"judgement": [...]}`, and nothing said in between. */

import type { AnswerSchema } from '../../chat/chat-model.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { Parsed } from '../judge/parse.ts'
import { readMany } from '../judge/templates/many-criteria.ts'
import { type Judgement, type Scale, shortValue } from '../judge/templates/scale.ts'
import type { JudgeTemplate } from '../judge/templates/template.ts'
import { QUOTING_NOTE, type Quote } from '../judge/untrusted.ts'

const only = (key: string, expected: string, met: (value: unknown) => boolean | null) => {
  return (value: unknown): Parsed<Judgement> => {
    const found = met(value)
    return found === null
      ? { problem: `${key}: expected ${expected}, got ${shortValue(value)}` }
      : { value: { met: found } }
  }
}

/** True or false, and no word that only looks like it. @param key of a verdict where a judge writes an object for each */
export const trueFalse = (key: string): Scale => ({
  name: 'true-false',
  key,
  valueSchema: { type: 'boolean' },
  valueText: 'true or false',
  rules: [],
  question: () => '',
  read: only(key, 'true or false', value => (typeof value === 'boolean' ? value : null)),
})

/** 1 where it holds, 0 where it does not. */
export const zeroOne = (key: string): Scale => ({
  name: 'zero-one',
  key,
  valueSchema: { type: 'integer', enum: [0, 1] },
  valueText: '0 or 1',
  rules: [],
  question: () => '',
  read: only(key, '0 or 1', value => (value === 0 || value === 1 ? value === 1 : null)),
})

/** How a list of judgements is asked for. */
export interface ListWording {
  /** Part of every key, with its version: another wording is another version. */
  name: string
  version: number
  scale: Scale
  /** Who is asked, what for, and the rules; the note on quotations and the form of the answer are added. */
  instructions: readonly string[]
  /** One entry of the list that is judged. */
  entry(criterion: Criterion, number: number, quote: Quote): string
  /** What the entries are called. */
  entries: string
  /** What an entry shows beyond text and sign. */
  shown?(criterion: Criterion): readonly unknown[]
  /** Fields that are asked for behind the list and not used, with what they are. */
  further?: Readonly<Record<string, string>>
}

const formText = ({ scale, further = {} }: ListWording): string => {
  const fields = Object.entries(further).map(([key, what]) => `, "${key}": ${what}`)
  return `{"judgement": [${scale.valueText}, ...]${fields.join('')}}`
}

const schemaOf = ({ scale, further = {} }: ListWording, count: number): AnswerSchema => ({
  name: `judgement_${scale.name.replace('-', '_')}_${count}`,
  schema: {
    type: 'object',
    properties: {
      judgement: { type: 'array', minItems: count, maxItems: count, items: scale.valueSchema },
      ...Object.fromEntries(Object.keys(further).map(key => [key, { type: 'number' }])),
    },
    required: ['judgement', ...Object.keys(further)],
    additionalProperties: false,
  },
})

/**
 * A template that asks for one judgement an entry, in order. A list of any other length is no answer: to align it would be to
 * guess.
 */
export const listTemplate = (wording: ListWording): JudgeTemplate => {
  const { name, version, scale, instructions, entry, entries, shown } = wording
  return {
    name,
    version,
    scale,
    system: [
      ...instructions,
      QUOTING_NOTE,
      `Answer with one JSON object and nothing else: ${formText(wording)}`,
    ].join('\n'),
    question: (criteria, quote) =>
      [
        `The ${entries}, ${criteria.length} in all:`,
        ...criteria.map((criterion, index) => entry(criterion, index + 1, quote)),
        `Answer with the JSON object only: "judgement" is a list of exactly ${criteria.length} values, each ${scale.valueText}, in the order of the ${entries}.`,
      ].join('\n'),
    answerSchema: criteria => schemaOf(wording, criteria.length),
    answerText: criteria =>
      `one JSON object ${formText(wording)} with exactly ${criteria.length} values in "judgement", each ${scale.valueText}`,
    ...(shown && { shown }),
    read: (text, criteria) => readMany(text, scale, criteria),
  }
}
