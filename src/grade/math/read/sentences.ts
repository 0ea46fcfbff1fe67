/** @file What a sentence asserts, beside the values that it only mentions on the way. */

import { Budget, BudgetSpent } from '../budget.ts'
import { cleaned } from './clean.ts'
import { isDenied } from './denials.ts'
import { some } from './expression.ts'
import { readings } from './read.ts'
import { type AnswerSpan, candidates, masked } from './spans.ts'
import { isUnitWord } from './units.ts'
import { CONSTANTS, FUNCTIONS } from './vocabulary.ts'

/** A word of running text: no unit, no function, no connective of mathematics. */
export const isProseWord = (word: string): boolean => {
  const lower = word.toLowerCase()
  return (
    (!isUnitWord(word) || /^(?:in|us)$/.test(lower)) &&
    !FUNCTIONS[lower] &&
    !CONSTANTS[lower] &&
    !/^(?:and|or|text\w*|frac|left|right|sqrt)$/.test(lower)
  )
}

/** A formula with no words in it but a unit. */
export const isPlainMathematics = (text: string): boolean => {
  const plain = cleaned(text)
  if (plain === '' || plain.length > 300) return false
  try {
    const [node] = readings(plain, new Budget({ maxSteps: 20_000 }))
    return node !== undefined && !some(node, child => child.kind === 'text') && !hasProse(plain)
  } catch (error) {
    if (error instanceof BudgetSpent) return false
    throw error
  }
}

/** More than two words, or one that leads up to something: `we get 17`. */
const hasProse = (text: string): boolean =>
  (text.match(/(?<!\\)\b\p{Ll}{3,}(?=\s+[\p{L}\d\\])|(?<=,\s)\p{Ll}{4,}/gu) ?? []).filter(isProseWord)
    .length > 0 ||
  (text.replace(/\\[a-zA-Z]+/g, ' ').match(/\p{L}{2,}/gu) ?? []).filter(isProseWord).length > 2

/** Behind these words a sentence explains, restricts or denies: what it asserts stands before them. */
const ASIDE =
  /(?:\\text\w{0,9}\s?\{[\s,;]{0,9})?(?:\b(?:because|since|where|when(?:ever)?|while|which|whose|if|unless|given|assuming|provided|with|for|after|although|though|so that|such that|rather than|instead of|as opposed to|due to|in (?:all|total|sum|general|this|that|the)|i\.?e\b|e\.?g\b|namely|that is|obtained|(?:as|at) (?=\$?[a-z]\s?=)|as (?:required|desired|needed|claimed|expected)|or (?:about|approximately|roughly|equivalently|simply|in other words)|(?:and |but )?not)\b|(?<=[,;]\s{0,9})(?:as|but)\b|[,，;；]\s{0,9}(?:因为|由于|不是|而不是|而非|其中|如果)|;\s{1,9}(?=\p{L}{3})|(?<=\s)\((?=[^()]{0,99}\p{L}{2}[^()]{0,99}\s))/iu

/** Of an answer in words: only what cannot be part of a name. */
const ASIDE_OF_WORDS =
  /\b(?:because|since)\b|[,;]\s{0,9}(?:not|which|where|as|but|it|he|she|they|we|that|although)\b|\s\((?=[^()]{0,99}\s)/iu

/** Directly behind these stands what is asserted. */
const STATES =
  /(?:^|(?<![\p{L}\\])(?:is|are|was|were|be|equals?|gets?|gives?|giving|yields?|yielding|obtains?|have|has|totals?|makes?|making|becomes?|\p{L}{2,}ed|had|made|sold|bought|paid|spent|got|ate|keeps?|kept|shows?|(?:takes?|needs?|costs?)(?:\s+(?:her|him|them|us|me|you|it))?|(?:comes?|came|amounts?|adds? up) to|so|hence|thus|therefore|but|answer|est|es|ist|approximately|about|exactly|simply|just|only|find|(?:total|average|maximum|minimum|probability|value|answer|result|distance|area|volume|count) of)|[:=≈是为為])[\s*"'“(]*$/iu
const EQUATES = /[=≈][\s*"'“(]*$/u

/** Directly behind these stands what only says where a value before it is taken. */
const ADDS = /(?:\b(?:at|for|when|where|with|as|if)\s|\([^()]{0,40}\s)(?:\$?[a-z]\s?=\s?)?$/i
const SENTENCE_END = /[.!?]\s|\n/
/** So many of the last candidates are looked at one by one. */
const MAX_LOOKED_AT = 20

const beforeOf = (text: string, { start }: AnswerSpan): string => text.slice(Math.max(0, start - 40), start)

/**
 * The value that a sentence asserts, among its candidates: the last that stands behind a verb or a colon, or at the beginning,
 * and not in a clause that only adds to one before.
 */
const asserted = (text: string): AnswerSpan | undefined => {
  const hidden = masked(text)
  const found = candidates(text).filter(span => !isDenied(text, span))
  let chosen: AnswerSpan | undefined
  for (const span of found) {
    const before = hidden.slice(Math.max(0, span.start - 40), span.start)
    if (!STATES.test(span.start < 40 ? before : `.${before}`)) continue
    if (chosen && (ASIDE.test(hidden.slice(chosen.end, span.start)) || EQUATES.test(before))) break
    chosen = span
  }
  return chosen ?? found.find(span => /\d/.test(span.text)) ?? found.at(-1)
}

/** Longer texts are no answer with a reason. */
const MAX_CHARACTERS = 1000

/** Between a value that is asserted and one of a clause that only gives reasons or circumstances. */
const EXPLAINS =
  /\b(?:because|since|where|when(?:ever)?|while|which|whose|if|unless|given|assuming|provided|before|after|although|though|due to|by \p{L}+ing|to \p{Ll}{2,})\b/iu
/** Here a sentence comes back to what it asserts. */
const RESUMES =
  /\b(?:so|hence|thus|therefore|then|which (?:is|are|gives?|makes?|means|equals?|leaves?|totals?)|giving|gives?|leaving|leaves?|makes?|making|totals?|we (?:get|have|find|obtain)|but)\b|=/iu

/** In brackets with words. */
const isInBracket = (text: string, { start, end }: AnswerSpan): boolean => {
  const from = text[start] === '(' ? start + 1 : start
  const before = /\(([^()]{0,60})$/.exec(text.slice(Math.max(0, from - 61), from))
  const behind = text.slice(end, end + 60).split(')', 1)[0]
  return before !== null && /\p{L}{3}/u.test(before[1] + behind)
}

/** Candidates that are neither denied nor in a clause that only adds to something asserted: `The maximum is 8 at x = 3.` */
export const mainCandidates = (text: string): AnswerSpan[] => {
  const found = candidates(text).filter(span => !isDenied(text, span))
  const last = found.slice(-MAX_LOOKED_AT)
  const isAdded = (span: AnswerSpan): boolean =>
    last.some(main => {
      const between = main.end <= span.start ? text.slice(main.end, span.start) : '\n'
      if (SENTENCE_END.test(between) || !STATES.test(beforeOf(text, main))) return false
      return (
        ADDS.test(beforeOf(text, span)) ||
        isInBracket(text, span) ||
        (EXPLAINS.test(between) && !RESUMES.test(between))
      )
    })
  return [...found.slice(0, -MAX_LOOKED_AT), ...last.filter(span => !isAdded(span))]
}

const withoutTail = (text: string): string => text.replace(/[\s,;:]+$/, '')

/** What stands before the first aside, without commas; the whole where there is none. */
const head = (text: string, aside: RegExp): string => {
  const at = masked(text).search(aside)
  return at > 0 ? withoutTail(text.slice(0, at)) : text
}

/** The word that a text begins with, where it answers by itself. */
export const YES_OR_NO = /^(?:yes|no|true|false)(?=[,.;!])/i

/** An answer that stands alone, without a reason or condition behind it: `7, \text{ since } 3+4=7`; `Yes, it is`. */
export const withoutReason = (text: string, expect: 'math' | 'text' = 'math'): string => {
  if (text.length > MAX_CHARACTERS) return text
  if (expect === 'text') return YES_OR_NO.exec(text)?.[0] ?? head(text, ASIDE_OF_WORDS)
  const first = head(text, ASIDE)
  return first !== text && isPlainMathematics(first) ? first : text
}

/** A clause before the sentence proper: `With k = 3,`. */
const CONDITION =
  /^(?:for|out of|of|among|with|when|whenever|if|since|because|as|given|in|by|at|after|on|from|where|while|although|though|let)\b[^,]*,\s+(?:then\s+)?/i

const withoutCondition = (text: string): string => {
  const rest = text.replace(CONDITION, '')
  return candidates(rest).length > 0 ? rest : text
}

/** The answer that a sentence gives, which stands behind "the answer is" or alone; null for none. */
export const statedAnswer = (text: string, expect: 'math' | 'text'): string | null => {
  const whole = withoutCondition(text.replace(/^["'“(\s]*(?:is|are|that)\s+/i, '').trim())
  const first = head(whole, ASIDE)
  if (!/^not\b/i.test(first) && isPlainMathematics(first)) return first
  if (first !== whole && !/^\p{L}{2}/u.test(masked(whole)) && isPlainMathematics(whole)) return whole
  if (expect === 'text') {
    const words = withoutReason(whole, 'text')
    return words.length > 0 && words.length <= 80 ? words : null
  }
  const chosen = asserted(whole)
  if (chosen) return chosen.text
  if (candidates(whole).length > 0) return null
  return whole.length > 0 && whole.length <= 40 && !/\s\S+\s\S+\s|^not\b/.test(whole) ? whole : null
}
