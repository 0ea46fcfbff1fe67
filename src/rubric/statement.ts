/** @file What a criterion says, for comparison: the stems of its content words, in order, and whether it is stated or denied. */

import { countEach } from '../util/descriptive.ts'
import { wordSet } from '../util/words.ts'

/** A criterion's text as content stems with a sign. */
export interface CriterionStatement {
  /** True where the text denies: "fails to mention X", "X is not safe". Two denials cancel out. */
  denied: boolean
  /** "Incorrectly states X": a flaw whether one reads it as X or as its denial, so that its sign cannot be compared. */
  calledWrong: boolean
  /** Stems of the content words in order; pairs of characters for scripts without spaces. */
  stems: readonly string[]
  /** How often each stem occurs. */
  counts: ReadonlyMap<string, number>
  /** Those of the stems that name something in particular: numbers, names, symbols. */
  specifics: ReadonlySet<string>
  /** The order of its words matters: "X before Y", "more X than Y". */
  ordered: boolean
  /** Words of the whole text, for equality. */
  normal: string
}

// Words that every criterion may carry and that tell nothing about what it asks for.
const EMPTY_WORDS = wordSet(`
  a an the this that these those its it is are was were be been being to of in on for with by as at from and or if then
  than so such also any some all each other into about when where which who whose will would should must shall may might
  can could has have had having do does did there their they them he she his her you your both either user
  explicitly specifically clearly correctly accurately directly briefly right correct clear specific explicit`)

// Who is judged; a criterion may begin with it or leave it out.
const SUBJECTS = wordSet(
  'response responses answer answers reply completion output assistant model ai chatbot',
)
const SUBJECT_WITHIN = 4

// Verbs by which criteria say "the response contains X", and those by which they say "it tells the user to do X".
const SAYING = wordSet(`
  state mention note explain say indicate describe discuss point highlight emphasize emphasise clarify acknowledge
  specify include contain provide give offer present outline report identify list address inform convey cover detail
  illustrate express tell stress`)
const ADVISING = wordSet('recommend advise suggest encourage urge instruct propose advice')

const DENIAL =
  /\b(?:fail(?:s|ed|ing|ure)? to|forg(?:ets|ot|et) to|neglect(?:s|ed)? to|omit(?:s|ted|ting)?|lack(?:s|ing)?|without|avoids?|refrains? from|never|not|cannot|no|none|neither|nor|absence of|missing|miss(?:es)?)\b|\b\w+n['’]t\b/giu
const CALLED_WRONG =
  /\b(?:incorrect|inaccurate|wrong|improper|inappropriate|false|mistaken|erroneous)(?:ly)?\b/i
const ORDER_WORDS =
  /\b(?:before|after|then|first|than|from|instead|over|under|rather|versus|vs|prior|later)\b/i
/** Letters of languages whose words are not set apart. */
export const SCRIPT_WITHOUT_SPACES = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u
const WORD = /[\p{L}\p{N}]+(?:[.,'’/%-][\p{L}\p{N}]+)*%?/gu

/** A criterion's own words: authors often add a justification behind it, which is about the criterion, not part of it. */
export const withoutAside = (text: string): string =>
  text.normalize('NFKC').replace(/\(\s*(?:justification|rationale|reason|note)\s*:[\s\S]*$/i, '')

/** The words of a text, numbers and hyphenated words whole. */
export const statementWords = (text: string): string[] => text.match(WORD) ?? []

/** A plain suffix stripper: enough to pair "recommends" with "recommend" and "symptoms" with "symptom". */
export const stem = (word: string): string => {
  const w = word.replace(/['’]s$/u, '')
  if (w.length <= 3 || /(?:ss|us|is)$/.test(w)) return w
  if (w.endsWith('ies') && w.length > 4) return `${w.slice(0, -3)}y`
  if (/(?:ches|shes|sses|xes|zes)$/.test(w)) return w.slice(0, -2)
  if (w.endsWith('ing') && w.length > 5) return undouble(w.slice(0, -3))
  if (w.endsWith('ed') && w.length > 4) return undouble(w.slice(0, -2))
  return dropE(w.endsWith('s') ? w.slice(0, -1) : w)
}

const dropE = (w: string): string => (w.length > 4 && w.endsWith('e') ? w.slice(0, -1) : w)
const undouble = (w: string): string => dropE(/([bdgmnprt])\1$/.test(w) ? w.slice(0, -1) : w)

const SAYING_STEMS = new Set([...SAYING].map(stem))
const ADVISING_STEMS = new Set([...ADVISING].map(stem))

const stemsOf = (word: string, index: number): string[] => {
  if (SCRIPT_WITHOUT_SPACES.test(word)) return pairsOf(word)
  const lower = word.toLowerCase()
  const found = stem(lower)
  if (index < SUBJECT_WITHIN && SUBJECTS.has(lower)) return []
  if (EMPTY_WORDS.has(lower) || SAYING_STEMS.has(found)) return []
  return [ADVISING_STEMS.has(found) ? 'advise' : found]
}

const pairsOf = (word: string): string[] => {
  const characters = [...word]
  return characters.length < 2 ? characters : characters.slice(1).map((c, i) => characters[i] + c)
}

/** Words with a digit, or with a capital that does not come from standing first. */
const isSpecific = (word: string, index: number): boolean =>
  /\p{N}/u.test(word) || /.\p{Lu}/u.test(word) || (index > 0 && /^\p{Lu}/u.test(word))

/** Reads a criterion's text. Knows English denials; other languages are compared by their words alone. */
export const statementOf = (text: string): CriterionStatement => {
  const own = withoutAside(text)
  const content = own.replace(DENIAL, ' ').replace(new RegExp(CALLED_WRONG, 'gi'), ' ')
  const words = statementWords(content)
  const stems = words.flatMap(stemsOf)
  return {
    denied: (own.match(DENIAL)?.length ?? 0) % 2 === 1,
    calledWrong: CALLED_WRONG.test(own),
    stems,
    counts: countEach(stems),
    specifics: new Set(words.filter(isSpecific).flatMap(word => stemsOf(word, SUBJECT_WITHIN))),
    ordered: ORDER_WORDS.test(own),
    normal: statementWords(own.toLowerCase()).join(' '),
  }
}
