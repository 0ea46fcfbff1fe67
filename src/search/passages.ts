/** @file Long texts in passages of a stated length: cut at headings and paragraphs, then at sentences, then between words. */

/** Most characters of a passage where nothing else is asked for. */
export const PASSAGE_CHARS = 1_500

/** Longest first piece of a text that ends well: after a sentence, else between words, else between characters. */
const cutPlace = (text: string, maxChars: number): number => {
  const head = text.slice(0, maxChars)
  const sentence = Math.max(
    ...['. ', '! ', '? ', '.\n', '!\n', '?\n', '。'].map(end => head.lastIndexOf(end)),
  )
  // A piece of half the length at least: a full stop near the beginning would leave crumbs.
  if (sentence >= maxChars / 2) return sentence + 1
  const blank = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'), head.lastIndexOf('\t'))
  if (blank >= maxChars / 2) return blank
  const last = text.charCodeAt(maxChars - 1)
  const splitsPair = last >= 0xd800 && last <= 0xdbff
  return splitsPair && maxChars > 1 ? maxChars - 1 : maxChars
}

const cutParagraph = (paragraph: string, maxChars: number): string[] => {
  const pieces: string[] = []
  let rest = paragraph
  while (rest.length > maxChars) {
    const at = cutPlace(rest, maxChars)
    pieces.push(rest.slice(0, at).trim())
    rest = rest.slice(at).trimStart()
  }
  return [...pieces, rest].filter(piece => piece !== '')
}

/**
 * A text as passages of at most `maxChars` characters: whole paragraphs as long as they fit together.
 * @returns none for a text of blanks
 * @example
 * passagesOf('One.\n\nTwo.', 5) // [ 'One.', 'Two.' ]
 */
export const passagesOf = (text: string, maxChars = PASSAGE_CHARS): string[] => {
  const whole = text.trim()
  if (whole.length <= maxChars) return whole === '' ? [] : [whole]
  const passages: string[] = []
  let open = ''
  for (const paragraph of whole.split(/\n[ \t\r]*\n/)) {
    for (const piece of cutParagraph(paragraph.trim(), maxChars)) {
      const joined = open === '' ? piece : `${open}\n\n${piece}`
      if (joined.length <= maxChars) {
        open = joined
        continue
      }
      passages.push(open)
      open = piece
    }
  }
  return open === '' ? passages : [...passages, open]
}

/** A part of a Markdown text under a heading. */
export interface MarkdownSection {
  /** The headings above it, outermost first. */
  headings: readonly string[]
  text: string
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/

/** A heading's level and words; null for any other line. A run of `#` may close it. */
const headingOf = (line: string): { level: number; words: string } | null => {
  const match = HEADING.exec(line)
  if (match === null) return null
  const words = match[2].trim()
  let end = words.length
  while (end > 0 && words[end - 1] === '#') end--
  const closed = end === 0 || words[end - 1] === ' ' ? words.slice(0, end).trim() : words
  return { level: match[1].length, words: closed }
}

/** The sections of a Markdown text: `#` headings outside fenced code begin one (CommonMark 0.31, 4.2 and 4.5). */
export const sectionsOf = (text: string): MarkdownSection[] => {
  const sections: MarkdownSection[] = []
  let headings: (string | undefined)[] = []
  let lines: string[] = []
  let fence: string | null = null
  const finish = () => {
    const body = lines.join('\n').trim()
    if (body !== '') sections.push({ headings: headings.filter(words => words !== undefined), text: body })
    lines = []
  }
  for (const line of text.split(/\r?\n/)) {
    const [, marks] = FENCE.exec(line) ?? []
    if (fence !== null) {
      if (marks?.startsWith(fence) && line.trim() === marks) fence = null
    } else if (marks !== undefined) fence = marks
    const heading = fence === null && marks === undefined ? headingOf(line) : null
    if (heading === null) {
      lines.push(line)
      continue
    }
    finish()
    headings = headings.slice(0, heading.level - 1)
    headings[heading.level - 1] = heading.words === '' ? undefined : heading.words
  }
  finish()
  return sections
}
