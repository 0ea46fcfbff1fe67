/** @file BiGGen Bench rows: one criterion a question, scored 1 to 5 by described levels (prometheus-eval). */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import {
  checkHolds,
  extraOf,
  levelsByKey,
  needsKeys,
  ownExtra,
  ownPart,
  type PromptMessage,
  type RubricFormat,
  type RubricItem,
} from './item.ts'

const name = 'biggen'
const LEVEL = /^score(\d+)_description$/

const schema = z.looseObject({
  id: z.string().optional(),
  system_prompt: z.string(),
  input: z.string(),
  reference_answer: z.string().optional(),
  score_rubric: z.looseObject({ criteria: z.string().min(1) }),
})

const messagesOf = (system: string, input: string): PromptMessage[] => [
  ...(system === '' ? [] : [{ role: 'system', content: system } as const]),
  { role: 'user', content: input },
]

const textsOf = ({ id, prompt = [] }: RubricItem) => {
  const [first, ...others] = prompt
  const [system, user] = first?.role === 'system' ? [first, others] : [undefined, prompt]
  if (user.length !== 1 || user[0].role !== 'user')
    throw new DataError(
      `item ${id}: format ${name} expects a system message and a question, got ${prompt.length} messages; write native`,
    )
  return { system_prompt: system?.content ?? '', input: user[0].content }
}

/** The one criterion is called `quality`. */
export const biggen: RubricFormat = {
  name,
  mismatch: row => needsKeys(row, ['input', 'score_rubric']),

  read: (value, place, id) => {
    const row = parseWith(schema, value, place, DataError)
    const { score_rubric: rubric } = row
    const levels = Object.keys(rubric).filter(key => LEVEL.test(key))
    const criterion = {
      id: 'quality',
      text: rubric.criteria,
      points: 1,
      levels: levelsByKey(rubric, LEVEL, `${place}: score_rubric`),
      ...extraOf(rubric, ['criteria', ...levels]),
    }
    return {
      id: row.id ?? id,
      prompt: messagesOf(row.system_prompt, row.input),
      ...(row.reference_answer === undefined ? {} : { reference: row.reference_answer }),
      rubric: { criteria: [criterion] },
      source: name,
      ...extraOf(row, ['system_prompt', 'input', 'reference_answer', 'score_rubric']),
    }
  },

  write: item => {
    checkHolds(item, name, { levels: true })
    const [criterion, ...others] = item.rubric.criteria
    const { levels } = criterion ?? {}
    if (!levels || others.length > 0 || levels.some(({ low, high }) => low !== high))
      throw new DataError(
        `item ${item.id}: format ${name} expects one criterion with a level for each score; write native instead`,
      )
    return {
      ...(item.source === name ? {} : { id: item.id }),
      ...textsOf(item),
      ...(item.reference === undefined ? {} : { reference_answer: item.reference }),
      score_rubric: {
        criteria: criterion.text,
        ...Object.fromEntries(levels.map(({ low, text }) => [`score${low}_description`, text])),
        ...ownPart(item, criterion, name),
      },
      ...ownExtra(item, name),
    }
  },
}
