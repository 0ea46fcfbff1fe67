/** @file Texts as rules see them: words, sentences, paragraphs, lines outside code, folded spelling. All in linear time. */

import { sentenceSegments, wordSegments } from './segments.ts'

const WORD = /[\p{L}\p{N}\p{M}_]+(?:(?:['’-]|(?<=\p{N})[.,](?=\p{N}))[\p{L}\p{N}\p{M}_]+)*/gu

/** Scripts that put no spaces between words. */
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Words of a text. Hyphens and apostrophes stay inside a word; scripts without spaces are segmented as Unicode says. */
export const wordsOf = (text: string): string[] =>
  SPACELESS.test(text) ? wordSegments(text) : (text.match(WORD) ?? [])

const hasContent = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

/** Sentences by the rules of Unicode; a line break ends one. Markers and bare punctuation are none. */
export const sentencesOf = (text: string): string[] =>
  sentenceSegments(text)
    .map(segment => segment.trim())
    .filter(hasContent)

/** Characters as Unicode counts them: a pair of surrogates is one. */
export const charactersIn = (text: string): number => {
  let count = text.length
  for (let at = 1; at < text.length; at++) {
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
    if (isPair) count--
  }
  return count
}

/** Paragraphs: runs of lines between blank lines. */
export const paragraphsOf = (text: string): string[] => {
  const paragraphs: string[] = []
  let lines: string[] = []
  for (const line of [...text.split('\n'), '']) {
    if (line.trim() !== '') lines.push(line)
    else if (lines.length > 0) {
      paragraphs.push(lines.join('\n'))
      lines = []
    }
  }
  return paragraphs
}

/** A fenced block of Markdown. */
export interface CodeBlock {
  language: string
  code: string
  /** False where the text ends before the fence closes. */
  closed: boolean
}

// The look-aheads leave one way only to read a run of marks: judged text must not be able to make this slow.
const FENCE = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/

/** Splits Markdown into lines outside code and code blocks. */
export const splitCode = (text: string): { lines: string[]; blocks: CodeBlock[] } => {
  const lines: string[] = []
  const blocks: CodeBlock[] = []
  let open: { mark: string; language: string; code: string[] } | null = null
  for (const line of text.split('\n')) {
    const fence = FENCE.exec(line.trimEnd())
    if (open === null) {
      if (fence) open = { mark: fence[1], language: fence[2].trim(), code: [] }
      else lines.push(line)
    } else if (fence && fence[2].trim() === '' && fence[1].startsWith(open.mark)) {
      blocks.push({ language: open.language, code: open.code.join('\n'), closed: true })
      open = null
    } else open.code.push(line)
  }
  if (open) blocks.push({ language: open.language, code: open.code.join('\n'), closed: false })
  return { lines, blocks }
}

const QUOTES: Readonly<Record<string, string>> = {
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '‘': "'",
  '’': "'",
  '–': '-',
  '—': '-',
  '‐': '-',
  '‑': '-',
  '−': '-',
}

/**
 * A text without differences that nobody means: one form of Unicode, one kind of quote, dash and space, and unless
 * `caseSensitive` one case.
 */
export const fold = (text: string, caseSensitive = false): string => {
  const plain = text
    .normalize('NFKC')
    .replace(/[“”„«»‘’–—‐‑−]/g, mark => QUOTES[mark])
    .replace(/\s+/g, ' ')
    .trim()
  return caseSensitive ? plain : plain.toLowerCase()
}

const isWordCharacter = (character: string): boolean =>
  /[\p{L}\p{N}\p{M}_]/u.test(character) && !SPACELESS.test(character)

const characterBefore = (text: string, at: number): string => {
  const low = text.charCodeAt(at - 1)
  return at > 1 && low >= 0xdc00 && low <= 0xdfff ? text.slice(at - 2, at) : text.slice(at - 1, at)
}

const characterAt = (text: string, at: number): string =>
  at < text.length ? String.fromCodePoint(text.codePointAt(at)!) : ''

/** Whether the cut at `at` does not go through a word. */
const isBoundary = (text: string, at: number): boolean =>
  !(isWordCharacter(characterBefore(text, at)) && isWordCharacter(characterAt(text, at)))

/**
 * Offset of a term in a text, both folded alike; -1 without it.
 * @param wholeWords the term must not be part of a longer word
 */
export const indexOfTerm = (text: string, term: string, wholeWords: boolean, from = 0): number => {
  for (let at = text.indexOf(term, from); at >= 0; at = text.indexOf(term, at + 1)) {
    if (!wholeWords || (isBoundary(text, at) && isBoundary(text, at + term.length))) return at
  }
  return -1
}
