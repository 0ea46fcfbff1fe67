/** @file Short answers against the right ones, as SQuAD and HotpotQA score them: the same after normalising, and shared words. */

import { mathEqual } from '../../grade/math/index.ts'
import { announcedAnswer } from '../../grade/rules/answers.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import { countEach } from '../../util/descriptive.ts'
import { plainText } from '../questions/answers.ts'

const ARTICLES = /\b(?:a|an|the)\b/g
/** As Python's `string.punctuation`, which SQuAD's script removes. */
const PUNCTUATION = /[!-/:-@[-`{-~]/g

/** Lower case, without punctuation and articles, single spaces (SQuAD's and HotpotQA's `normalize_answer`). */
export const normaliseShort = (text: string): string =>
  text.toLowerCase().replace(PUNCTUATION, '').replace(ARTICLES, ' ').split(/\s+/).filter(Boolean).join(' ')

/** Answers of which another one has no part (HotpotQA). */
const WHOLE: ReadonlySet<string> = new Set(['yes', 'no', 'noanswer'])

/** Harmonic mean of precision and recall of words after normalising, in [0, 1] (HotpotQA's `f1_score`). */
export const wordF1 = (given: string, gold: string): number => {
  const [ours, theirs] = [normaliseShort(given), normaliseShort(gold)]
  if (ours !== theirs && (WHOLE.has(ours) || WHOLE.has(theirs))) return 0
  const words = ours.split(' ').filter(Boolean)
  const wanted = theirs.split(' ').filter(Boolean)
  const left = countEach(wanted)
  let shared = 0
  for (const word of words) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    left.set(word, count - 1)
    shared++
  }
  if (shared === 0) return 0
  const [precision, recall] = [shared / words.length, shared / wanted.length]
  return (2 * precision * recall) / (precision + recall)
}

/** A number, a fraction, a formula: without a word in it. */
const isMath = (gold: string): boolean => /\d/.test(gold) && !/[a-z]{2}/i.test(gold.replace(/\\[a-z]+/gi, ''))

/** The plain comparison is for what normalising leaves nothing of, as the letter A. */
const isRight = (given: string, gold: string): boolean =>
  (given.trim() !== '' && given.trim().toLowerCase() === gold.trim().toLowerCase()) ||
  (normaliseShort(given) === normaliseShort(gold) && normaliseShort(gold) !== '') ||
  (isMath(gold) && mathEqual(gold, given, { extract: false }) === true)

const CITE = /<\/?cite\b[^<>]{0,500}>/gi

/** The text of an answer without the tags of its citations. */
export const withoutCitations = (answer: string): string => answer.replace(CITE, '').trim()

/** What an answer gives: what it boxes or announces, else all of it; citations undone. */
export const givenAnswer = (answer: string): string => {
  const plain = withoutCitations(answer)
  return plainText(announcedAnswer(plain) ?? plain).trim()
}

/** What a text lists, between commas (not those within a number), semicolons and line ends; marks of a list and an "and" after a comma undone. */
export const listedMembers = (text: string): string[] =>
  text
    .split(/[;\n]|,(?!\d{3}(?!\d))/)
    .map(own => own.replace(/^\s*(?:[-*•]\s|\d+[.)]\s)?\s*(?:and\s)?/i, '').trim())
    .filter(own => /[\p{L}\p{N}]/u.test(own))

interface SetScores {
  /** Of what is right and what is in excess, the share that is right; 0 where nothing is right. */
  setPrecision: number
  /** Share of the set that is listed. */
  setRecall: number
  /** Their harmonic mean. */
  setF1: number
}

/**
 * What an answer lists against a set, as DeepSearchQA counts it (arXiv 2601.20975 and the starter code of google/deepsearchqa): found
 * members F of a set of M, and E listed that are none of it, each counted once. P = F / (F + E), R = F / M, F1 = 2 P R / (P + R). There a
 * judge says what is found and what is in excess; here both are told as exact match tells short answers.
 */
const setScores = (given: string, members: readonly string[]): SetScores => {
  const isMember = (own: string) => members.some(member => isRight(own, member))
  // "A, B and C": parted at the "and" where that gives a member, and the whole is none ("Trinidad and Tobago").
  const listed = listedMembers(given).flatMap(own => {
    const parts = own.split(/\s+(?:and|&)\s+/i)
    return !isMember(own) && parts.some(isMember) ? parts : [own]
  })
  const found = members.filter(member => listed.some(own => isRight(own, member))).length
  const strangers = listed.filter(own => !isMember(own))
  const counted = found + new Set(strangers.map(normaliseShort)).size
  return {
    setPrecision: counted === 0 ? 0 : found / counted,
    setRecall: found / Math.max(1, members.length),
    setF1: (2 * found) / (counted + members.length),
  }
}

/**
 * An answer against the right ones, of which one is enough; none given is wrong.
 * @param members of a set that is asked for: right is who lists all of them and nothing else
 */
export const shortAnswerScores = (
  answer: string | null,
  golds: readonly string[],
  members?: readonly string[],
): { right: number; f1: number } & Partial<SetScores> => {
  const given = answer === null ? '' : givenAnswer(answer)
  const set = members && setScores(given, members)
  return {
    right: Number(set ? set.setF1 === 1 : golds.some(gold => isRight(given, gold))),
    f1: golds.reduce((most, gold) => Math.max(most, wordF1(given, gold)), 0),
    ...set,
  }
}

/** Asks a judge for the three grades of SimpleQA (in our words). */
export const judgedAnswer = (answers: readonly string[]): Criterion => ({
  ...{ id: 'judged', points: 1 },
  text: `The right answer to the question is: ${answers.join('; or: ')}. Of what it says only what the question asks for is wanted, in whatever words; a number is right to its last digit.`,
  levels: [
    'Incorrect: the reply contradicts the right answer, be it in part or while hedging',
    'Not attempted: the reply lacks what is wanted of the right answer, and contradicts none of it',
    'Correct: the reply has all that is wanted of the right answer, and contradicts none of it',
  ].map((text, i) => ({ low: i, high: i, text })),
})

/** Not attempted, without asking anybody. */
export const NOT_ATTEMPTED: Verdict = { criterionId: 'judged', met: false, credit: 0.5, source: 'rule' }

/** What the judge's grade says; null where there is none. */
export const judgedScores = (verdict: Verdict): { correct: number | null; attempted: number | null } => {
  const credit = creditOf(verdict)
  const grade = credit === null ? null : Math.round(2 * credit)
  return { correct: grade && Number(grade === 2), attempted: grade === null ? null : Number(grade !== 1) }
}
