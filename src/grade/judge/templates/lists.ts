/** @file Judges that are asked about a list in one call: how the list and its answer look, and how the answer is read. */

import type { AnswerSchema } from '../../../chat/chat-model.ts'
import type { Criterion } from '../../../rubric/criterion.ts'
import { QUOTING_NOTE, type Quote } from '../../../util/untrusted.ts'
import type { GradeItem } from '../../grader.ts'
import { saidAs } from '../literals.ts'
import type { Parsed, ParsedAnswer } from '../parse.ts'
import { eachEntry, explanationText, readAnswer, type Spoken } from './answer.ts'
import type { JudgeForm } from './form.ts'
import { entriesSchema, readMany } from './many-criteria.ts'
import { type Judgement, type Scale, shortValue, wrong } from './scale.ts'
import { type JudgeTemplate, type SubjectOptions, shownMessages } from './template.ts'

/** What the two quoted parts of a subject are called, for people and as tags. */
export interface SubjectWording {
  question: string
  /** Null: nothing but the question is shown. */
  judged: { heading: string; tag: string } | null
}

/** The conversation that is asked about; a lone question is called so. */
export const questionParts = (item: GradeItem, options: SubjectOptions, quote: Quote): string[] => {
  const messages = shownMessages(item, options)
  const lone = messages.length === 1 && messages[0].role === 'user'
  return messages.map(({ role, content }) => quote(content, lone ? 'question' : role))
}

/** A form with one template for all calls: all criteria are on its scale. */
export const judgeFormOf = (template: JudgeTemplate, subject: JudgeForm['subject']): JudgeForm => ({
  subject,
  scaleOf: () => template.scale,
  one: () => template,
  many: () => template,
})

/** The same, of a question and a text. */
export const oneTemplateForm = (template: JudgeTemplate, { question, judged }: SubjectWording): JudgeForm =>
  judgeFormOf(template, (item, options, quote) => {
    const parts = [question, ...questionParts(item, options, quote)]
    if (judged !== null) parts.push(judged.heading, quote(item.response, judged.tag))
    return parts.join('\n')
  })

/** A scale without rules and questions of its own: those of a list are in its instructions. */
export const listScale = (scale: Omit<Scale, 'rules' | 'question'>): Scale => ({
  ...scale,
  rules: [],
  question: () => '',
})

/** True or false, and no word that only looks like it. @param key of a verdict where a judge writes an object for each */
export const trueFalse = (key: string): Scale =>
  listScale({
    name: 'true-false',
    key,
    valueSchema: { type: 'boolean' },
    valueText: 'true or false',
    read: value =>
      typeof value === 'boolean' ? { value: { met: value } } : wrong(key, 'true or false', value),
  })

/** 1 where it holds, 0 where it does not. */
export const zeroOne = (key: string): Scale =>
  listScale({
    name: 'zero-one',
    key,
    valueSchema: { type: 'integer', enum: [0, 1] },
    valueText: '0 or 1',
    read: value =>
      value === 0 || value === 1 ? { value: { met: value === 1 } } : wrong(key, '0 or 1', value),
  })

/** A share, or null where it cannot be told. */
export const zeroToOne = (name: string, key: string): Scale =>
  listScale({
    ...{ name, key },
    valueSchema: { type: ['number', 'null'], minimum: 0, maximum: 1 },
    valueText: 'a number from 0 to 1, or null',
    read: value => {
      if (value === null) return { value: { met: null } }
      return typeof value === 'number' && value >= 0 && value <= 1
        ? { value: { met: value > 0.5, credit: value } }
        : wrong(key, 'a number from 0 to 1, or null', value)
    },
  })

const systemText = (instructions: readonly string[], form: string): string =>
  [...instructions, QUOTING_NOTE, `Answer with one JSON object and nothing else: ${form}`].join('\n')

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
    ...{ name, version, scale },
    system: systemText(instructions, formText(wording)),
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

/** How a numbered list is asked for whose entries get a justification and a value each. */
export interface EntriesWording
  extends Pick<ListWording, 'name' | 'version' | 'scale' | 'instructions' | 'shown'> {
  /** What a justification says. */
  decides: string
  /** Names the form of an answer about so many entries. */
  answerName(count: number): string
  /** The list that is judged. */
  list(criteria: readonly Criterion[], quote: Quote): string[]
}

const readEntry = (
  entry: unknown,
  index: number,
  criterion: Criterion,
  { key, read }: Scale,
): Parsed<Spoken> => {
  if (entry === null || typeof entry !== 'object' || Array.isArray(entry))
    return { problem: `expected an object, got ${shortValue(entry)}` }
  const fields = entry as Record<string, unknown>
  const own = (name: string) => (Object.hasOwn(fields, name) ? fields[name] : undefined)
  const number = own('number')
  if (number !== index + 1) return { problem: `number: expected ${index + 1}, got ${shortValue(number)}` }
  const justification = own('justification')
  if (typeof justification !== 'string' || justification.trim() === '')
    return { problem: `justification: expected a text, got ${shortValue(justification)}` }
  const reading = read(own(key), criterion)
  return reading.problem === undefined
    ? {
        value: {
          judgement: { ...reading.value, explanation: explanationText(justification) },
          said: saidAs(own(key)),
        },
      }
    : reading
}

/**
 * A template that asks for `{"verdicts": [{number, justification, <key>}, ...]}`: one judgement an entry, all or none. A list of another
 * length makes the whole answer unusable: to align it would be to guess.
 */
export const entriesTemplate = (wording: EntriesWording): JudgeTemplate => {
  const { name, version, scale, instructions, shown, decides, answerName, list } = wording
  const { key, valueText } = scale
  const form = `{"verdicts": [{"number": 1, "justification": "${decides}", "${key}": ${valueText}}, ...]}`
  return {
    ...{ name, version, scale },
    system: systemText(instructions, form),
    question: (criteria, quote) =>
      [
        ...list(criteria, quote),
        `Answer with the JSON object only: "verdicts" with ${criteria.length} entries, each first "number", then "justification", then "${key}".`,
      ].join('\n'),
    answerSchema: ({ length }) => entriesSchema(answerName(length), length, scale, 'justification'),
    answerText: ({ length }) => `one JSON object ${form} with exactly ${length} entries`,
    ...(shown && { shown }),
    read: (text, criteria) => readEntries(text, criteria, scale),
  }
}

const readEntries = (text: string, criteria: readonly Criterion[], scale: Scale): ParsedAnswer<Judgement[]> =>
  readAnswer<Judgement>(text, {
    scale,
    bareLists: false,
    read: json => {
      const list =
        json !== null && typeof json === 'object' ? (json as { verdicts?: unknown }).verdicts : undefined
      if (!Array.isArray(list)) return { problem: 'expected an object with the list "verdicts"' }
      if (list.length !== criteria.length)
        return {
          problem: `expected ${criteria.length} verdicts, one an entry of the list, got ${list.length}`,
        }
      return eachEntry(list, (entry, i) => readEntry(entry, i, criteria[i], scale))
    },
  })
