/** @file Texts as rules see them: words, sentences, paragraphs, lines outside code, folded spelling. All in linear time. */

const wordSegmenter = new Intl.Segmenter('und', { granularity: 'word' })
const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Characters that a window has at first. */
const SENTENCE_WINDOW = 1024
const WORD_WINDOW = 256

/** A run that no window can be cut in is cut hard after so many characters: no word of any language is as long. */
const LONGEST_RUN = 1024

/**
 * Ends of the first sentences in a window, as offsets in it. Whether a sentence ends somewhere may depend on what follows,
 * but at most up to the next mark that could end one: of a window that is not the `rest` of the text, the last end is unsure.
 */
const endsIn = (window: string, rest: boolean, most: number): number[] => {
  const ends: number[] = []
  const wanted = rest ? most : most + 1
  for (const { index } of sentenceSegmenter.segment(window)) {
    if (index > 0) ends.push(index)
    if (ends.length === wanted) break
  }
  if (!rest) return ends.slice(0, -1)
  return ends.length === wanted ? ends : [...ends, window.length]
}

/** Sentences of a text with the blanks after them; joined they are the text. */
export const sentenceSegments = (text: string): string[] => {
  const segments: string[] = []
  let start = 0
  let size = SENTENCE_WINDOW
  while (start < text.length) {
    // In a window that had to grow one sentence is enough: each of many would copy all of it.
    const most = size === SENTENCE_WINDOW ? Number.POSITIVE_INFINITY : 1
    const ends = endsIn(text.slice(start, start + size), start + size >= text.length, most)
    const first = start
    for (const end of ends) {
      segments.push(text.slice(start, first + end))
      start = first + end
    }
    size = ends.length === 0 ? size * 2 : SENTENCE_WINDOW
  }
  return segments
}

const SAFE_END = /[\s。、！？]/u
const JOINS_ON = /[\p{M}\p{Cf}]/u

/** Where a window may end so that no word is cut; -1 where it may not in this range. */
const safeEnd = (text: string, from: number, to: number): number => {
  for (let end = to; end > from; end--)
    if (SAFE_END.test(text[end - 1]) && !JOINS_ON.test(String.fromCodePoint(text.codePointAt(end)!)))
      return end
  return -1
}

/** Words of a text in scripts that may put no spaces between them. */
export const wordSegments = (text: string): string[] => {
  const words: string[] = []
  const add = (segments: Iterable<Intl.SegmentData>) => {
    for (const { segment, isWordLike } of segments) if (isWordLike) words.push(segment)
  }
  let start = 0
  let size = WORD_WINDOW
  while (start + size < text.length) {
    const end = safeEnd(text, start, start + size)
    if (end > 0) {
      add(wordSegmenter.segment(text.slice(start, end)))
      start = end
      size = WORD_WINDOW
    } else if (size < LONGEST_RUN) size *= 2
    else {
      const segments = [...wordSegmenter.segment(text.slice(start, start + size))]
      const kept = segments.length > 2 ? segments.slice(0, -2) : segments
      add(kept)
      const last = kept[kept.length - 1]
      start += last.index + last.segment.length
      size = WORD_WINDOW
    }
  }
  add(wordSegmenter.segment(text.slice(start)))
  return words
}

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
export const indexOfTerm = (text: string, term: string, wholeWords: boolean): number => {
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    if (!wholeWords || (isBoundary(text, at) && isBoundary(text, at + term.length))) return at
  }
  return -1
}
