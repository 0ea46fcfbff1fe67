/** @file Our own rubrics, in YAML or JSON: a rubric alone, or items of prompt, reference and rubric. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { closest, parseWith } from '../../util/schema.ts'
import { parseRubric, rubricSchema } from '../criterion.ts'
import {
  type Fields,
  type FormatName,
  isObject,
  isPlaceName,
  messagesSchema,
  needsKeys,
  type RubricFormat,
  type RubricItem,
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

/** What an item may say beside its rubric. A prompt may be a lone question. */
const aboutItem = {
  id: z.string().min(1).optional(),
  prompt: z.union([z.string(), messagesSchema]).optional(),
  reference: z.string().optional(),
}

/** Shape of an item. */
const itemSchema = z.strictObject({
  ...aboutItem,
  rubric: rubricSchema,
  source: z.enum(SOURCES).optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
})

/** A row with its criteria beside the prompt, as people write it: `{prompt, criteria}`. */
const flatSchema = z.strictObject({ ...rubricSchema.shape, ...aboutItem })

/** The same before anybody has said what a good answer is. */
const promptSchema = z.strictObject(aboutItem)

const messagesOf = (prompt: z.output<typeof aboutItem.prompt>) =>
  prompt === undefined ? {} : { prompt: typeof prompt === 'string' ? userPrompt(prompt) : prompt }

const ROW_KEYS = ['prompt', 'rubric', 'source', ...Object.keys(flatSchema.shape)]

/** Whether a row has a prompt, or a key that can only be a slip for it: its schema then says so. */
const hasPrompt = (row: Fields): boolean =>
  'prompt' in row ||
  Object.keys(row).some(key => !ROW_KEYS.includes(key) && closest(key, ROW_KEYS) === 'prompt')

const isFlat = (row: Fields): boolean =>
  'criteria' in row && !('rubric' in row) && ('reference' in row || hasPrompt(row))

const readFlat = (row: Fields, place: string, id: string): RubricItem => {
  const { id: own = id, prompt, reference } = parseWith(flatSchema, row, place, DataError)
  const { prompt: _, reference: __, id: ___, ...rubric } = row
  return {
    id: own,
    ...messagesOf(prompt),
    ...(reference !== undefined && { reference }),
    rubric: parseRubric(rubric, place),
  }
}

/** Whether a row is a prompt that nothing is said about. */
export const isPromptAlone = (row: unknown): row is Fields =>
  isObject(row) && !['criteria', 'rubric', 'rubrics'].some(key => key in row) && hasPrompt(row)

/** A prompt without criteria: an item whose rubric is empty. @throws DataError for keys that it does not have */
export const readPromptAlone = (row: Fields, place: string, name: string): RubricItem => {
  const { id = name, prompt, reference } = parseWith(promptSchema, row, place, DataError)
  return {
    id,
    ...messagesOf(prompt),
    ...(reference !== undefined && { reference }),
    rubric: { criteria: [] },
  }
}

/**
 * A row with `criteria` alone is a rubric, one with `rubric`, or with `criteria` beside a prompt, an item. An item keeps the
 * extra fields of the format that it was first read from, so that it can be written in that format again.
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
    if (isObject(value) && isFlat(value)) return readFlat(value, place, id)
    if (!isObject(value) || !('rubric' in value)) {
      const rubric = parseRubric(value, place)
      return { id: rubric.id ?? id, rubric }
    }
    const { prompt, rubric: _, ...row } = parseWith(itemSchema, value, place, DataError)
    return {
      ...row,
      id: row.id ?? id,
      ...messagesOf(prompt),
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
