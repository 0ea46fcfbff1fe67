/** @file Takes what is only dressing off an answer: delimiters, spaces, currency, thousands marks, markdown. */

import { braceGroup } from './tokens.ts'
import { withoutUnicode } from './unicode.ts'

/** Commands that are told by their name even where their backslash was doubled by some escaping on the way. */
const DOUBLED =
  /\\\\(?=(?:[dtc]?frac|boxed|fbox|sqrt|left|right|le|leq|ge|geq|pi|text|mathrm|mathbf|infty|cdot|times|cup|in|neq?|pm|circ|begin|end|[dt]?binom|theta|alpha|beta)(?![a-zA-Z]))/g

/** Undoes doubled backslashes of commands; row ends of matrices stay. */
export const unescaped = (text: string): string =>
  /\\\\\\\\|\\\\begin/.test(text) || !/\\begin\{/.test(text) ? text.replace(DOUBLED, '\\') : text

/** An amount of money: the sign stands before the number. A lone dollar sign is one, two are delimiters. */
const MONEY =
  /(?:US ?)?(\\\$|\\textdollar|[€£¥₹])\s*(\d[\d,.]*\d|\d)(?:\s?(?:\\text\s?\{\s?)?(?:dollars?|euros?)\b\s?\}?)?/g
const CURRENCIES: Readonly<Record<string, string>> = { '€': 'euro', '£': 'GBP', '¥': 'yen', '₹': 'rupee' }
const LONE_DOLLAR = /^([^$]*)(?<!\\)\$(\d[^$]*)$/

/** `**bold**` as Markdown writes it: not between two operands, where it is a power. */
const BOLD =
  /(?<![\p{L}\p{N})\]}])\*\*(?=\S)((?:(?!\*\*(?![\p{L}\p{N}(\\+−-])).){0,400}?\S)\*\*(?![\p{L}\p{N}(\\])/gu

const REPLACEMENTS: readonly [RegExp, string | ((...parts: string[]) => string)][] = [
  [/<\|[a-z_]{1,40}\|>/gi, ' '],
  [/(?<=\d),\\!\s*(?=\d{3}(?!\d))/g, ''],
  [/\\(?:displaystyle|dotfill|!)/g, ''],
  [/\b(?:c?math|np|numpy|sympy|sp|fractions|decimal)\.(?=[a-zA-Z])/g, ''],
  [/\{\s*\\rm\s([^{}]{0,80})\}/g, '\\mathrm{$1}'],
  [/\\(?:SI|qty)\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, '$1\\mathrm{$2}'],
  [/\\(?:text|math)?color(?:box)?\s*\{\w+\}/g, ''],
  [/\\left\s*\\\{\s*(?=\\begin)/g, ''],
  [/(?<=\d)\s?\{\s*,\s*\}\s?(?=\d{3}(?!\d))/g, ''],
  [/(?<=\d)\{,\}(?=\d)/g, '.'],
  [/(?<=\d)(?:\\[,;: ]|~)(?=\d{3}(?!\d))/g, ''],
  [MONEY, (_, sign, number) => `${number} \\text{${CURRENCIES[sign] ?? 'dollar'}} `],
  [/(\d)\s?([€£¥₹])/g, (_, digit, sign) => `${digit} \\text{${CURRENCIES[sign]}} `],
  [/\\\$|\\textdollar|[€£¥₹₽₩₪฿￥]/g, ' '],
  [/\$/g, ' '],
  [/(?<!\d\s?)\b(?:minus|negative)\s+(?=\d|\\[dt]?frac|\\sqrt|\\pi)/gi, '-'],
  [/\\[()]/g, ' '],
  [/\\\[(?!\d+(?:pt|em|ex)\])|\\\]/g, ' '],
  [/\\\\\[\d+(?:pt|em|ex)\]/g, '\\\\'],
  [BOLD, ' $1 '],
  [/(?<=[\p{L}\p{N})\]}!])( ?)\*\*\1(?=[\p{L}\p{N}({\\+−-])/gu, '^'],
  [/\*\*|__(?=\S)/g, ' '],
  [/\(\s*(?:\\(?:text|mathrm|mod)\s*\{?\s*)?mod\s*\}?\s*([\w]+)\s*\)/g, '\\pmod{$1}'],
]

const MAX_BOXES = 8

/** The inside of a box that holds the whole text, and of a box in that box. */
const withoutBox = (text: string): string => {
  let inside = text
  for (let i = 0; i < MAX_BOXES; i++) {
    const start = /^\\(?:boxed|fbox)\s*(?=\{)/.exec(inside)
    const group = start && braceGroup(inside, start[0].length)
    if (!group || inside.slice(group[1]).trim() !== '') break
    inside = group[0].trim()
  }
  return inside
}

const grouped = (text: string): string =>
  text
    .replace(/(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d])/g, digits => digits.replace(/ /g, ''))
    .replace(
      /^(-?)(\d{1,3}(?:\.\d{3})+),(\d+)$/,
      (_, sign, whole, rest) => `${sign}${whole.replace(/\./g, '')}.${rest}`,
    )
    .replace(/^(-?0),(\d+)$/, '$1.$2')

const TAIL = /[\s"“”’.。,;:*]/

/**
 * Without spaces, punctuation, `\\` and `\ ` at its end. Read backwards: a pattern that is tied to the end tries every run of
 * such characters from each of its places.
 */
const withoutTail = (text: string): string => {
  let end = text.length
  for (;;) {
    const before = end
    while (end > 0 && TAIL.test(text[end - 1])) end--
    let slashes = 0
    while (text[end - slashes - 1] === '\\') slashes++
    // The last of an odd number escapes the blank behind it, or stays.
    const escapes = slashes % 2 === 1 && !(before > end && text[end] === ' ')
    end -= escapes ? slashes - 1 : slashes
    if (escapes || end === before) return text.slice(0, end)
  }
}

/** The answer that is left: LaTeX or plain mathematics, or words. Linear in the length of the text. */
export const cleaned = (text: string): string => {
  let result = withoutBox(unescaped(withoutUnicode(text.trim())))
  result = result.replace(LONE_DOLLAR, '$1\\$$$2')
  for (const [pattern, replacement] of REPLACEMENTS) result = result.replace(pattern, replacement as string)
  result = result.replace(/\s+/g, ' ').replace(/^[\s"'“”‘:*]+/, '')
  return grouped(withoutBox(withoutTail(result)))
}
