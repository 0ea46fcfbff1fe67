/** @file Texts as Python treats them: by code points, with Python's white space and cases. */

/** What Python's `isspace` holds for white space; JavaScript's `\s` has U+FEFF besides, and lacks U+001C to U+001F and U+0085. */
export const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const SPACES = new RegExp(`[${SPACE}]+`)
const SPACES_BEFORE = new RegExp(`^[${SPACE}]+`)
const LINE_ENDS = '\\r\\n|[\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]'
const LINES = new RegExp(LINE_ENDS, 'g')

const isSpace = (character: string) => SPACES.test(character)

/** `strip`, `lstrip`, `rstrip`: of white space, or of any of `chars`. */
export const strip = (text: string, chars: string | null, sides: 'both' | 'left' | 'right'): string => {
  const set = chars === null ? null : new Set(chars)
  const goes = (character: string) => (set === null ? isSpace(character) : set.has(character))
  const characters = Array.from(text)
  let [start, end] = [0, characters.length]
  if (sides !== 'right') while (start < end && goes(characters[start])) start++
  if (sides !== 'left') while (end > start && goes(characters[end - 1])) end--
  return end - start === characters.length ? text : characters.slice(start, end).join('')
}

/** `split()`: at white space, at most `limit` times (-1: always). */
export const splitAtSpace = (text: string, limit: number): string[] => {
  const parts: string[] = []
  let rest = text.replace(SPACES_BEFORE, '')
  while (rest !== '') {
    const gap = limit < 0 || parts.length < limit ? SPACES.exec(rest) : null
    if (gap === null) return [...parts, rest]
    parts.push(rest.slice(0, gap.index))
    rest = rest.slice(gap.index + gap[0].length)
  }
  return parts
}

/** `rsplit()`: as `splitAtSpace`, from the right. */
export const splitAtSpaceFromRight = (text: string, limit: number): string[] => {
  const reverse = (part: string) => Array.from(part).reverse().join('')
  return splitAtSpace(reverse(text), limit).reverse().map(reverse)
}

/** `split(separator, limit)`. @throws Error for an empty separator */
export const splitAt = (text: string, separator: string, limit: number, fromRight = false): string[] => {
  if (separator === '') throw new Error('split: expected a separator, got an empty text')
  const parts = text.split(separator)
  if (limit < 0 || parts.length <= limit + 1) return parts
  return fromRight
    ? [parts.slice(0, parts.length - limit).join(separator), ...parts.slice(parts.length - limit)]
    : [...parts.slice(0, limit), parts.slice(limit).join(separator)]
}

/** `splitlines(keepends)`. */
export const splitLines = (text: string, keepEnds = false): string[] => {
  const lines: string[] = []
  let start = 0
  for (const { 0: end, index } of text.matchAll(LINES)) {
    lines.push(text.slice(start, index + (keepEnds ? end.length : 0)))
    start = index + end.length
  }
  return start < text.length ? [...lines, text.slice(start)] : lines
}

/** Digraphs whose first letter alone is a capital in titles. */
const DIGRAPHS: Readonly<Record<string, string>> = {
  ǆ: 'ǅ',
  Ǆ: 'ǅ',
  ǉ: 'ǈ',
  Ǉ: 'ǈ',
  ǌ: 'ǋ',
  Ǌ: 'ǋ',
  ǳ: 'ǲ',
  Ǳ: 'ǲ',
}

const toTitle = (character: string): string => {
  const [first = '', ...rest] = Array.from(character.toUpperCase())
  return DIGRAPHS[character] ?? first + rest.join('').toLowerCase()
}

/** `capitalize()`. */
export const capitalize = (text: string): string => {
  const [first = '', ...rest] = Array.from(text)
  return toTitle(first) + rest.join('').toLowerCase()
}

const isCased = (character: string) => /[\p{Lu}\p{Ll}\p{Lt}]/u.test(character)

/** `title()` of Python, which begins a word behind everything that has no case. */
export const titleCase = (text: string): string => {
  let within = false
  return Array.from(text, character => {
    const changed = within ? character.toLowerCase() : toTitle(character)
    within = isCased(character)
    return changed
  }).join('')
}

/** `swapcase()`. */
export const swapCase = (text: string): string =>
  Array.from(text, character => {
    const upper = character.toUpperCase()
    return character === upper ? character.toLowerCase() : upper
  }).join('')

const all = (text: string, expression: RegExp) => text !== '' && expression.test(text)

/** `isalpha()` and its like. */
export const IS: Readonly<Record<string, (text: string) => boolean>> = {
  isalnum: text => all(text, /^[\p{L}\p{N}]+$/u),
  isalpha: text => all(text, /^\p{L}+$/u),
  isascii: text => Buffer.byteLength(text) === text.length,
  isdecimal: text => all(text, /^\p{Nd}+$/u),
  isdigit: text => all(text, /^[\p{Nd}\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]+$/u),
  isidentifier: text => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(text),
  islower: text => /[\p{Ll}]/u.test(text) && !/[\p{Lu}\p{Lt}]/u.test(text),
  isnumeric: text => all(text, /^\p{N}+$/u),
  isprintable: text => !/[\p{C}\p{Z}]/u.test(text.replaceAll(' ', '')),
  isspace: text => all(text, new RegExp(`^[${SPACE}]+$`)),
  istitle: text => isCased(Array.from(text).find(isCased) ?? '') && text === titleCase(text),
  isupper: text => /[\p{Lu}]/u.test(text) && !/[\p{Ll}\p{Lt}]/u.test(text),
}

/** `expandtabs(size)`: columns begin anew in each line. */
export const expandTabs = (text: string, size: number): string => {
  let column = 0
  return Array.from(text, character => {
    if (character === '\t') {
      const width = size > 0 ? size - (column % size) : 0
      column += width
      return ' '.repeat(width)
    }
    column = character === '\n' || character === '\r' ? 0 : column + 1
    return character
  }).join('')
}

/** Characters of a text for HTML, as `escape` writes them. */
export const escapeHtml = (text: string): string =>
  text.replace(
    /[&<>'"]/g,
    character => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', "'": '#39', '"': '#34' }[character]};`,
  )
