/** @file Trips, scaffolds and lists as tokens, and tokens as text. */

import type { Criterion } from '../../rubric/criterion.ts'
import { DataError } from '../../util/errors.ts'
import {
  CHECKLIST_TOKENS,
  CHECKLIST_VOCABULARY,
  COMPANIONS,
  ITEMS,
  OCCASIONS,
  type ScaffoldWord,
  TOPICS,
  wordToken,
} from './vocabulary.ts'
import { LENGTH_BANDS, type LengthBand, STRAY_LIMIT, type Trip } from './world.ts'

/** One hint of a scaffold: a word and the items that it is about. */
export interface Hint {
  word: ScaffoldWord
  items: readonly string[]
}

const bandOf = (min: unknown, max: unknown): LengthBand => {
  const found = Object.entries(LENGTH_BANDS).find(([, [low, high]]) => low === min && high === max)
  if (!found) throw new DataError(`scaffold: no word for ${min} to ${max} things`)
  return found[0] as LengthBand
}

const items = (value: unknown): string[] => (value as string[]) ?? []

/**
 * What the scaffold says for a criterion, by what meets it or, for a penalty, by what avoids it; null where the world has no
 * word for that (a vague criterion, a length to be missed).
 * @throws DataError for a criterion that is not of this task.
 */
export const hintOf = ({ id, points, verifier }: Criterion): Hint | null => {
  const params = verifier?.params ?? {}
  const wanted = points > 0 !== (params.negate === true)
  switch (verifier?.fn) {
    case 'contains':
      return { word: wanted ? 'include' : 'without', items: items(params.all ?? params.any) }
    case 'mention_order':
      return { word: 'first', items: wanted ? items(params.terms) : items(params.terms).toReversed() }
    case 'length':
      return wanted ? { word: bandOf(params.min, params.max), items: [] } : null
    case 'mention_count':
      return wanted ? null : { word: params.min === STRAY_LIMIT ? 'spare' : 'lean', items: [] }
    case 'repetition':
      return wanted ? { word: 'once', items: [] } : null
    case 'coin':
      return null
    default:
      throw new DataError(`criterion ${id}: expected one of the packing task, got verifier ${verifier?.fn}`)
  }
}

/** Hints for criteria, those that can be said. */
export const hintsOf = (criteria: readonly Criterion[]): Hint[] =>
  criteria.flatMap(criterion => hintOf(criterion) ?? [])

/** Whether the world has words for a criterion, whoever wrote it. */
export const isHint = (criterion: Criterion): boolean => {
  try {
    const hints = hintsOf([criterion])
    return hints.length > 0 && hintTokens(hints).length > 0
  } catch (error) {
    if (error instanceof DataError || error instanceof RangeError || error instanceof TypeError) return false
    throw error
  }
}

export const hintTokens = (hints: readonly Hint[]): number[] =>
  hints.flatMap(hint => [wordToken(hint.word), ...hint.items.map(wordToken)])

/** `<bos> topic occasion companion [hints] :`. */
export const tripPrompt = ({ topic, occasion, companion }: Trip, hints: readonly Hint[] = []): number[] => [
  CHECKLIST_TOKENS.bos,
  ...[TOPICS[topic], OCCASIONS[occasion], COMPANIONS[companion]].map(wordToken),
  ...hintTokens(hints),
  CHECKLIST_TOKENS.ask,
]

/** Items and the end of the list. */
export const listTokens = (list: readonly string[]): number[] => [
  ...list.map(wordToken),
  CHECKLIST_TOKENS.eos,
]

const SILENT = new Set<number>([
  CHECKLIST_TOKENS.pad,
  CHECKLIST_TOKENS.bos,
  CHECKLIST_TOKENS.eos,
  CHECKLIST_TOKENS.unk,
])

/** Text of tokens; special ones are silent. @param vocabulary the list's words, or more that begin with them */
export const checklistText = (
  tokens: ArrayLike<number>,
  vocabulary: readonly string[] = CHECKLIST_VOCABULARY,
): string =>
  Array.from(tokens, token => (SILENT.has(token) ? '' : (vocabulary[token] ?? '')))
    .join('')
    .trim()

const ITEM_TOKENS: ReadonlySet<number> = new Set(ITEMS.map(wordToken))

/** A list: at least one item, nothing but items, and its end. */
export const isList = (tokens: ArrayLike<number>): boolean => {
  const all = Array.from(tokens)
  return (
    all.length > 1 &&
    all.at(-1) === CHECKLIST_TOKENS.eos &&
    all.slice(0, -1).every(token => ITEM_TOKENS.has(token))
  )
}
