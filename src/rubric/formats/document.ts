/** @file The text of a rubric file as rows: JSON Lines, JSON or YAML; a list, an object with items, or one rubric. */

import { extname } from 'node:path'
import { stringify } from 'yaml'
import { DataError } from '../../util/errors.ts'
import { parseJson, tryJson } from '../../util/json.ts'
import { noRows } from '../../util/jsonl.ts'
import { parseYaml } from '../../util/yaml.ts'
import { type FileLayout, isObject } from './item.ts'

export interface Rows {
  layout: FileLayout
  rows: { value: unknown; place: string }[]
}

/** A list whose entries are criteria is one rubric, not a list of them. */
const isBareRubric = (list: readonly unknown[]): boolean =>
  list.length > 0 && list.every(entry => isObject(entry) && 'description' in entry && 'weight' in entry)

const split = (value: unknown, source: string): Rows => {
  const rows = (list: readonly unknown[], layout: FileLayout, key: string) => ({
    layout,
    rows: list.map((row, index) => ({ value: row, place: `${source}: ${key}[${index}]` })),
  })
  if (Array.isArray(value) && !isBareRubric(value)) return rows(value, 'list', '')
  if (isObject(value) && Array.isArray(value.items) && Object.keys(value).length === 1)
    return rows(value.items, 'items', 'items')
  return { layout: 'single', rows: [{ value, place: source }] }
}

const jsonLines = (text: string, source: string): Rows => ({
  layout: 'rows',
  rows: text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    const place = `${source}:${index + 1}`
    return [{ value: parseJson(line, place), place }]
  }),
})

/**
 * The rows of a file. `.jsonl` is JSON Lines; other text is JSON if it parses as such, JSON Lines if its first line does,
 * and YAML otherwise.
 * @throws DataError for text that is none of these, naming the line.
 */
export const rowsOfText = (text: string, source: string): Rows => {
  if (text.trim() === '' && extname(source) === '.jsonl') throw noRows(source)
  if (text.trim() === '')
    throw new DataError(
      `${source}: expected a rubric, got an empty file; write one, see docs/howto/write-a-good-rubric.md`,
    )
  if (extname(source) === '.jsonl') return jsonLines(text, source)
  if (extname(source) === '.json' || tryJson(text) !== undefined)
    return split(parseJson(text, source), source)
  const [first] = text.trimStart().split('\n', 1)
  if (/^[[{]/.test(first) && tryJson(first) !== undefined) return jsonLines(text, source)
  return split(parseYaml(text, source, DataError), source)
}

/** The text of rows in a layout: JSON Lines for `rows`, otherwise YAML or JSON by the file's name. */
export const textOfRows = (rows: readonly unknown[], layout: FileLayout, path: string): string => {
  if (layout === 'rows') return rows.map(row => `${JSON.stringify(row)}\n`).join('')
  const value = layout === 'single' ? rows[0] : layout === 'items' ? { items: rows } : rows
  return /\.ya?ml$/.test(path) ? stringify(value, { lineWidth: 100 }) : `${JSON.stringify(value, null, 2)}\n`
}
