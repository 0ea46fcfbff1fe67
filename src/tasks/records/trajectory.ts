/** @file What an agent did, read from its pieces: its plan, its calls with what they found, its review, its answer. */

import { RECORDS_VOCABULARY, TAGS } from './vocabulary.ts'
import { ENDINGS, type Ending, type Field, PEOPLE, RELATIONS, type Relation } from './world.ts'

/** One piece of a trajectory, and who wrote it. */
interface TrajectoryPiece {
  text: string
  /** False: a tool did. */
  own: boolean
}

/** What the tool said to a call. */
export type Output =
  | { kind: 'found' | 'old'; record: number; person: string }
  | { kind: 'none' | 'over' | 'unread' }

/** One look-up. */
export interface LookUp {
  /** Null where what was written is no call. */
  person: string | null
  field: Field | null
  output: Output
  /** What the agent noted of it afterwards, as words. */
  state: readonly string[] | null
}

interface Plan {
  needs: readonly Relation[]
  /** One place a relation, with further fields that may be tried there. */
  fields: readonly { first: Field; others: readonly Field[] }[]
}

export interface Tick {
  relation: Relation
  /** Null: noted as missing. */
  record: number | null
}

interface Answer {
  /** Null: said to be unknown, or nobody was named. */
  person: string | null
  unknown: boolean
  cites: readonly number[]
}

export interface RecordsTrajectory {
  plan: Plan | null
  calls: readonly LookUp[]
  review: readonly Tick[] | null
  answer: Answer | null
}

/** @param mask 1 where the policy wrote */
export const trajectoryPieces = (tokens: ArrayLike<number>, mask: ArrayLike<number>): TrajectoryPiece[] =>
  Array.from({ length: tokens.length }, (_, t) => ({
    text: RECORDS_VOCABULARY[tokens[t]] ?? '',
    own: mask[t] === 1,
  }))

const isRelation = (word: string): word is Relation => (RELATIONS as readonly string[]).includes(word)
const isEnding = (piece: string): piece is Ending => (ENDINGS as readonly string[]).includes(piece)
const isPerson = (word: string) => PEOPLE.includes(word)
const recordOf = (word: string): number | null => {
  const found = /^r([1-9]\d?)$/.exec(word)
  return found ? Number(found[1]) : null
}

/** Fields among words, each with the place where its relation stands. */
const fieldsIn = (words: readonly string[]): { at: number; field: Field }[] =>
  words.flatMap((word, at) => {
    const ending = words[at + 1] ?? ''
    return isRelation(word) && isEnding(ending) ? [{ at, field: { relation: word, ending } }] : []
  })

const readPlan = (words: readonly string[]): Plan => {
  const close = words.indexOf(TAGS.needsEnd)
  const needs = close < 0 ? [] : words.slice(0, close).filter(isRelation)
  const rest = words.slice(close + 1)
  const fields: { first: Field; others: Field[] }[] = []
  for (const { at, field } of fieldsIn(rest)) {
    const last = fields.at(-1)
    if (rest[at - 1] === 'or' && last) last.others.push(field)
    else fields.push({ first: field, others: [] })
  }
  return { needs, fields }
}

const readReview = (words: readonly string[]): Tick[] =>
  words.flatMap((word, i) =>
    isRelation(word) ? [{ relation: word, record: recordOf(words[i + 1] ?? '') }] : [],
  )

const readAnswer = (words: readonly string[]): Answer => {
  const cut = words.indexOf(TAGS.cite)
  const said = cut < 0 ? words : words.slice(0, cut)
  const cites = cut < 0 ? [] : words.slice(cut).map(recordOf)
  return {
    person: said.find(isPerson) ?? null,
    unknown: said.includes('unknown'),
    cites: cites.filter(record => record !== null),
  }
}

const readOutput = (words: readonly string[]): Output => {
  if (words.includes('over')) return { kind: 'over' }
  const record = words.map(recordOf).find(found => found !== null)
  const person = words.find(isPerson)
  if (record !== undefined && person !== undefined)
    return { kind: words.includes('old') ? 'old' : 'found', record, person }
  return { kind: words.includes('none') ? 'none' : 'unread' }
}

/** Where a block of a kind ends: at its closing tag, or where another block begins. */
const blockAt = (pieces: readonly TrajectoryPiece[], start: number, end: string): number => {
  let at = start
  while (at < pieces.length && pieces[at].text !== end && !pieces[at].text.startsWith('\n<')) at++
  return at
}

/** What a call asks for: the first person in it, and the first field after that. */
const readCall = (words: readonly string[]): Pick<LookUp, 'person' | 'field'> => ({
  person: words.find(isPerson) ?? null,
  field: fieldsIn(words)[0]?.field ?? null,
})

/** Never throws: what cannot be read is not there. Tags that a tool wrote are its own affair. */
export const readTrajectory = (pieces: readonly TrajectoryPiece[]): RecordsTrajectory => {
  let plan: Plan | null = null
  let review: Tick[] | null = null
  let answer: Answer | null = null
  const calls: LookUp[] = []
  for (let at = 0; at < pieces.length; at++) {
    const { text, own } = pieces[at]
    /** The words of the block that begins here. */
    const within = (end: string) =>
      pieces.slice(at + 1, blockAt(pieces, at + 1, end)).map(piece => piece.text.trim())
    if (!own) {
      if (text === TAGS.output && calls.length > 0)
        calls[calls.length - 1] = { ...calls[calls.length - 1], output: readOutput(within(TAGS.outputEnd)) }
    } else if (text === TAGS.plan) plan ??= readPlan(within(TAGS.planEnd))
    else if (text === TAGS.call)
      calls.push({ ...readCall(within(TAGS.callEnd)), output: { kind: 'unread' }, state: null })
    else if (text === TAGS.state && calls.length > 0)
      calls[calls.length - 1] = { ...calls[calls.length - 1], state: within(TAGS.stateEnd) }
    else if (text === TAGS.review) review ??= readReview(within(TAGS.reviewEnd))
    else if (text === TAGS.answer) answer = readAnswer(within(TAGS.answerEnd))
  }
  return { plan, calls, review, answer }
}
