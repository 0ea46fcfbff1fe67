/** @file Rubric files: which format one is in, reading it into items, writing items in a format. */

import { extname } from 'node:path'
import { AS_THEY_ARE, type Columns, renameColumns } from '../../util/column-names.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { parseJson } from '../../util/json.ts'
import { writeOutput } from '../../util/output-file.ts'
import { cachedRows } from '../../util/prefetched-rows.ts'
import { closest, describeKeys, describeValue } from '../../util/schema.ts'
import { readText } from '../../util/text-file.ts'
import { uniqueNames } from '../unique.ts'
import { biggen } from './biggen.ts'
import { deepResearch } from './deep-research.ts'
import { type Rows, rowsOfText, textOfRows } from './document.ts'
import { healthbench } from './healthbench.ts'
import {
  type Fields,
  type FileLayout,
  type FormatName,
  isObject,
  placeName,
  type RubricFile,
  type RubricFormat,
  type RubricItem,
} from './item.ts'
import { isPromptAlone, native, readPromptAlone } from './native.ts'
import { paperbench } from './paperbench.ts'
import { scholarqa } from './scholarqa.ts'
import { weighted } from './weighted.ts'
import { writingbench } from './writingbench.ts'

/** Every format that is read and written, in the order in which detection tries them. */
export const RUBRIC_FORMATS: readonly RubricFormat[] = [
  native,
  healthbench,
  paperbench,
  scholarqa,
  writingbench,
  deepResearch,
  biggen,
  weighted,
]

/** @throws UsageError for a name that is no format. */
export const formatOf = (name: string): RubricFormat => {
  const format = RUBRIC_FORMATS.find(known => known.name === name)
  if (format) return format
  const names = RUBRIC_FORMATS.map(known => known.name)
  const near = closest(name, names)
  throw new UsageError(`format: expected one of ${names.join(', ')}, got ${JSON.stringify(name)}`, {
    hint: near === null ? 'leave it out to have it detected' : `did you mean ${near}?`,
  })
}

const promptAlone = (place: string): DataError =>
  new DataError(`${place}: expected a rubric, got a prompt alone`, {
    hint: 'name the file that its rubric is in, or give the row criteria: {"prompt": "...", "criteria": [{"id": "short", "text": "...", "points": 1}]}',
  })

/**
 * The format that a row looks like.
 * @throws DataError listing what was tried, and why each was not it.
 */
export const detectFormat = (row: unknown, place: string): RubricFormat => {
  const tried: string[] = []
  for (const format of RUBRIC_FORMATS) {
    const mismatch = format.mismatch(row)
    if (mismatch === null) return format
    tried.push(`${format.name} (${mismatch})`)
  }
  if (isPromptAlone(row)) throw promptAlone(place)
  const got = isObject(row) ? describeKeys(row) : describeValue(row)
  throw new DataError(
    `${place}: expected a rubric in a known format, got ${got}; tried ${tried.join(', ')}`,
    {
      hint: 'correct the file, or say its format',
    },
  )
}

export interface ReadRubricOptions {
  /** Default: by the content of the first row. */
  format?: FormatName
  /**
   * Also rows that are a prompt alone, with an empty rubric, for whoever has the rubric elsewhere; `left-out`: they are passed
   * over, as long as others have one.
   */
  promptsAlone?: boolean | 'left-out'
  /** Columns of the rows that have other names there. */
  columns?: Columns
}

type Row = ReturnType<typeof rowsOfText>['rows'][number]

/** Whether a row is a prompt that has its rubric elsewhere: formats of others may have prompts as well. */
const isAlone = (row: unknown): row is Fields =>
  isPromptAlone(row) && RUBRIC_FORMATS.every(format => format.mismatch(row) !== null)

/** The format of a file: that of its first row that has a rubric. */
const formatOfRows = (rows: readonly Row[], { format, promptsAlone = false }: ReadRubricOptions) => {
  if (format) return formatOf(format)
  const telling = promptsAlone ? rows.find(({ value }) => !isAlone(value)) : undefined
  if (promptsAlone === true && telling === undefined) return native
  const { value, place } = telling ?? rows[0]
  if (promptsAlone === true && isObject(value) && RUBRIC_FORMATS.every(own => own.mismatch(value) !== null))
    throw new DataError(`${place}: expected a row with a prompt, got ${describeKeys(value)}`, {
      hint: 'rows are {"prompt": "...", "criteria": [...]}, or prompts alone with a rubric for all; docs/howto/train-on-your-own.md shows every form',
    })
  return detectFormat(value, place)
}

/**
 * Reads the text of a rubric file.
 * @param source its name: for errors, and to know JSON Lines (`.jsonl`) from the rest
 * @throws DataError naming file and line of what cannot be used; ids that occur twice get `~2` behind them.
 * @example
 * const { items } = readRubricText('criteria: [{id: cites, text: Names a source., points: 2}]', 'rubric.yaml')
 * items[0].rubric.criteria[0].id // 'cites'
 */
export const readRubricText = (text: string, source: string, options: ReadRubricOptions = {}): RubricFile =>
  readRows(rowsOfText(text, source), source, options)

const readRows = ({ layout, rows }: Rows, source: string, options: ReadRubricOptions): RubricFile => {
  if (rows.length === 0) throw new DataError(`${source}: expected at least one rubric, got none; add one`)
  const format = formatOfRows(rows, options)
  const { promptsAlone = false } = options
  const unique = uniqueNames()
  const items = rows.flatMap(({ value, place }, index): RubricItem[] => {
    const name = placeName(index)
    if (!isAlone(value)) return [format.read(value, place, name)]
    if (promptsAlone === false) throw promptAlone(place)
    return promptsAlone === true ? [readPromptAlone(value, place, name)] : []
  })
  if (items.length === 0) throw promptAlone(rows[0].place)
  const leftOut = rows.length - items.length
  return {
    format: format.name,
    layout,
    items: items.map(item => ({ ...item, id: unique(item.id) })),
    ...(leftOut > 0 && { leftOut }),
  }
}

/**
 * Reads a rubric file: our own YAML or JSON, HealthBench rows, PaperBench trees, the checklists of ScholarQA-CS,
 * WritingBench, DeepResearch Bench and BiGGen, or weighted lists (DR Tulu, RaR, ResearchRubrics, ResearchQA).
 * Of Parquet files and files on the hub the prefetched rows (`util/prefetched-rows.ts`).
 * @throws DataError naming file and line of what cannot be used, or what was tried when no format fits.
 */
export const readRubricFile = (path: string, options: ReadRubricOptions = {}): RubricFile =>
  readRows(rowsOf(path, options.columns), path, options)

/** The first row of a file, and the format that it looks like; null where it is in none, or cannot be read. */
export const firstRubricRow = (
  path: string,
  columns?: Columns,
): { row: Fields; format: FormatName } | null => {
  try {
    const row = firstRow(path, columns)
    const format = RUBRIC_FORMATS.find(known => known.mismatch(row) === null)
    return format && isObject(row) ? { row, format: format.name } : null
  } catch (error) {
    if (error instanceof DataError) return null
    throw error
  }
}

/** Of a file of lines the rest is not looked at. */
const firstRow = (path: string, columns: Columns = AS_THEY_ARE): unknown => {
  const lines = cachedRows(path, columns)
  if (lines) return lines.length === 0 ? undefined : parseJson(lines[0].text, lines[0].place)
  if (extname(path) !== '.jsonl') return rowsOf(path, columns).rows[0]?.value
  const line = /^.*\S.*$/m.exec(readText(path))?.[0]
  const row = line === undefined ? undefined : parseJson(line, path)
  return isObject(row) ? renameColumns(row, columns) : row
}

/** The rows of a file under the names that its columns are to have here. */
const rowsOf = (path: string, columns: Columns = AS_THEY_ARE): Rows => {
  const lines = cachedRows(path, columns)
  if (lines)
    return {
      layout: 'rows',
      rows: lines.map(({ text, place }) => ({ value: parseJson(text, place), place })),
    }
  const { layout, rows } = rowsOfText(readText(path), path)
  const renamed = ({ value, place }: Row): Row => ({
    value: isObject(value) ? renameColumns(value, columns) : value,
    place,
  })
  return { layout, rows: Object.keys(columns).length === 0 ? rows : rows.map(renamed) }
}

/**
 * Items as the rows of a format: what reading them gave, where they come from that format.
 * @throws DataError for a rubric that the format cannot hold.
 */
export const rubricRows = (items: readonly RubricItem[], format: FormatName): unknown[] =>
  items.map(item => formatOf(format).write(item))

const layoutFor = (path: string, { layout, items }: RubricFile): FileLayout => {
  if (extname(path) === '.jsonl') return 'rows'
  if (layout !== 'rows') return items.length === 1 ? layout : layout === 'single' ? 'list' : layout
  return items.length === 1 ? 'single' : 'list'
}

/**
 * Writes items to a file: JSON Lines, YAML or JSON by the end of its name.
 * @throws DataError for a rubric that the format cannot hold.
 */
export const writeRubricFile = (
  path: string,
  file: RubricFile,
  { format = file.format }: ReadRubricOptions = {},
): void => writeOutput(path, textOfRows(rubricRows(file.items, format), layoutFor(path, file), path))
