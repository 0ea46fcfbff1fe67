/** @file The closed world of the arithmetic task: pieces of text, one token each, for problems, thinking and rubrics. */

import { FILLERS } from './lines.ts'
import { CATEGORIES, type Category, OUTCOME_PREDICATES, PREDICATES } from './predicates/index.ts'
import { OPERATIONS, type Operation } from './problem.ts'

export const PAD = '<pad>'
export const BOS = '<bos>'
export const EOS = '<eos>'
export const UNK = '<unk>'

/** What a rubricator calls the categories of its criteria (RLCER Fig. 9). */
export const CATEGORY_NAMES: Readonly<Record<Category, string>> = {
  planning: 'problem decomposition and planning',
  validation: 'backtracking, self-validation and error handling',
  clarity: 'reasoning clarity and flow',
  efficiency: 'reasoning focus and efficiency',
  other: 'other question-specific aspects',
}

/** An operation is one piece: a small model finds its place in the question by it. */
export const operationPiece = ({ operator, operand }: Operation): string => ` ${operator} ${operand}`

/** Points that a criterion may have. */
export const POINTS = [1, 2, 3, 4, 5, -1, -2, -3, -4, -5] as const

/** Largest sum of points that 15 criteria can have. */
const MOST_POINTS = 75

/** Pieces that thinking and answers are made of. */
export const PIECES = {
  think: '\n<think>',
  line: '\n',
  plan: '\nplan',
  given: '\ngiven',
  check: '\ncheck',
  so: '\nso',
  endThink: '\n</think>',
  answer: '\nanswer',
  equals: ' =',
  steps: ' steps',
  do: '\ndo ',
  avoid: '\navoid ',
  rubric: '\n<rubric>',
  rubricOpen: '{"question_domain":"mathematics: arithmetic","rubrics":[',
  comma: ',',
  maximum: '],"maximum_score":',
  minimum: ',"minimum_score":',
  current: ',"current_score":',
  rubricClose: '}',
} as const

/** `{"category":"...","criterion":"` */
export const itemPiece = (category: Category): string =>
  `{"category":${JSON.stringify(CATEGORY_NAMES[category])},"criterion":"`

/** `","points":3}` */
export const pointsPiece = (points: number): string => `","points":${points}}`

/** The parts of the grammar's sentences between their places; what comes before a place ends without a blank. */
const sentencePieces = (): string[] => {
  const parts = [...PREDICATES, ...OUTCOME_PREDICATES].flatMap(({ sentence }) =>
    sentence.split(/ ?\{[a-z]+\}/).filter(part => part !== ''),
  )
  return [...new Set(parts)]
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** The tokens by id: a token is exactly the text that it decodes to. The order is part of every checkpoint: only append. */
export const ARITHMETIC_VOCABULARY: readonly string[] = [
  ...new Set([
    PAD,
    BOS,
    EOS,
    UNK,
    ...range(0, 9).map(digit => ` ${digit}`),
    ...OPERATIONS.map(operationPiece),
    ...Object.values(PIECES),
    ...FILLERS.map(filler => `\n${filler}`),
    ...CATEGORIES.map(itemPiece),
    ...POINTS.map(pointsPiece),
    ...range(-MOST_POINTS, MOST_POINTS).map(String),
    ...sentencePieces(),
  ]),
]

const IDS: ReadonlyMap<string, number> = new Map(ARITHMETIC_VOCABULARY.map((token, id) => [token, id]))

/** Id of a piece. @throws RangeError for what is none */
export const pieceToken = (piece: string): number => {
  const id = IDS.get(piece)
  if (id === undefined) throw new RangeError(`no piece of the arithmetic task: ${JSON.stringify(piece)}`)
  return id
}

export const ARITHMETIC_TOKENS = { pad: 0, bos: 1, eos: 2, unk: 3 } as const

const SPECIAL = [PAD, BOS, EOS, UNK]

/** Pieces by their first character, longest first: the piece that a text begins with is the first that fits. */
const byFirst = new Map<string, string[]>()
for (const piece of ARITHMETIC_VOCABULARY) {
  if (SPECIAL.includes(piece)) continue
  byFirst.set(piece[0], [...(byFirst.get(piece[0]) ?? []), piece])
}
for (const pieces of byFirst.values()) pieces.sort((a, b) => b.length - a.length)

/** A text as tokens, the longest piece first; a character that no piece begins with is unknown. */
export const encodeText = (text: string): number[] => {
  const tokens: number[] = []
  for (let at = 0; at < text.length; ) {
    const piece = byFirst.get(text[at])?.find(each => text.startsWith(each, at))
    tokens.push(piece === undefined ? ARITHMETIC_TOKENS.unk : IDS.get(piece)!)
    at += piece?.length ?? 1
  }
  return tokens
}

const SILENT: ReadonlySet<string> = new Set(SPECIAL)

/** Text of tokens; special ones are silent. */
export const decodeText = (tokens: ArrayLike<number>): string =>
  Array.from(tokens, token => {
    const piece = ARITHMETIC_VOCABULARY[token] ?? ''
    return SILENT.has(piece) ? '' : piece
  }).join('')

/** A pattern that splits a text as `encodeText` does. */
export const PIECE_PATTERN: string = [...ARITHMETIC_VOCABULARY]
  .filter(piece => !SILENT.has(piece))
  .sort((a, b) => b.length - a.length)
  .map(piece => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll('\n', '\\n'))
  .join('|')
