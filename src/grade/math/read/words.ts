/** @file Answers in words: yes and no, names, options of a multiple-choice question. */

import { LABEL_WORDS } from '../../logic/answer.ts'
import { NUMBER_BY_WORD, table } from './vocabulary.ts'

const SYNONYMS = table(LABEL_WORDS)

/** Lower case, without articles, brackets, punctuation and spaces. */
const normalisedWords = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[\p{P}\p{S}]+/gu, ' ')
    .replace(/\b(?:the|a|an)\s+(?=\p{L})/gu, '')
    .replace(/\s+/g, ' ')
    .trim()

/** The letter of an option: `C`, `(C)`, `C. Cecile`, `(C) Cecile`; null where there is none. */
const optionLetter = (text: string): string | null => {
  const match = /^\s*(?:\(([A-Ja-j])\)|([A-J])[.):]|([A-J])(?=\s*$)|([A-J])(?=\s+\p{Lu}))/u.exec(text)
  return match ? (match[1] ?? match[2] ?? match[3] ?? match[4]).toUpperCase() : null
}

/** The text with the words of `\\text{...}` and the like in place of the commands. */
export const withoutTextCommands = (text: string): string =>
  text.replace(/\\(?:text\w*|mbox|hbox|mathrm)\s*\{([^{}]*)\}/g, '$1').trim()

/**
 * A quick comparison of two cleaned answers by their letters alone: the same words, or the option of a multiple-choice
 * question where one is a lone letter. Undefined where that does not apply.
 */
export const byLetters = (a: string, b: string): boolean | undefined => {
  const [x, y] = [withoutTextCommands(a), withoutTextCommands(b)]
  if (/\p{L}{3}/u.test(x) && !/[\d\\]/.test(x) && x.toLowerCase() === y.toLowerCase()) return true
  if (isYesOrNo(x) && isYesOrNo(y)) return textsEqual(x, y)
  const isLone = [x, y].some(text => /^\(?[A-J]\)?$/.test(text))
  const [optionX, optionY] = isLone ? [optionLetter(x), optionLetter(y)] : [null, null]
  return optionX !== null && optionY !== null ? optionX === optionY : undefined
}

const isYesOrNo = (text: string): boolean => /^(?:yes|no)\.?$/i.test(text)

/** Equality of two answers in words. Letters in another order (`cat`, `act`) are other words. */
export const textsEqual = (a: string, b: string): boolean => {
  const [x, y] = [normalisedWords(a), normalisedWords(b)]
  if (x === y) return x !== '' || a.trim() === b.trim()
  if (SYNONYMS[x] && x.length > 1 && SYNONYMS[x] === SYNONYMS[y]) return true
  const [numberX, numberY] = [NUMBER_BY_WORD[x] ?? x, NUMBER_BY_WORD[y] ?? y]
  if (String(numberX) === String(numberY)) return true
  const [optionX, optionY] = [optionLetter(a), optionLetter(b)]
  return optionX !== null && optionX === optionY && (x.length === 1 || y.length === 1)
}
