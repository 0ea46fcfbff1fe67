/**
 * @file Characters, words and lines as the reference checkers see them.
 *
 * The public checkers are written in Python, whose notion of a blank, a word character or a line differs from
 * JavaScript's in small ways (`\s` there takes U+001C and not U+FEFF, `\w` takes every script, `.` stops at `\n` only).
 * Everything that depends on it is here.
 */

/** Blanks of Python's `str.isspace`, as the inside of a character class. */
export const BLANK = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'

/** A word character, `\w`: a letter or number of any script, or an underscore. Combining marks are none. */
export const WORD_CHARACTER = '[\\p{L}\\p{N}_]'

/** The 32 punctuation marks of ASCII. */
export const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'

const IS_BLANK = new RegExp(`[${BLANK}]`, 'u')
const BLANKS = new RegExp(`[${BLANK}]+`, 'u')
const PUNCTUATION_MARKS = /[!-/:-@[-`{-~]/g
const WORD = new RegExp(`${WORD_CHARACTER}+`, 'gu')
const TRIMMED = new Set([...PUNCTUATION, ' '])

/**
 * Without the characters at both ends that `isOuter` names. A loop, because a pattern anchored at the end takes quadratic
 * time on long runs inside the text, and texts come from outside.
 */
export const trimWhere = (
  text: string,
  isOuter: (character: string) => boolean,
  ends: 'start' | 'end' | 'both' = 'both',
): string => {
  let from = 0
  let to = text.length
  if (ends !== 'end') while (from < to && isOuter(text[from])) from++
  if (ends !== 'start') while (to > from && isOuter(text[to - 1])) to--
  return text.slice(from, to)
}

/** Without blanks at both ends. */
export const strip = (text: string): string => trimWhere(text, character => IS_BLANK.test(character))

export const isBlank = (text: string): boolean => strip(text) === ''

/** Pieces between blanks. */
export const splitBlanks = (text: string): string[] => {
  const inner = strip(text)
  return inner === '' ? [] : inner.split(BLANKS)
}

/** Runs of word characters; an apostrophe or hyphen ends one. */
export const words = (text: string): string[] => text.match(WORD) ?? []

export const withoutPunctuation = (text: string): string => text.replace(PUNCTUATION_MARKS, '')

/** Without ASCII punctuation and spaces at the start, the end, or both. */
export const trimMarks = (text: string, ends: 'start' | 'end' | 'both' = 'both'): string =>
  trimWhere(text, character => TRIMMED.has(character), ends)

/** Number of characters (code points, not UTF-16 units). */
export const length = (text: string): number => {
  let n = 0
  for (const _ of text) n++
  return n
}

/** First character of a text, whole even outside the basic plane. */
export const firstCharacter = (text: string): string => {
  const code = text.codePointAt(0)
  return code === undefined ? '' : String.fromCodePoint(code)
}

/** Has cased letters, all of them capitals. */
export const isUpper = (text: string): boolean =>
  /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text)

/** Has cased letters, none of them a capital. */
export const isLower = (text: string): boolean =>
  /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text)

/** A pattern that matches `text` literally, for use in a `u` regular expression. */
export const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Occurrences of `part` that do not overlap. */
export const occurrences = (text: string, part: string): number => text.split(part).length - 1

/** Decomposed, marks and everything outside ASCII dropped: `São Tomé` becomes `Sao Tome`. */
export const toAscii = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes the controls, and they stay
  text.normalize('NFKD').replace(/[^\x00-\x7f]/g, '')
