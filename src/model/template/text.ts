/** @file Texts as Python treats them: by code points, with Python's white space, lines and cases. */

/** What Python strips; JavaScript's `\s` has U+FEFF besides, and lacks U+001C to U+001F and U+0085. */
export const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const SPACES = new RegExp(`${SPACE}+`)
const LINES = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g

/** `strip`, `lstrip`, `rstrip`: of white space, or of any of `chars`. */
export const strip = (text: string, chars: string | null, sides: 'both' | 'left' | 'right'): string => {
  const set = chars === null ? null : new Set(chars)
  const goes = (character: string) => (set === null ? SPACES.test(character) : set.has(character))
  const characters = Array.from(text)
  let [start, end] = [0, characters.length]
  if (sides !== 'right') while (start < end && goes(characters[start])) start++
  if (sides !== 'left') while (end > start && goes(characters[end - 1])) end--
  return characters.slice(start, end).join('')
}

const splitAtSpace = (text: string, limit: number): string[] => {
  const parts: string[] = []
  let rest = strip(text, null, 'left')
  while (rest !== '') {
    const gap = limit < 0 || parts.length < limit ? SPACES.exec(rest) : null
    if (gap === null) return [...parts, rest]
    parts.push(rest.slice(0, gap.index))
    rest = rest.slice(gap.index + gap[0].length)
  }
  return parts
}

/** `split(separator, limit)`, `rsplit`; at white space for null. @throws Error for an empty separator */
export const split = (text: string, separator: string | null, limit: number, fromRight = false): string[] => {
  if (separator === '') throw new Error('split: expected a separator, got an empty text')
  if (separator === null && fromRight && limit >= 0)
    throw new Error('rsplit(None, maxsplit) is not supported')
  if (separator === null) return splitAtSpace(text, limit)
  const parts = text.split(separator)
  if (limit < 0 || parts.length <= limit + 1) return parts
  const at = parts.length - limit
  return fromRight
    ? [parts.slice(0, at).join(separator), ...parts.slice(at)]
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

/** `replace(old, by, count)`; -1 for all. */
export const replace = (text: string, old: string, by: string, count: number): string => {
  const parts = old === '' ? ['', ...Array.from(text), ''] : text.split(old)
  const times = count < 0 ? parts.length - 1 : Math.min(count, parts.length - 1)
  return (
    parts.slice(0, times + 1).join(by) +
    parts
      .slice(times + 1)
      .map(part => old + part)
      .join('')
  )
}

/** `capitalize()`; letters whose capital is two of them keep the second small. */
export const capitalize = (text: string): string => {
  const [first = '', ...rest] = Array.from(text)
  const [capital = '', ...more] = Array.from(first.toUpperCase())
  return capital + more.join('').toLowerCase() + rest.join('').toLowerCase()
}

/** Words as Python's `title` has them, or as Jinja's filter: each with a capital, the rest small. */
export const titleCase = (text: string, words: RegExp): string => text.replace(words, capitalize)
export const PYTHON_WORDS = /[\p{Lu}\p{Ll}\p{Lt}]+/gu
export const JINJA_WORDS = new RegExp(`[^-({[<${SPACE.slice(1, -1)}]+`, 'gu')

const isCased = (text: string) => /[\p{Lu}\p{Ll}\p{Lt}]/u.test(text)
/** `islower()`, `isupper()`. */
export const isLower = (text: string): boolean => isCased(text) && !/[\p{Lu}\p{Lt}]/u.test(text)
export const isUpper = (text: string): boolean => isCased(text) && !/[\p{Ll}\p{Lt}]/u.test(text)

/** `repr` of a float: with an exponent below 1e-4 and from 1e16 on. */
export const printFloat = (value: number): string => {
  if (!Number.isFinite(value)) return `${value}`.toLowerCase().replace('infinity', 'inf')
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const [mantissa, exponent] = Math.abs(value).toExponential().split('e')
  const [digits, power] = [mantissa.replace('.', ''), Number(exponent)]
  if (power < -4 || power >= 16)
    return `${sign}${mantissa}e${power < 0 ? '-' : '+'}${`${Math.abs(power)}`.padStart(2, '0')}`
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`
  const whole = digits.slice(0, power + 1).padEnd(power + 1, '0')
  return `${sign}${whole}.${digits.slice(power + 1) || '0'}`
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', ' ': ' ' }

const escapeCharacter = (character: string): string => {
  const code = character.codePointAt(0)!
  const [letter, width] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8]
  return SHORT[character] ?? `\\${letter}${code.toString(16).padStart(width, '0')}`
}

/** `repr` of a text: in single quotes, unless only those are in it. */
export const quote = (text: string): string => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text.replace(mark === '"' ? /\\/g : /[\\']/g, '\\$&')
  return mark + escaped.replace(/[\p{C}\p{Z}]/gu, escapeCharacter) + mark
}

/** Characters of a text for HTML, as `Markup` escapes them. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>'"]/g, c => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', "'": '#39', '"': '#34' }[c]};`)
