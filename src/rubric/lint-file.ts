/** @file Rubric files as the linter reads them: also those that every other reader refuses because something is worth 0 points. */

import { DataError } from '../util/errors.ts'
import { needsPrefetch } from '../util/prefetched-rows.ts'
import { readText } from '../util/text-file.ts'
import type { Rubric } from './criterion.ts'
import { rowsOfText, textOfRows } from './formats/document.ts'
import { type ReadRubricOptions, readRubricFile, readRubricText } from './formats/file.ts'
import type { RubricFile } from './formats/item.ts'

/** Stands for 0 points while a file is read. */
const NOTHING = Number.MIN_VALUE

/**
 * Reads a rubric file as `readRubricFile` does, with criteria of 0 points let through, and without rows that have none.
 * @throws DataError for what is wrong otherwise.
 */
export const readRubricsToLint = (path: string, given: ReadRubricOptions = {}): RubricFile => {
  const options: ReadRubricOptions = { ...given, promptsAlone: 'left-out' }
  if (needsPrefetch(path)) return readRubricFile(path, options)
  const text = readText(path)
  try {
    return readRubricText(text, path, options)
  } catch (error) {
    if (!(error instanceof DataError)) throw error
    return withZeros(text, path, options, error)
  }
}

const withZeros = (
  text: string,
  path: string,
  options: ReadRubricOptions,
  refusal: DataError,
): RubricFile => {
  const { layout, rows } = rowsOfText(text, path)
  const raised = rows.map(({ value }) => replacePoints(value, 0, NOTHING))
  if (JSON.stringify(raised) === JSON.stringify(rows.map(({ value }) => value))) throw refusal
  const file = readRubricText(textOfRows(raised, layout, 'rubric.json'), path, options)
  return { ...file, items: file.items.map(item => ({ ...item, rubric: lowered(item.rubric) })) }
}

const lowered = (rubric: Rubric): Rubric => ({
  ...rubric,
  criteria: rubric.criteria.map(criterion =>
    criterion.points === NOTHING ? { ...criterion, points: 0 } : criterion,
  ),
})

/** A copy of a value with the points of its criteria replaced, wherever they are. */
const replacePoints = (value: unknown, from: number, to: number): unknown => {
  if (Array.isArray(value)) return value.map(entry => replacePoints(entry, from, to))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      (key === 'points' || key === 'weight') && inner === from ? to : replacePoints(inner, from, to),
    ]),
  )
}
