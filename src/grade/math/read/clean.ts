/** @file Takes what is only dressing off an answer: delimiters, spaces, currency, thousands marks, markdown. */

import { braceGroup } from './tokens.ts'
import { table } from './vocabulary.ts'

/** Characters that Unicode's compatibility forms would make letters or words of: sets, and the sign of an ohm or angstrom. */
const KEPT = table<string>({
  ℝ: '\\mathbb{R}',
  ℤ: '\\mathbb{Z}',
  ℕ: '\\mathbb{N}',
  ℚ: '\\mathbb{Q}',
  ℂ: '\\mathbb{C}',
  '…': '\\ldots ',
  '∛': '\\sqrt[3]',
  '∜': '\\sqrt[4]',
  '√': '\\sqrt',
  ℓ: '\\ell ',
}) // prettier-ignore

const SUPERSCRIPTS = /[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱⁿᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻ]+/g
const SUBSCRIPTS = /[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ]+/g
const VULGAR = /[¼½¾⅐-⅞↉]/g
/** Letters and digits of other widths and faces, ligatures, double primes: a compatibility form says the same. */
const FACES = /[\u{1d400}-\u{1d7ff}！-～ﬀ-ﬆ℀-⅏Ⅰ-ⅿ①-⓿″‴µ\u2000-\u200a\u3000\u00a0]/gu
const NOTHING = /\u00ad|[\u200b-\u200d]|[\u2060-\u2064]|\ufeff|\ufe0e|\ufe0f/g

/** What a root sign binds where no bracket follows: a number, or a letter, with its exponent. */
const ROOT =
  /(√|∛|∜)\s*(?=\S)(?:([-−]?(?:\d+(?:[.,]\d+)?|\\frac\{\d+\}\{\d+\}|\p{L})(?:\^\{[^{}]*\})?)|(?=[({\\|]))/gu

/** The ASCII form of a decimal digit of any script: Unicode assigns them in runs of ten, from zero to nine. */
const asciiDigit = (digit: string): string => {
  const code = digit.codePointAt(0)!
  let first = code
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--
  return String((code - first) % 10)
}

const ascii = (text: string): string => text.normalize('NFKC').replace(/[−‐‑–]/g, '-')

/** Runs of superscripts are one exponent, of subscripts one index, ½ a fraction, √15 the root of 15, １２ is 12. */
const withoutUnicode = (text: string): string => {
  if (/^[\x20-\x7e]*$/.test(text)) return text
  return text
    .replace(NOTHING, '')
    .replace(/º/g, '°')
    .replace(/(?!\d)\p{Nd}/gu, asciiDigit)
    .replace(/(?<=\d)٫(?=\d)/g, '.')
    .replace(/(?<=\d)٬(?=\d{3})/g, ',')
    .replace(SUPERSCRIPTS, run => `^{${ascii(run)}}`)
    .replace(SUBSCRIPTS, run => `_{${ascii(run)}}`)
    .replace(VULGAR, sign => sign.normalize('NFKC').replace(/^(\d+)⁄(\d+)$/, '\\frac{$1}{$2}'))
    .replace(FACES, sign => KEPT[sign] ?? sign.normalize('NFKC'))
    .replace(ROOT, (_, sign, radicand) => `${KEPT[sign]}${radicand === undefined ? '' : `{${radicand}}`}`)
    .replace(/⁄/g, '/')
}

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
