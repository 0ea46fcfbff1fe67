/** @file Rubrics of `{title, description, weight}` as DR Tulu and RaR write them, with their question or alone. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { type Criterion, pointsSchema } from '../criterion.ts'
import { uniqueNames } from '../unique.ts'
import {
  checkHolds,
  extraOf,
  type Fields,
  isObject,
  needsKeys,
  ownPart,
  questionOf,
  type RubricFormat,
  type RubricItem,
  userPrompt,
} from './item.ts'

const name = 'weighted'

const entrySchema = z.looseObject({
  title: z.string().optional(),
  description: z.string().min(1),
  weight: pointsSchema,
})

type Entry = z.output<typeof entrySchema>

const RUBRIC_KEYS = ['rubrics', 'rubric'] as const
const QUESTION_KEYS = ['query', 'question', 'prompt'] as const
const REFERENCE_KEYS = ['reference_answer', 'reference'] as const
const ID_KEYS = ['id', 'prompt_id'] as const

/** The first of some keys under which a row has what is wanted. */
const keyOf = <K extends string>(row: Fields, keys: readonly K[], type: 'string' | 'list'): K | undefined =>
  keys.find(key => (type === 'list' ? Array.isArray(row[key]) : typeof row[key] === 'string'))

const isEntry = (value: unknown) => isObject(value) && 'description' in value && 'weight' in value

/** Under which key a row had what; kept, so that it is written under the same. */
interface Keys {
  rubric?: string
  question?: string
  reference?: string
}

/** RaR opens a description with its category: "Pitfall Criteria: ...". */
const categoryOf = (description: string): { category?: string } => {
  const category = /^(essential|important|optional|pitfall) criteria\b/i.exec(description)?.[1]
  return category === undefined ? {} : { category: category.toLowerCase() }
}

const readCriteria = (entries: readonly Entry[]): Criterion[] => {
  const unique = uniqueNames()
  return entries.map((entry, index) => ({
    id: unique(entry.title || `c${index}`),
    ...(entry.title === undefined ? {} : { title: entry.title }),
    text: entry.description,
    points: entry.weight,
    ...categoryOf(entry.description),
    ...extraOf(entry, ['title', 'description', 'weight']),
  }))
}

const writeCriteria = (item: RubricItem) =>
  item.rubric.criteria.map(criterion => ({
    ...(criterion.title === undefined && item.source === name
      ? {}
      : { title: criterion.title ?? criterion.id }),
    description: criterion.text,
    weight: criterion.points,
    ...ownPart(item, criterion, name),
  }))

const readRow = (row: Fields, place: string, fallback: string): RubricItem => {
  const rubric = keyOf(row, RUBRIC_KEYS, 'list')!
  const question = keyOf(row, QUESTION_KEYS, 'string')
  const reference = keyOf(row, REFERENCE_KEYS, 'string')
  const id = keyOf(row, ID_KEYS, 'string')
  const entries = parseWith(z.array(entrySchema), row[rubric], `${place}: ${rubric}`, DataError)
  const keys: Keys = { rubric, question, reference }
  const fields = extraOf(row, [rubric, ...[question, reference].filter(key => key !== undefined)]).extra
  return {
    id: id === undefined ? fallback : String(row[id]),
    ...(question === undefined ? {} : { prompt: userPrompt(String(row[question])) }),
    ...(reference === undefined ? {} : { reference: String(row[reference]) }),
    rubric: { criteria: readCriteria(entries) },
    source: name,
    extra: { keys, ...(fields ? { fields } : {}) },
  }
}

/**
 * A row is a question with `rubrics` (or `rubric`), or the list of criteria alone. Weights are signed; criteria are named
 * by their titles.
 */
export const weighted: RubricFormat = {
  name,

  mismatch: row => {
    if (Array.isArray(row)) return isEntry(row[0]) ? null : 'no list of {title, description, weight}'
    if (!isObject(row)) return 'no object'
    const key = keyOf(row, RUBRIC_KEYS, 'list')
    if (key === undefined) return 'no list rubrics'
    return needsKeys((row[key] as unknown[])[0], ['description', 'weight'])
  },

  read: (value, place, id) => {
    if (isObject(value) && keyOf(value, RUBRIC_KEYS, 'list')) return readRow(value, place, id)
    const entries = parseWith(z.array(entrySchema), value, place, DataError)
    return { id, rubric: { criteria: readCriteria(entries) }, source: name }
  },

  write: item => {
    checkHolds(item, name, { penalties: true })
    const own = item.source === name
    const { keys, fields } = (own ? (item.extra ?? {}) : { keys: {} }) as { keys?: Keys; fields?: Fields }
    const criteria = writeCriteria(item)
    if (!keys) return criteria
    return {
      ...(own ? {} : { id: item.id }),
      ...(item.prompt ? { [keys.question ?? 'query']: questionOf(item, name) } : {}),
      [keys.rubric ?? 'rubrics']: criteria,
      ...(item.reference === undefined ? {} : { [keys.reference ?? 'reference_answer']: item.reference }),
      ...fields,
    }
  },
}
