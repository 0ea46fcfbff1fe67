/** @file Several criteria a call, or the whole rubric: the judge answers with a list in the order of the criteria. */

import type { Criterion } from '../../../rubric/criterion.ts'
import { type ParsedAnswer, parseAnswer, type Reading } from '../parse.ts'
import { contradiction, withExplanation } from './answer.ts'
import type { Judgement, Scale } from './scale.ts'
import { commonRules, type JudgeTemplate, signWord } from './template.ts'

/** The template for a numbered list of criteria on one scale. */
export const manyCriteria = (scale: Scale): JudgeTemplate => ({
  name: `list/${scale.name}`,
  version: 1,
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
  answerSchema: criteria => ({
    name: `verdicts_${scale.key}_${criteria.length}`,
    schema: {
      type: 'object',
      properties: {
        verdicts: {
          type: 'array',
          minItems: criteria.length,
          maxItems: criteria.length,
          items: {
            type: 'object',
            properties: {
              number: { type: 'integer' },
              explanation: { type: 'string' },
              [scale.key]: scale.valueSchema,
            },
            required: ['number', 'explanation', scale.key],
            additionalProperties: false,
          },
        },
      },
      required: ['verdicts'],
      additionalProperties: false,
    },
  }),
  read: (text, criteria) => readMany(text, scale, criteria),
})

const readMany = (text: string, scale: Scale, criteria: readonly Criterion[]): ParsedAnswer<Judgement[]> => {
  let named = true
  const reading = parseAnswer(text, (json, strict) => {
    const entries = listOf(json, strict)
    if (entries === null) return { problem: 'expected an object with the list "verdicts"' }
    named = entries.some(entry => entry !== null && typeof entry === 'object')
    return alignedJudgements(entries, scale, criteria)
  })
  if (reading.problem !== undefined || !named) return reading
  const problem = contradiction(text, reading.strict, scale.key, criteria.length)
  return problem === null ? reading : { problem, strict: reading.strict }
}

/** `verdicts`, `judgement` (RLCER's verifier answers `{judgement: boolean[]}`), or a list that is the whole answer. */
const listOf = (json: unknown, strict: boolean): unknown[] | null => {
  if (Array.isArray(json)) return strict || holdsObjects(json) ? json : null
  if (json === null || typeof json !== 'object') return null
  const { verdicts, judgement } = json as { verdicts?: unknown; judgement?: unknown }
  const list = verdicts ?? judgement
  return Array.isArray(list) ? list : null
}

const holdsObjects = (list: unknown[]): boolean =>
  list.length > 0 && list.every(entry => entry !== null && typeof entry === 'object')

/** A list of another length makes the whole call unusable: to align it would be to guess (spec 1.5). */
const alignedJudgements = (
  entries: readonly unknown[],
  scale: Scale,
  criteria: readonly Criterion[],
): Reading<Judgement[]> => {
  if (entries.length !== criteria.length)
    return { problem: `expected ${criteria.length} verdicts, one a criterion, got ${entries.length}` }
  const judgements: Judgement[] = []
  for (const [index, entry] of entries.entries()) {
    const reading = readEntry(entry, index, scale, criteria[index])
    if (reading.problem !== undefined) return { problem: `verdict ${index + 1}: ${reading.problem}` }
    judgements.push(reading.value)
  }
  return { value: judgements }
}

const readEntry = (entry: unknown, index: number, scale: Scale, criterion: Criterion): Reading<Judgement> => {
  if (entry === null || typeof entry !== 'object') return scale.read(entry, criterion)
  const { number } = entry as { number?: unknown }
  if (number !== undefined && number !== index + 1)
    return { problem: `expected number ${index + 1}, got ${JSON.stringify(number)}` }
  return withExplanation(entry, scale, criterion)
}
