/** @file Names of columns: which column of a file holds what a row is to be called. */

import { ConfigError, UsageError } from './errors.ts'
import { parseJson } from './json.ts'

/** By the key that a row is to have: the column of the file that holds it, or null to leave that key out. */
export type Columns = Record<string, string | null>

/** No column has another name. */
export const AS_THEY_ARE: Columns = {}

const hasNone = (columns: Columns): boolean => Object.keys(columns).length === 0

/** Equal for columns that say the same. */
export const columnsKey = (columns: Columns): string =>
  JSON.stringify(Object.entries(columns).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** @throws ConfigError for one column that is to have two names */
export const checkColumns = (columns: Columns): void => {
  const seen = new Map<string, string>()
  for (const [name, from] of Object.entries(columns)) {
    if (from === null) continue
    const other = seen.get(from)
    if (other !== undefined)
      throw new ConfigError(
        `columns: expected one name for a column, got ${other} and ${name} for ${JSON.stringify(from)}`,
        { hint: 'leave one of them out' },
      )
    seen.set(from, name)
  }
}

/** A row with its columns under their new names; what the row lacks stays absent. */
export const renameColumns = (
  row: Readonly<Record<string, unknown>>,
  columns: Columns,
): Record<string, unknown> => {
  const taken = new Set(Object.entries(columns).flatMap(([name, from]) => [name, from ?? name]))
  const named = Object.entries(columns).flatMap(([name, from]) =>
    from !== null && Object.hasOwn(row, from) ? [[name, row[from]]] : [],
  )
  const others = Object.entries(row).filter(([key]) => !taken.has(key))
  return Object.fromEntries([...named, ...others])
}

/** The text of a row with its columns renamed. What is no JSON object stays as it is, for whoever parses it to refuse. */
export const renameInText = (text: string, columns: Columns): string => {
  if (hasNone(columns)) return text
  let row: unknown
  try {
    row = parseJson(text)
  } catch {
    return text
  }
  return row !== null && typeof row === 'object' && !Array.isArray(row)
    ? JSON.stringify(renameColumns(row as Record<string, unknown>, columns))
    : text
}

/**
 * Columns as a command line has them: `prompt=question,image=` (nothing behind the sign leaves one out).
 * @throws UsageError for what is not of that form, ConfigError as `checkColumns`
 */
export const parseColumns = (text: string): Columns => {
  const pairs = text.split(',').map(part => {
    const at = part.indexOf('=')
    const name = part.slice(0, at).trim()
    if (at < 0 || name === '')
      throw new UsageError(`--columns: expected NAME=COLUMN, got ${JSON.stringify(part)}`, {
        hint: 'for example --columns prompt=question,response=answer',
      })
    return [name, part.slice(at + 1).trim() || null] as const
  })
  const columns = Object.fromEntries(pairs)
  checkColumns(columns)
  return columns
}
