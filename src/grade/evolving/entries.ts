/** @file An answer with a numbered entry a criterion: `{"verdicts": [{number, justification, <key>}, ...]}`. */

import type { Criterion } from '../../rubric/criterion.ts'
import { saidAs } from '../judge/literals.ts'
import type { Parsed, ParsedAnswer } from '../judge/parse.ts'
import { explanationText, readAnswer, type Spoken } from '../judge/templates/answer.ts'
import { type Judgement, type Scale, shortValue } from '../judge/templates/scale.ts'

type EntryScale = Pick<Scale, 'key' | 'read'>

const readEntry = (
  entry: unknown,
  index: number,
  criterion: Criterion,
  { key, read }: EntryScale,
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

/** A list of another length makes the whole answer unusable: to align it would be to guess. */
const readList = (json: unknown, criteria: readonly Criterion[], scale: EntryScale): Parsed<Spoken[]> => {
  const list =
    json !== null && typeof json === 'object' ? (json as { verdicts?: unknown }).verdicts : undefined
  if (!Array.isArray(list)) return { problem: 'expected an object with the list "verdicts"' }
  if (list.length !== criteria.length)
    return { problem: `expected ${criteria.length} verdicts, one an entry of the list, got ${list.length}` }
  const spoken: Spoken[] = []
  for (const [index, entry] of list.entries()) {
    const reading = readEntry(entry, index, criteria[index], scale)
    if (reading.problem !== undefined) return { problem: `verdict ${index + 1}: ${reading.problem}` }
    spoken.push(reading.value)
  }
  return { value: spoken }
}

/** One judgement an entry, all or none. */
export const readEntries = (
  text: string,
  criteria: readonly Criterion[],
  scale: EntryScale,
): ParsedAnswer<Judgement[]> =>
  readAnswer<Judgement>(text, {
    scale,
    bareLists: false,
    read: json => readList(json, criteria, scale),
  })

/** The JSON schema of such an answer. */
export const entriesSchema = (name: string, count: number, { key, valueSchema }: Scale) => ({
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
          properties: {
            number: { type: 'integer' },
            justification: { type: 'string' },
            [key]: valueSchema,
          },
          required: ['number', 'justification', key],
          additionalProperties: false,
        },
      },
    },
    required: ['verdicts'],
    additionalProperties: false,
  },
})
