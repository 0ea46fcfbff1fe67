/** @file Our own rubrics, in YAML or JSON: a rubric alone, or items of prompt, reference and rubric. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { parseRubric, rubricSchema } from '../criterion.ts'
import {
  type FormatName,
  isObject,
  isPlaceName,
  messagesSchema,
  needsKeys,
  type RubricFormat,
  userPrompt,
} from './item.ts'

const name = 'native'

const SOURCES = [
  'native',
  'healthbench',
  'paperbench',
  'scholarqa-cs',
  'writingbench',
  'deep-research-bench',
  'biggen',
  'weighted',
] as const satisfies readonly FormatName[]

/** Shape of an item. A prompt may be a lone question. */
const itemSchema = z.strictObject({
  id: z.string().min(1).optional(),
  prompt: z.union([z.string(), messagesSchema]).optional(),
  reference: z.string().optional(),
  rubric: rubricSchema,
  source: z.enum(SOURCES).optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
})

/**
 * A row with `criteria` is a rubric alone, one with `rubric` an item. An item keeps the extra fields of the format that
 * it was first read from, so that it can be written in that format again.
 */
export const native: RubricFormat = {
  name,

  mismatch: row => {
    if (!isObject(row)) return 'no object'
    if ('criteria' in row) return Array.isArray(row.criteria) ? null : 'criteria is no list'
    if ('rubric' in row) return needsKeys(row.rubric, ['criteria'])
    return 'no criteria, no rubric, no items'
  },

  read: (value, place, id) => {
    if (!isObject(value) || !('rubric' in value)) {
      const rubric = parseRubric(value, place)
      return { id: rubric.id ?? id, rubric }
    }
    const { prompt, rubric: _, ...row } = parseWith(itemSchema, value, place, DataError)
    return {
      ...row,
      id: row.id ?? id,
      ...(prompt === undefined ? {} : { prompt: typeof prompt === 'string' ? userPrompt(prompt) : prompt }),
      rubric: parseRubric(value.rubric, `${place}: rubric`),
    }
  },

  write: item => {
    const { id, prompt, reference, rubric, source, extra } = item
    const nothingElse = !prompt && reference === undefined && !source && !extra
    if (nothingElse && (rubric.id === undefined ? isPlaceName(id) : rubric.id === id)) return rubric
    const [only, ...others] = prompt ?? []
    const question = only?.role === 'user' && others.length === 0 && Object.keys(only).length === 2
    return {
      id,
      ...(prompt ? { prompt: question ? only.content : prompt } : {}),
      ...(reference === undefined ? {} : { reference }),
      rubric,
      ...(source ? { source } : {}),
      ...(extra ? { extra } : {}),
    }
  },
}
