/** @file Texts as Python treats them: its white space, its lines, and the methods that a template may call. */

/** What Python strips; JavaScript's `\s` has U+FEFF besides, and lacks U+001C to U+001F and U+0085. */
export const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const SPACES = new RegExp(`${SPACE}+`)
const LINE_END = '\\r\\n|[\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]'
const LINES = new RegExp(LINE_END, 'g')

/** `strip`, `lstrip`, `rstrip`: of white space for null, else of any of `chars`. */
export const pyStrip = (text: string, chars: string | null, sides: 'both' | 'left' | 'right'): string => {
  const set = chars === null ? null : new Set(chars)
  const goes = (character: string) => (set === null ? SPACES.test(character) : set.has(character))
  const characters = Array.from(text)
  let [start, end] = [0, characters.length]
  if (sides !== 'right') while (start < end && goes(characters[start])) start++
  if (sides !== 'left') while (end > start && goes(characters[end - 1])) end--
  return characters.slice(start, end).join('')
}

/** `split(separator, limit)`; at white space for null. @throws Error for an empty separator */
export const pySplit = (text: string, separator: string | null, limit: number): string[] => {
  if (separator === '') throw new Error('split: expected a separator, got an empty text')
  if (separator === null && limit >= 0)
    throw new Error('split: maxsplit without a separator is not supported')
  if (separator === null) return pyStrip(text, null, 'both').split(SPACES).filter(Boolean)
  const parts = text.split(separator)
  if (limit < 0 || parts.length <= limit + 1) return parts
  return [...parts.slice(0, limit), parts.slice(limit).join(separator)]
}

/** `splitlines()`. */
export const splitLines = (text: string): string[] => {
  const lines = text.split(LINES)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** `replace(old, by, count)`; -1 for all. */
export const replace = (text: string, old: string, by: string, count: number): string => {
  const parts = old === '' ? ['', ...Array.from(text), ''] : text.split(old)
  const at = count < 0 ? parts.length : count + 1
  return (
    parts.slice(0, at).join(by) +
    parts
      .slice(at)
      .map(part => old + part)
      .join('')
  )
}

/** `capitalize()`. */
export const capitalize = (text: string): string => {
  const [first = '', ...rest] = Array.from(text)
  const [capital = '', ...second] = first.toUpperCase()
  if (/[Ǆ-ǌǱ-ǳ]/.test(first)) throw new Error(`capitalize: ${first} is not supported`)
  return capital + [...second, ...rest].join('').toLowerCase()
}

/** Words as Python's `title` has them, or as Jinja's filter: each with a capital, the rest small. */
export const titleCase = (text: string, words: RegExp): string => text.replace(words, capitalize)
export const PYTHON_WORDS = /[\p{Lu}\p{Ll}\p{Lt}]+/gu
export const JINJA_WORDS = new RegExp(`[^-({[<${SPACE.slice(1, -1)}]+`, 'gu')

/** `format` with `{}`, `{0}` and `{name}`. @throws Error for a field with more in it */
export const format = (text: string, read: (name: string) => string): string => {
  let next = 0
  if (/[{}]/.test(text.replace(/\{\{|\}\}|\{\w*\}/g, '')))
    throw new Error('format: a field with options is not supported')
  return text.replace(
    /(?:(\{|\})\1)|\{(\w*)\}/g,
    (_, brace, name) => brace ?? read(name === '' ? `${next++}` : name),
  )
}

/** `repr` of a float: with an exponent below 1e-4 and from 1e16 on. */
export const printFloat = (value: number): string => {
  if (!Number.isFinite(value)) return `${value}`.toLowerCase().replace('infinity', 'inf')
  const [mantissa, power] = value.toExponential().split('e')
  if (Number(power) < -4 || Number(power) >= 16) return `${mantissa}e${power.replace(/^(.)(\d)$/, '$10$2')}`
  const digits = value.toFixed(Math.max(1, mantissa.replace(/-?\d\.?/, '').length - Number(power)))
  return Object.is(value, -0) ? '-0.0' : digits
}

const escapeCharacter = (character: string): string => {
  const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t', ' ': ' ' }[character]
  const code = character.codePointAt(0)!
  const [letter, width] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8]
  return short ?? `\\${letter}${code.toString(16).padStart(width, '0')}`
}

/** `repr` of a text: in single quotes, unless only those are in it. */
export const quote = (text: string): string => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text.replace(mark === '"' ? /\\/g : /[\\']/g, '\\$&')
  return mark + escaped.replace(/[\p{C}\p{Z}]/gu, escapeCharacter) + mark
}
