/** @file WritingBench rows: a query with a checklist whose criteria are scored 1 to 10, described in bands of two. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { Criterion } from '../criterion.ts'
import { uniqueNames } from '../unique.ts'
import {
  checkHolds,
  extraOf,
  levelsByKey,
  needsKeys,
  ownExtra,
  ownPart,
  questionOf,
  type RubricFormat,
  userPrompt,
} from './item.ts'

const name = 'writingbench'
const BAND = /^(\d+)-(\d+)$/

const schema = z.looseObject({
  query: z.string(),
  index: z.union([z.number(), z.string()]).optional(),
  checklist: z.array(z.looseObject({ name: z.string().min(1), criteria_description: z.string().min(1) })),
})

type Entry = z.output<typeof schema>['checklist'][number]

const readEntry = (entry: Entry, id: string, place: string): Criterion => {
  const bands = Object.keys(entry).filter(key => BAND.test(key))
  return {
    id,
    title: entry.name,
    text: entry.criteria_description,
    points: 1,
    levels: levelsByKey(entry, BAND, place),
    ...extraOf(entry, ['name', 'criteria_description', ...bands]),
  }
}

/** All criteria of a checklist count alike: 1 point each. */
export const writingbench: RubricFormat = {
  name,
  mismatch: row => needsKeys(row, ['query', 'checklist']),

  read: (value, place, id) => {
    const row = parseWith(schema, value, place, DataError)
    const unique = uniqueNames()
    const criteria = row.checklist.map((entry, i) =>
      readEntry(entry, unique(entry.name), `${place}: checklist[${i}]`),
    )
    return {
      id: row.index === undefined ? id : String(row.index),
      prompt: userPrompt(row.query),
      rubric: { criteria },
      source: name,
      ...extraOf(row, ['query', 'checklist']),
    }
  },

  write: item => {
    checkHolds(item, name, { levels: true })
    return {
      ...(item.source === name ? {} : { index: item.id }),
      query: questionOf(item, name),
      checklist: item.rubric.criteria.map(criterion => writeEntry(criterion, ownPart(item, criterion, name))),
      ...ownExtra(item, name),
    }
  },
}

const writeEntry = ({ id, title = id, text, points, levels }: Criterion, extra: object) => {
  if (points !== 1 || !levels)
    throw new DataError(
      `criterion ${id}: format ${name} expects 1 point and levels, got ${points} points${levels ? '' : ' and no levels'}; write native instead`,
    )
  return {
    name: title,
    criteria_description: text,
    ...Object.fromEntries(levels.map(level => [`${level.low}-${level.high}`, level.text])),
    ...extra,
  }
}
