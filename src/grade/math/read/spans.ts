/** @file Where mathematics stands in running text: between delimiters, or as bare numbers and fractions. */

import { braceGroup } from './tokens.ts'
import { quantityEnd } from './unit-text.ts'

/** A stretch of text that may be an answer. */
export interface AnswerSpan {
  start: number
  end: number
  text: string
}

const PERCENT = /^\s*(?:\\?%|percent(?:age)?\b|pct\b|per cent\b)/i

const withPercent = (text: string, end: number, inside: string): string =>
  PERCENT.test(text.slice(end, end + 14)) && !inside.includes('%') ? `${inside} \\%` : inside

/** Opening, closing, and whether the mathematics between may go over several lines. */
const DELIMITERS: readonly [open: string, close: string, lines: boolean][] = [
  ['$$', '$$', true],
  ['\\[', '\\]', true],
  ['\\(', '\\)', false],
  ['$', '$', false],
  ['`', '`', false],
]

const isProse = (inside: string): boolean =>
  /(?:^|[^\\a-zA-Z{])[a-zA-Z]{2,}[ ,]+[a-zA-Z]{2,}/.test(
    inside.replace(/\\[a-zA-Z]+\s*\{[^{}]*\}|\\[a-zA-Z]+/g, ''),
  ) || /[.?!]\s+\p{L}/u.test(inside)

/** An unescaped `close` behind `from`, or -1. */
const closing = (text: string, close: string, from: number): number => {
  let at = text.indexOf(close, from)
  while (at > 0 && text[at - 1] === '\\' && text[at - 2] !== '\\') at = text.indexOf(close, at + 1)
  return at
}

interface Delimited extends AnswerSpan {
  usable: boolean
}

/**
 * Every delimited stretch from left to right. Inline mathematics that goes over a line end is broken: it is no answer,
 * and neither is a number inside it. A pair of dollar signs around prose is money, not mathematics.
 */
const delimited = (text: string): Delimited[] => {
  const found: Delimited[] = []
  const lastClose = new Map(DELIMITERS.map(([, close]) => [close, text.lastIndexOf(close)]))
  for (let i = 0; i < text.length; i++) {
    if (!'$\\`'.includes(text[i])) continue
    const delimiter = DELIMITERS.find(([open]) => text.startsWith(open, i))
    if (!delimiter) {
      if (text[i] === '\\') i++
      continue
    }
    const [open, close, lines] = delimiter
    const from = i + open.length
    const at = lastClose.get(close)! >= from ? closing(text, close, from) : -1
    if (at < 0) continue
    const inside = text.slice(from, at)
    if (inside.trim() === '' || isProse(inside)) continue
    const end = at + close.length
    found.push({
      start: i,
      end,
      text: withPercent(text, end, inside),
      usable: lines || !inside.includes('\n'),
    })
    i = end - 1
  }
  return found
}

const NUMBER = String.raw`(?:\d{1,3}(?:[, ]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)?|\.\d+)`
const SIGNED = String.raw`(?:(?<![\p{L}\d.)])[-−+])?${NUMBER}`
const PLAIN = new RegExp(
  String.raw`(?<![a-zA-Z\d.,\\]|\d[-−])\(?${SIGNED}\)?(?:(?:\s?(?:[-−+/×÷^=·]|\*\*?)\s?|:)\(?[-−]?${NUMBER}\)?){0,40}(?:\s?(?:\\?%|percent(?:age)?\b|pct\b))?`,
  'gu',
)

const LATEX_START = /-?\\(?:[dtc]?frac|sqrt|pi\b)/g

/** Bare LaTeX such as `\frac{2}{5}` outside delimiters. */
const bareLatex = (text: string): AnswerSpan[] => {
  const found: AnswerSpan[] = []
  for (const match of text.matchAll(LATEX_START)) {
    let end = match.index + match[0].length
    while (text[end] === '{') {
      const group = braceGroup(text.slice(0, end + 400), end)
      if (!group) break
      end = group[1]
    }
    found.push({ start: match.index, end, text: text.slice(match.index, end) })
  }
  return found
}

const balanced = (text: string): string => {
  const opens = text.split('(').length
  const closes = text.split(')').length
  return opens === closes ? text : text.replace(/^\(|\)$/g, '')
}

/** The text with spaces in place of the spans (which follow each other); places stay the same. */
const blanked = (text: string, spans: readonly AnswerSpan[]): string => {
  const parts: string[] = []
  let at = 0
  for (const { start, end } of spans) {
    if (start < at) continue
    parts.push(text.slice(at, start), ' '.repeat(end - start))
    at = end
  }
  return parts.join('') + text.slice(at)
}

/** The same with the unit behind it. */
const withQuantity = (text: string, span: AnswerSpan): AnswerSpan => {
  const end = quantityEnd(text, span.end)
  return end === span.end ? span : { ...span, end, text: `${span.text}${text.slice(span.end, end)}` }
}

/** The same with `minus` or `negative` before it, unless that stands between two values. */
const withSign = (text: string, span: AnswerSpan): AnswerSpan => {
  const sign = /(?<![\d)$]\s?)\b(?:minus|negative)\s{1,3}$/i.exec(
    text.slice(Math.max(0, span.start - 14), span.start),
  )
  return sign ? { ...span, start: span.start - sign[0].length, text: `-${span.text}` } : span
}

/** Candidates for an answer, sorted by where they end. */
export const candidates = (text: string): AnswerSpan[] => {
  const areas = delimited(text)
  const outside = blanked(text, areas)
  const latex = bareLatex(outside)
  const rest = blanked(outside, latex)
  const numbers = [...rest.matchAll(PLAIN)].map(match => ({
    start: match.index,
    end: match.index + match[0].length,
    text: balanced(match[0]),
  }))
  return [...areas.filter(area => area.usable), ...latex, ...numbers]
    .sort((a, b) => a.end - b.end)
    .reduce<AnswerSpan[]>((found, span) => {
      if (span.start >= (found.at(-1)?.end ?? 0)) found.push(withSign(text, withQuantity(text, span)))
      return found
    }, [])
}

/** Whether the text holds delimited mathematics, broken or not. */
export const hasDelimiters = (text: string): boolean => delimited(text).length > 0

/** The text without its delimited mathematics. */
export const outsideDelimiters = (text: string): string => {
  let result = ''
  let at = 0
  for (const { start, end } of delimited(text)) {
    result += `${text.slice(at, start)} `
    at = end
  }
  return result + text.slice(at)
}

/** The text with `#` in place of its delimited mathematics; places stay the same. */
export const masked = (text: string): string =>
  text.replace(/\$\$[^$]*\$\$|\$[^$\n]*\$|\\\[[\s\S]*?\\\]|\\\([\s\S]*?\\\)|`[^`\n]*`/g, part =>
    '#'.repeat(part.length),
  )
