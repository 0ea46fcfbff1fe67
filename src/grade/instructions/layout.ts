/** @file Instructions about layout: brackets, quotes, lines, lists, templates (IFBench, group `format`). */

import { instruction, phrase } from './definition.ts'
import { splitSentences } from './sentences.ts'
import {
  BLANK,
  firstCharacter,
  isBlank,
  occurrences,
  splitBlanks,
  strip,
  trimMarks,
  withoutPunctuation,
} from './text.ts'
import { tokenize } from './tokens.ts'

const CLOSES: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
const NESTED_BRACKETS = 5
const NESTED_QUOTES = 3

/** Brackets nested five deep, at least one of them closed after that; a bracket closed wrongly starts all over. */
const nestsBrackets = (response: string): boolean => {
  let open: string[] = []
  let isDeep = false
  for (const character of response.match(/[()[\]{}]/g) ?? []) {
    if (!(character in CLOSES)) {
      open.push(character)
      isDeep ||= open.length >= NESTED_BRACKETS
    } else if (open.at(-1) !== CLOSES[character]) {
      open = []
      isDeep = false
    } else if (isDeep) return true
    else open.pop()
  }
  return false
}

/** Straight double and single quotes taking turns, opened three deep and closed again. */
const nestsQuotes = (response: string): boolean => {
  const open: string[] = []
  let deepest = 0
  for (const quote of response.match(/["']/g) ?? []) {
    if (quote !== open.at(-1)) {
      open.push(quote)
      deepest = Math.max(deepest, open.length)
      continue
    }
    open.pop()
    if (deepest - open.length >= NESTED_QUOTES) return true
  }
  return false
}

/** No two quotes touch, and the text does not end with one (digits and other marks aside). */
const explainsQuotes = (response: string): boolean => {
  const text = splitBlanks(response.replace(/[“”]/g, '"').replaceAll(`'"'`, '')).join('')
  return !text.includes('""') && !/"[\d!#-/:-@[-`{-~]*$/.test(text)
}

const isEmoji = (character: string): boolean =>
  /^\p{Emoji}$/u.test(character) && !/^[\d#*]$|^\p{Regional_Indicator}$/u.test(character)

/** The emoji stands at the end of the sentence (also before a variation selector), or opens the next one. */
const endsInEmoji = (sentence: string, next: string | undefined): boolean => {
  const characters = [...strip(withoutPunctuation(sentence))]
  if (characters.length === 0) return false
  if (characters.slice(-2).some(isEmoji)) return true
  return next !== undefined && isEmoji(firstCharacter(strip(withoutPunctuation(next))))
}

/** `yes/no/maybe`, `this or that`, `a), b), c)`. */
const optionsOf = (text: string): string[] => {
  const separator = ['/', 'or'].find(part => text.includes(part)) ?? ','
  return text.split(separator).map(strip)
}

/** Lettered options must be met to the letter, others up to case and marks around them. */
const isOption = (response: string, options: string): boolean => {
  const isLettered = /^[^\p{L}\p{N}_]*a[^\p{L}\p{N}_]*b[^\p{L}\p{N}_]*c/iu.test(options)
  if (isLettered) return optionsOf(options).includes(response)
  const bare = (text: string) => trimMarks(text).toLowerCase()
  return optionsOf(options).map(bare).includes(bare(response))
}

/** Spaces before the first other character. */
const indent = (line: string): number => line.length - line.replace(/^ +/, '').length

/** A title-cased word: not all in lower case, and not `lOWER`. Mixed words like `iPhone` pass. */
const isTitleCase = (token: string): boolean => {
  if (!/^\p{L}/u.test(token) || !/^\p{Lowercase}/u.test(token)) return true
  const rest = token.slice(firstCharacter(token).length)
  if (rest === '') return false
  const isAll = (wanted: RegExp, other: RegExp) => wanted.test(rest) && !other.test(rest)
  return (
    !isAll(/\p{Lowercase}/u, /[\p{Uppercase}\p{Lt}]/u) && !isAll(/\p{Uppercase}/u, /[\p{Lowercase}\p{Lt}]/u)
  )
}

/** Text in `<i>` or `<em>`, and text after it. */
const opensWithThesis = (response: string): boolean => {
  const start = [response.indexOf('<i>'), response.indexOf('<em>')].find(index => index >= 0)
  if (start === undefined) return false
  const text = response.slice(start)
  const end = [text.indexOf('</i>'), text.indexOf('</em>')].find(index => index >= 0)
  if (end === undefined) return false
  return !isBlank(text.slice(3, end)) && !isBlank(text.slice(end + 4))
}

/** Two sentences or more, then nothing but two starred lines or more. */
const bulletsAfterSentences = (response: string): boolean => {
  const lines = response.split('\n')
  const isBullet = (line: string) => strip(line).startsWith('*')
  const first = lines.findIndex(isBullet)
  if (first < 0) return false
  const before = lines.slice(0, first)
  // As in the public code, nothing may follow a blank line but the bullets.
  const gap = before.findIndex(isBlank)
  if (gap >= 0 && gap < before.length - 1) return false
  const sentences = before.flatMap(splitSentences).length
  return sentences >= 2 && lines.length - first >= 2 && lines.slice(first).every(isBullet)
}

export const layoutInstructions = [
  /** `format:parentheses`: brackets of any kind, properly nested at least five deep. */
  instruction('format:parentheses', {}, nestsBrackets),

  /** `format:quotes`: quotes within quotes within quotes, double and single in turn. */
  instruction('format:quotes', {}, nestsQuotes),

  /** `format:quote_unquote`: every quotation is followed by something unquoted. */
  instruction('format:quote_unquote', {}, explainsQuotes),

  /** `format:options` {options}: the response is one of the options and nothing else. */
  instruction('format:options', { options: phrase }, (response, { options }) => isOption(response, options)),

  /** `format:newline`: one word a line. */
  instruction('format:newline', {}, response => {
    const text = strip(withoutPunctuation(response))
    return text.split('\n').filter(line => line !== '').length === splitBlanks(text).length
  }),

  /** `format:emoji`: an emoji at the end of every sentence. */
  instruction('format:emoji', {}, response => {
    const sentences = splitSentences(response)
    return sentences.every((sentence, index) => endsInEmoji(sentence, sentences[index + 1]))
  }),

  /** `format:line_indent`: each line is indented by more spaces than the one before; blank lines do not count. */
  instruction('format:line_indent', {}, response => {
    const indents = response
      .split('\n')
      .filter(line => !isBlank(line))
      .map(indent)
    return indents.slice(1).every((spaces, index) => spaces > indents[index])
  }),

  /** `format:list` {sep}: the separator occurs at least twice. */
  instruction('format:list', { sep: phrase }, (response, { sep }) => occurrences(response, sep) >= 2),

  /** `format:thesis`: a statement in HTML italics, followed by text. */
  instruction('format:thesis', {}, opensWithThesis),

  /** `format:sub-bullets`: after each `*`, a `-` before the next one. */
  instruction('format:sub-bullets', {}, response =>
    response
      .split('*')
      .slice(1)
      .every(bullet => bullet.includes('-')),
  ),

  /** `format:no_bullets_bullets`: at least two sentences, then at least two bullets with `*`, then nothing. */
  instruction('format:no_bullets_bullets', {}, bulletsAfterSentences),

  /** `format:title_case`: no word starts in lower case. */
  instruction('format:title_case', {}, response => tokenize(response).every(isTitleCase)),

  /** `format:output_template`: has the three headings of the template. */
  instruction('format:output_template', {}, response =>
    ['My Answer:', 'My Conclusion:', 'Future Outlook:'].every(heading => response.includes(heading)),
  ),

  /** `format:no_whitespace`: no blank of any kind. */
  instruction('format:no_whitespace', {}, response => !new RegExp(`[${BLANK}]`, 'u').test(response)),
]
