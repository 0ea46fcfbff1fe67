/** @file What thinking about a trip says, statement by statement: written as text and read back from any text. */

import { pieceTokenizer, WORDS_WITH_BLANKS } from '../../small-vocabulary.ts'
import { partThinking } from '../../thinking.ts'
import { checklistText } from '../format.ts'
import {
  CHECKLIST_TOKENS,
  CHECKLIST_VOCABULARY,
  COMPANIONS,
  ITEMS,
  OCCASIONS,
  TOPICS,
  wordToken,
} from '../vocabulary.ts'
import { LENGTH_BANDS, type LengthBand } from '../world.ts'

export const OPEN_THINKING = '<think>'
export const CLOSE_THINKING = '</think>'

/** What thinking says besides the words of trips, things and scaffolds. */
const THOUGHT_WORDS = [
  OPEN_THINKING,
  CLOSE_THINKING,
  'needs',
  'wants',
  'leave',
  'means',
  'then',
  'perhaps',
  'hmm',
] as const

/** The tokens of a model that thinks, by id. The order is part of every checkpoint: only append. */
export const THOUGHT_VOCABULARY: readonly string[] = [
  ...CHECKLIST_VOCABULARY,
  ...THOUGHT_WORDS.map(word => ` ${word}`),
]

const IDS: ReadonlyMap<string, number> = new Map(
  THOUGHT_WORDS.map((word, i) => [word, CHECKLIST_VOCABULARY.length + i]),
)

/** Id of a word of trips, lists or thinking. @throws RangeError for another word */
export const thoughtToken = (word: string): number => IDS.get(word) ?? wordToken(word)

/** Words, the tags of thinking, and the colon that asks. */
export const thoughtTokenizer = pieceTokenizer(THOUGHT_VOCABULARY, ' [a-z]+| </?think>|:', WORDS_WITH_BLANKS)

/**
 * - `needs`, `wants`: the subject (a place, an occasion, a companion) asks for things.
 * - `leave`: things that stay at home.
 * - `means`: the subject means few, some or many things.
 * - `first`: one thing before another.
 * - `perhaps`: things that are named without a decision; `hmm`: nothing.
 */
export const STATEMENT_KINDS = ['needs', 'wants', 'leave', 'means', 'first', 'perhaps', 'hmm'] as const
export type StatementKind = (typeof STATEMENT_KINDS)[number]

export interface Statement {
  kind: StatementKind
  subject?: string
  items: readonly string[]
  band?: LengthBand
}

const KINDS: ReadonlySet<string> = new Set(STATEMENT_KINDS)
const SUBJECTS: ReadonlySet<string> = new Set([...TOPICS, ...OCCASIONS, ...COMPANIONS])
const THINGS: ReadonlySet<string> = new Set(ITEMS)

/** The words of thinking; tags and empty ones are none. */
export const thoughtWords = (thinking: string): string[] =>
  thinking.split(/\s+/).filter(word => word !== '' && word !== OPEN_THINKING && word !== CLOSE_THINKING)

/** The statements of any text: what fits no statement is passed over. */
export const readStatements = (thinking: string): Statement[] => {
  const statements: { kind: StatementKind; subject?: string; items: string[]; band?: LengthBand }[] = []
  let subject: string | undefined
  for (const word of thoughtWords(thinking)) {
    const current = statements.at(-1)
    if (KINDS.has(word)) {
      statements.push({
        kind: word as StatementKind,
        items: [],
        ...(subject !== undefined && takesSubject(word) && { subject }),
      })
      subject = undefined
    } else if (SUBJECTS.has(word)) subject = word
    else if (Object.hasOwn(LENGTH_BANDS, word)) {
      if (current?.kind === 'means') current.band ??= word as LengthBand
    } else if (THINGS.has(word) && subject === undefined && current && takesItems(current.kind))
      current.items.push(word)
  }
  return statements
}

const takesSubject = (word: string): boolean => word === 'needs' || word === 'wants' || word === 'means'
const takesItems = (kind: StatementKind): boolean => kind !== 'means' && kind !== 'hmm'

const wordsOf = ({ kind, subject, items, band }: Statement): string[] => [
  ...(subject === undefined ? [] : [subject]),
  kind,
  ...(kind === 'first' && items.length === 2 ? [items[0], 'then', items[1]] : items),
  ...(band === undefined ? [] : [band]),
]

/** `anna needs compass beach wants towel leave kettle weekend means few first compass then towel`. */
export const thoughtText = (statements: readonly Statement[]): string => statements.flatMap(wordsOf).join(' ')

/** The things that are to be packed by what was thought, in the order in which they were named, each once. */
export const plannedThings = (statements: readonly Statement[]): string[] => [
  ...new Set(
    statements.flatMap(({ kind, items }) =>
      kind === 'needs' || kind === 'wants' || kind === 'first' ? items : [],
    ),
  ),
]

/** The things that stay at home by what was thought. */
export const leftThings = (statements: readonly Statement[]): string[] => [
  ...new Set(statements.flatMap(({ kind, items }) => (kind === 'leave' ? items : []))),
]

/** `<think> ... </think> items <eos>`. */
export const thoughtListTokens = (statements: readonly Statement[], list: readonly string[]): number[] => [
  thoughtToken(OPEN_THINKING),
  ...statements.flatMap(wordsOf).map(thoughtToken),
  thoughtToken(CLOSE_THINKING),
  ...list.map(thoughtToken),
  CHECKLIST_TOKENS.eos,
]

/** Text of tokens; special ones are silent, the tags of thinking are not. */
export const thoughtfulText = (tokens: ArrayLike<number>): string => checklistText(tokens, THOUGHT_VOCABULARY)

/** A response of the model that thinks, parted. */
export const readThoughtful = (tokens: ArrayLike<number>) => partThinking(thoughtfulText(tokens))
