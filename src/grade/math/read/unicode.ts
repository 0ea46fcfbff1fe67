/** @file Mathematics written with characters of Unicode, as the LaTeX or ASCII that says the same. */

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
export const withoutUnicode = (text: string): string => {
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
