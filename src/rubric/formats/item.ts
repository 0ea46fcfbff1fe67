/** @file What rubric files hold, whatever their format: items of a prompt, a reference and a rubric. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import type { Criterion, Rubric } from '../criterion.ts'
import type { ScoreLevel } from '../levels.ts'

/** A message of an item's prompt. */
export interface PromptMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

export type FormatName =
  | 'native'
  | 'healthbench'
  | 'paperbench'
  | 'scholarqa-cs'
  | 'writingbench'
  | 'deep-research-bench'
  | 'biggen'
  | 'weighted'

/** A rubric with what it is about. */
export interface RubricItem {
  /** Unique in its file; the row's place (`row1`) where the file names none. */
  id: string
  prompt?: PromptMessage[]
  reference?: string
  rubric: Rubric
  /** Format that the fields in `extra`, here and below, come from; only that format writes them. */
  source?: FormatName
  /** What the row says beyond this. */
  extra?: Record<string, unknown>
}

/** `rows`: JSON Lines; `list`: a JSON or YAML list; `items`: an object with `items`; `single`: one rubric alone. */
export type FileLayout = 'rows' | 'list' | 'items' | 'single'

export interface RubricFile {
  format: FormatName
  layout: FileLayout
  items: RubricItem[]
  /** Rows without a rubric that were passed over. */
  leftOut?: number
}

/** One way to write rubrics down. Reading and then writing gives the same value back. */
export interface RubricFormat {
  name: FormatName
  /** Why a row is not in this format; null where it looks as if it were. */
  mismatch(row: unknown): string | null
  /**
   * @param place named in errors: file and line
   * @param name id of the item where the row names none
   * @throws DataError for a row that is not in this format
   */
  read(row: unknown, place: string, name: string): RubricItem
  /** @throws DataError for a rubric that this format cannot hold. */
  write(item: RubricItem): unknown
}

/** Name of an item that has none of its own: its place in the file, from 1. */
export const placeName = (index: number): string => `row${index + 1}`

export const isPlaceName = (id: string): boolean => /^row\d+$/.test(id)

export type Fields = Record<string, unknown>

export const isObject = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** A mismatch unless the row is an object with these keys. */
export const needsKeys = (row: unknown, keys: readonly string[]): string | null => {
  if (!isObject(row)) return 'no object'
  const missing = keys.filter(key => !(key in row))
  return missing.length > 0 ? `no ${missing.join(', no ')}` : null
}

/** The fields of an object that are not among `known`, as `extra`; nothing where there are none. */
export const extraOf = (row: Fields, known: readonly string[]): { extra?: Fields } => {
  const extra = Object.fromEntries(Object.entries(row).filter(([key]) => !known.includes(key)))
  return Object.keys(extra).length > 0 ? { extra } : {}
}

/** Extra fields of an item, if this format was their source. */
export const ownExtra = (item: RubricItem, name: FormatName): Fields =>
  item.source === name ? (item.extra ?? {}) : {}

/** Extra fields of a criterion or a node of an item, if this format was their source. */
export const ownPart = (item: RubricItem, part: { extra?: Fields }, name: FormatName): Fields =>
  item.source === name ? (part.extra ?? {}) : {}

/** Shape of a prompt's messages in a file; keys beyond role and content are kept. */
export const messagesSchema = z.array(
  z.looseObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }),
)

export const userPrompt = (content: string): PromptMessage[] => [{ role: 'user', content }]

/**
 * The prompt of an item as one question.
 * @throws DataError where it is a longer conversation.
 */
export const questionOf = (item: RubricItem, name: FormatName): string => {
  const messages = item.prompt ?? []
  if (messages.length > 1 || (messages[0] && messages[0].role !== 'user'))
    throw new DataError(
      `item ${item.id}: format ${name} expects one question as prompt, got ${messages.length} messages; write native`,
    )
  return messages[0]?.content ?? ''
}

/** What of a rubric a format can hold; the rest may not be lost silently. */
export interface Holds {
  penalties?: true
  verifiers?: true
  levels?: true
  trees?: true
}

/** @throws DataError naming the first thing that decides scores and that a format has no place for. */
export const checkHolds = (item: RubricItem, name: FormatName, holds: Holds): void => {
  const refuse = (what: string) => {
    throw new DataError(`item ${item.id}: format ${name} has no place for ${what}; write native instead`)
  }
  if (item.rubric.tree && !holds.trees) refuse('a tree')
  const unheld = (criterion: Criterion): string | null => {
    if (criterion.points < 0 && !holds.penalties) return 'penalties'
    if (criterion.verifier && !holds.verifiers) return 'verifiers'
    if (criterion.levels && !holds.levels) return 'levels'
    if (criterion.critical) return 'critical criteria'
    return null
  }
  for (const criterion of item.rubric.criteria) {
    const what = unheld(criterion)
    if (what !== null) refuse(`${what} (criterion ${criterion.id})`)
  }
}

/**
 * Score levels that a file writes as keys of the criterion itself (`3-4`, `score3_description`), ascending.
 * @param pattern its first group is the lowest score of a level, its second, if any, the highest
 * @throws DataError for a level that is no text, or fewer than two levels.
 */
export const levelsByKey = (row: Fields, pattern: RegExp, place: string): ScoreLevel[] => {
  const levels = Object.entries(row).flatMap(([key, text]): ScoreLevel[] => {
    const [, low, high = low] = pattern.exec(key) ?? []
    if (low === undefined) return []
    if (typeof text !== 'string')
      throw new DataError(`${place}.${key}: expected a text, got ${typeof text}; describe the level`)
    return [{ low: Number(low), high: Number(high), text }]
  })
  if (levels.length < 2)
    throw new DataError(
      `${place}: expected at least two levels (keys like ${pattern.source}), got ${levels.length}`,
    )
  return levels.sort((a, b) => a.low - b.low)
}
