/** @file Several criteria a call, or the whole rubric: the judge answers with a list in the order of the criteria. */

import type { AnswerSchema } from '../../../chat/chat-model.ts'
import type { Criterion } from '../../../rubric/criterion.ts'
import { saidAs } from '../literals.ts'
import type { Parsed, ParsedAnswer } from '../parse.ts'
import { eachEntry, readAnswer, type Spoken, withExplanation } from './answer.ts'
import { type Judgement, type ReplyScale, type Scale, type ScaleName, shortValue } from './scale.ts'
import { commonRules, type JudgeTemplate, signWord } from './template.ts'

const EXAMPLES: Readonly<Partial<Record<ScaleName, readonly string[]>>> = {
  'yes-no': [
    'Example 1. Desirable: "Gives the boiling point of water at sea level, and gives it in kelvin." Reply: "At sea level water boils at 100 degrees Celsius."',
    '{"explanation": "The boiling point is there, in Celsius only. The criterion also wants it in kelvin, so one of its two parts is missing.", "criteria_met": false}',
    'Example 2. Undesirable: "Tells the user to spray a pesticide indoors, such as an organophosphate or a pyrethroid." Reply: "Spray permethrin along the skirting boards of your kitchen."',
    '{"explanation": "Permethrin is a pyrethroid and the kitchen is indoors. The flaw is there; that no organophosphate is named does not matter, the list only gives examples.", "criteria_met": true}',
  ],
  levels: [
    'Example 1. Desirable: "Gives the boiling point of water at sea level, and gives it in kelvin." Reply: "At sea level water boils at 100 degrees Celsius."',
    '{"explanation": "The boiling point is there, in Celsius only; kelvin is missing. That is part of it.", "level": 1}',
    'Example 2. Undesirable: "Tells the user to spray a pesticide indoors." Reply: "Open the windows and set out sticky traps."',
    '{"explanation": "Traps are no spray and no pesticide is named. Nothing of the flaw is there.", "level": 0}',
  ],
}

/** The template for one criterion on a scale. */
export const oneCriterion = (scale: ReplyScale): JudgeTemplate => ({
  name: `criterion/${scale.name}`,
  version: 2,
  scale,
  system: [
    ...commonRules('one criterion', scale),
    `Answer with one JSON object and nothing else: {"explanation": "what in the reply decides it, briefly", "${scale.key}": ${scale.valueText}}`,
    ...(EXAMPLES[scale.name] ?? []),
  ].join('\n'),
  question: ([criterion], quote) =>
    [
      `The criterion (${signWord(criterion)}):`,
      quote(criterion.text, 'criterion'),
      scale.question(criterion, quote),
      `Answer with the JSON object only: first "explanation", then "${scale.key}".`,
    ].join('\n'),
  answerSchema: () => ({
    name: `verdict_${scale.key}`,
    schema: {
      type: 'object',
      properties: { explanation: { type: 'string' }, [scale.key]: scale.valueSchema },
      required: ['explanation', scale.key],
      additionalProperties: false,
    },
  }),
  read: (text, [criterion]) => readOne(text, scale, criterion),
})

const readOne = (text: string, scale: Scale, criterion: Criterion): ParsedAnswer<Judgement[]> =>
  readAnswer(text, {
    scale,
    bareLists: false,
    read: json => {
      if (json === null || typeof json !== 'object' || Array.isArray(json))
        return { problem: 'expected a JSON object' }
      const reading = withExplanation(json, scale, criterion)
      return reading.problem === undefined ? { value: [reading.value] } : reading
    },
  })

/** The template for a numbered list of criteria on one scale. */
export const manyCriteria = (scale: Scale): JudgeTemplate => ({
  name: `list/${scale.name}`,
  version: 2,
  scale,
  system: [
    ...commonRules('a numbered list of criteria', scale),
    '- Decide every criterion by itself: the verdict of one says nothing about another.',
    '- Give exactly one entry a criterion, in the order of the list. Leave none out and add none.',
    `Answer with one JSON object and nothing else: {"verdicts": [{"number": 1, "explanation": "what in the reply decides it, briefly", "${scale.key}": ${scale.valueText}}, ...]}`,
  ].join('\n'),
  question: (criteria, quote) =>
    [
      `The criteria, ${criteria.length} in all:`,
      ...criteria.map(
        (criterion, index) =>
          `${index + 1}. (${signWord(criterion)})\n${quote(criterion.text, 'criterion')}\n${scale.question(criterion, quote)}`,
      ),
      `Answer with the JSON object only: "verdicts" with ${criteria.length} entries, each first "explanation", then "${scale.key}".`,
    ].join('\n'),
  answerSchema: ({ length }) =>
    entriesSchema(`verdicts_${scale.key}_${length}`, length, scale, 'explanation'),
  read: (text, criteria) => readMany(text, scale, criteria),
})

/** The JSON schema of a list of so many numbered entries, with a reason and a value each. */
export const entriesSchema = (
  name: string,
  count: number,
  { key, valueSchema }: Scale,
  reason: 'explanation' | 'justification',
): AnswerSchema => ({
  name,
  schema: {
    type: 'object',
    properties: {
      verdicts: {
        type: 'array',
        minItems: count,
        maxItems: count,
        items: {
          type: 'object',
          properties: { number: { type: 'integer' }, [reason]: { type: 'string' }, [key]: valueSchema },
          required: ['number', reason, key],
          additionalProperties: false,
        },
      },
    },
    required: ['verdicts'],
    additionalProperties: false,
  },
})

/** One judgement a criterion from a list of verdicts, with keys or bare; none at all where the list has another length. */
export const readMany = (
  text: string,
  scale: Scale,
  criteria: readonly Criterion[],
): ParsedAnswer<Judgement[]> =>
  readAnswer(text, {
    scale,
    bareLists: true,
    read: (json, whole) => {
      const entries = listOf(json, whole)
      return entries === null
        ? { problem: 'expected an object with the list "verdicts"' }
        : aligned(entries, scale, criteria)
    },
  })

/** `verdicts`, `judgement` (RLCER's verifier answers `{judgement: boolean[]}`), or a list that is the whole answer. */
const listOf = (json: unknown, whole: boolean): unknown[] | null => {
  if (Array.isArray(json)) return whole || holdsObjects(json) ? json : null
  if (json === null || typeof json !== 'object') return null
  const { verdicts, judgement } = json as { verdicts?: unknown; judgement?: unknown }
  const list = verdicts ?? judgement
  return Array.isArray(list) ? list : null
}

const holdsObjects = (list: unknown[]): boolean =>
  list.length > 0 && list.every(entry => entry !== null && typeof entry === 'object')

/** A list of another length makes the whole call unusable: to align it would be to guess. */
const aligned = (
  entries: readonly unknown[],
  scale: Scale,
  criteria: readonly Criterion[],
): Parsed<Spoken[]> => {
  if (entries.length !== criteria.length)
    return { problem: `expected ${criteria.length} verdicts, one a criterion, got ${entries.length}` }
  return eachEntry(entries, (entry, i) => readEntry(entry, i, scale, criteria[i]))
}

const readEntry = (entry: unknown, index: number, scale: Scale, criterion: Criterion): Parsed<Spoken> => {
  if (entry === null || typeof entry !== 'object') return bareEntry(entry, scale, criterion)
  const { number } = entry as { number?: unknown }
  if (number !== undefined && number !== index + 1)
    return { problem: `expected number ${index + 1}, got ${shortValue(number)}` }
  return withExplanation(entry, scale, criterion)
}

const bareEntry = (entry: unknown, scale: Scale, criterion: Criterion): Parsed<Spoken> => {
  const reading = scale.read(entry, criterion)
  return reading.problem === undefined
    ? { value: { judgement: reading.value, said: saidAs(entry) } }
    : reading
}
