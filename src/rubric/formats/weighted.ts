/** @file Weighted lists with their question or alone: DR Tulu and RaR, and under other keys ResearchRubrics and ResearchQA. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { type Criterion, pointsSchema } from '../criterion.ts'
import type { ScoreLevel } from '../levels.ts'
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

/**
 * Where criteria say what is asked, and of which kind it is: ResearchRubrics (fields of `processed_data.jsonl` as the README of
 * scaleapi/researchrubrics has them), ResearchQA (of `test.json` as researchqa_loader.py of realliyifei/ResearchQA reads them).
 */
const TEXT_KEYS = ['description', 'criterion', 'rubric_item'] as const
type TextKey = (typeof TEXT_KEYS)[number]
const KIND_KEY = { description: null, criterion: 'axis', rubric_item: 'type' } as const

/** ResearchQA asks how far an answer covers an item, one as much as the other. */
const COVERAGE: readonly ScoreLevel[] = [
  'Not at all: it cannot be inferred',
  'Barely: it is not mentioned, but can be inferred',
  'Moderately: it is mentioned without important details',
  'Mostly: it is mentioned without some details',
  'Completely: it is mentioned with all details that it needs',
].map((text, i) => ({ low: i + 1, high: i + 1, text }))

const entrySchema = (text: TextKey) =>
  z.looseObject({
    title: z.string().optional(),
    [text]: z.string().min(1),
    weight: text === 'rubric_item' ? pointsSchema.default(1) : pointsSchema,
  })

type Entry = Fields & { title?: string; weight: number }

const RUBRIC_KEYS = ['rubrics', 'rubric'] as const
const QUESTION_KEYS = ['query', 'question', 'prompt'] as const
const REFERENCE_KEYS = ['reference_answer', 'reference'] as const
const ID_KEYS = ['id', 'prompt_id', 'sample_id'] as const

/** The first of some keys under which a row has what is wanted. */
const keyOf = <K extends string>(row: Fields, keys: readonly K[], type: 'string' | 'list'): K | undefined =>
  keys.find(key => (type === 'list' ? Array.isArray(row[key]) : typeof row[key] === 'string'))

const isEntry = (value: unknown) => isObject(value) && 'description' in value && 'weight' in value

const textKeyOf = (entry: unknown): TextKey =>
  (isObject(entry) && keyOf(entry, TEXT_KEYS, 'string')) || 'description'

/** Under which key a row had what; kept, so that it is written under the same. */
interface Keys {
  rubric?: string
  question?: string
  reference?: string
  /** Absent: `description`. */
  text?: TextKey
}

/** RaR opens a description with its category: "Pitfall Criteria: ...". */
const categoryOf = (entry: Entry, text: TextKey): { category?: string } => {
  const kind = KIND_KEY[text]
  const category = /^(essential|important|optional|pitfall) criteria\b/i.exec(String(entry[text]))?.[1]
  if (kind !== null) return typeof entry[kind] === 'string' ? { category: entry[kind] } : {}
  return category === undefined ? {} : { category: category.toLowerCase() }
}

const readCriteria = (value: unknown, place: string, text: TextKey = 'description'): Criterion[] => {
  const unique = uniqueNames()
  const entries = parseWith(z.array(entrySchema(text)), value, place, DataError) as Entry[]
  return entries.map((entry, index) => ({
    id: unique(entry.title || `c${index}`),
    ...(entry.title === undefined ? {} : { title: entry.title }),
    text: String(entry[text]),
    points: entry.weight,
    ...categoryOf(entry, text),
    ...(text === 'rubric_item' && { levels: [...COVERAGE] }),
    ...extraOf(entry, ['title', text, 'weight']),
  }))
}

const writeCriteria = (item: RubricItem, text: TextKey = 'description') =>
  item.rubric.criteria.map(criterion => ({
    ...(criterion.title === undefined && item.source === name
      ? {}
      : { title: criterion.title ?? criterion.id }),
    [text]: criterion.text,
    ...(text === 'rubric_item' && criterion.points === 1 ? {} : { weight: criterion.points }),
    ...ownPart(item, criterion, name),
  }))

const readRow = (row: Fields, place: string, fallback: string): RubricItem => {
  const rubric = keyOf(row, RUBRIC_KEYS, 'list')!
  const question = keyOf(row, QUESTION_KEYS, 'string')
  const reference = keyOf(row, REFERENCE_KEYS, 'string')
  const id = keyOf(row, ID_KEYS, 'string')
  const text = textKeyOf((row[rubric] as unknown[])[0])
  const keys: Keys = { rubric, question, reference, ...(text !== 'description' && { text }) }
  const fields = extraOf(row, [rubric, ...[question, reference].filter(key => key !== undefined)]).extra
  return {
    id: id === undefined ? fallback : String(row[id]),
    ...(question === undefined ? {} : { prompt: userPrompt(String(row[question])) }),
    ...(reference === undefined ? {} : { reference: String(row[reference]) }),
    rubric: { criteria: readCriteria(row[rubric], `${place}: ${rubric}`, text) },
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
    const [first] = row[key] as unknown[]
    const text = textKeyOf(first)
    return needsKeys(first, text === 'rubric_item' ? [text] : [text, 'weight'])
  },

  read: (value, place, id) => {
    if (isObject(value) && keyOf(value, RUBRIC_KEYS, 'list')) return readRow(value, place, id)
    return { id, rubric: { criteria: readCriteria(value, place) }, source: name }
  },

  write: item => {
    const own = item.source === name
    const { keys, fields } = (own ? (item.extra ?? {}) : { keys: {} }) as { keys?: Keys; fields?: Fields }
    checkHolds(item, name, { penalties: true, ...(keys?.text === 'rubric_item' && { levels: true }) })
    const criteria = writeCriteria(item, keys?.text)
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
