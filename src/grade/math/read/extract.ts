/** @file Finds the final answer in a response. */

import { Budget, BudgetSpent } from '../budget.ts'
import { cleaned, unescaped } from './clean.ts'
import { some } from './expression.ts'
import { readings } from './read.ts'
import { candidates, hasDelimiters, outsideDelimiters, type Span } from './spans.ts'
import { braceGroup } from './tokens.ts'
import { readUnit } from './units.ts'
import { FUNCTIONS } from './vocabulary.ts'

export interface ExtractOptions {
  /** What the answer is known to be; `choice` looks for the letter of an option. */
  expect?: 'math' | 'text' | 'choice'
}

/** Only the end of a longer response is searched. */
const MAX_RESPONSE_CHARACTERS = 100_000

/**
 * The final answer of a response, as it is written there; null where there is none. In this order: what follows the last
 * `</think>`; the last `<answer>`; the last `\boxed` (several that belong together are joined), unless a later "final
 * answer is ..." gives another; `#### x`; "the answer is x" (also in other languages); the last mathematics or number.
 */
export const extractAnswer = (response: string, options: ExtractOptions = {}): string | null => {
  const text = afterThinking(
    unescaped(response.slice(-MAX_RESPONSE_CHARACTERS)).replace(/<\|[a-z_]{1,40}\|>.*$/s, ''),
  )
  const tagged = lastTagged(text)
  if (tagged !== null) return extractAnswer(tagged, options) ?? (tagged.trim() || null)
  const box = lastBox(text)
  const final = finalStatement(text, options)
  if (box && !(final && final.at > box.end)) return box.text
  if (final) return final.text
  const hashed = behindHashes(text)
  if (hashed !== null) return hashed
  if (options.expect === 'choice') return choice(text)
  return announced(text, ANNOUNCED, options)?.text ?? conclusion(text) ?? lastCandidate(text)
}

/** Whether the text is a response to search rather than the bare answer itself. */
export const isResponse = (text: string): boolean => {
  if (/\\f?box(?:ed)?\s*\{|####|<answer>|<\/think>|\banswers?\b|\bfinal\b|<\|/i.test(text)) return true
  if (CONCLUDES.test(text)) return true
  const outside = outsideDelimiters(text)
  const bare = outside.replace(/\\(?:begin|end)\s*\{[a-z*]*\}|\\[a-zA-Z]+/g, ' ')
  const words = (bare.match(/\p{L}{2,}/gu) ?? []).filter(isProseWord)
  if (/\p{Script=Han}/u.test(outside) && /[\d\\]/.test(text)) return true
  if (/^\s*\p{L}{3,}\s*:\s*[\d-]/u.test(text)) return true
  if (hasDelimiters(text)) return words.length > 0
  return words.length >= 3 && /\d/.test(text) && !/\\text/.test(text)
}

const isProseWord = (word: string): boolean => {
  const lower = word.toLowerCase()
  return (
    (!readUnit(word) || /^(?:in|us)$/.test(lower)) &&
    !FUNCTIONS[lower] &&
    !/^(?:units?|square|cubic|sq|cu|per|and|or|pct|percent(?:age)?|degrees?|text\w*|frac|left|right|sqrt)$/.test(lower)
  )
}

const afterThinking = (text: string): string => {
  const end = text.lastIndexOf('</think>')
  const rest = end < 0 ? '' : text.slice(end + '</think>'.length)
  return rest.trim() === '' ? text : rest
}

/** What follows the last `####` that begins a line. */
const behindHashes = (text: string): string | null => {
  const at = text.lastIndexOf('####')
  if (at < 0) return null
  return /(?:^|\n)\s*####\s*([^\n]{1,300})/.exec(text.slice(Math.max(0, at - 2)))?.[1].trim() ?? null
}

const lastTagged = (text: string): string | null => {
  const start = text.lastIndexOf('<answer>')
  if (start < 0) return null
  const end = text.indexOf('</answer>', start)
  return text.slice(start + '<answer>'.length, end < 0 ? undefined : end)
}

/** Only the last boxes of a response are looked at. */
const MAX_BOXES = 100

interface Box {
  start: number
  end: number
  text: string
}

const boxes = (text: string): Box[] => {
  const found: Box[] = []
  for (const match of [...text.matchAll(/\\f?box(?:ed)?(?![a-z])\s*/g)].slice(-MAX_BOXES)) {
    const open = match.index + match[0].length
    const group = text[open] === '{' ? braceGroup(text.slice(0, open + 5000), open) : null
    if (group?.[0].trim()) found.push({ start: match.index, end: group[1], text: group[0].trim() })
    else if (/[\w-]/.test(text[open] ?? '')) {
      const word = /^-?[\w.]+/.exec(text.slice(open, open + 40))
      if (word) found.push({ start: match.index, end: open + word[0].length, text: word[0] })
    }
  }
  return found
}

const JOINT = /\\(?:quad|qquad|,|;|\[|\]|\(|\))|\\text\s*\{\s*,?\s*(?:and|or)\s*\}|\band\b|\bor\b|[,+$]/g

/** Boxes with only a connective between them give one answer together. */
const belongTogether = (between: string): boolean =>
  between.length <= 80 &&
  between.replace(JOINT, '').trim() === '' &&
  (!/\n/.test(between) || /and|or|,/.test(between))

const lastBox = (text: string): Box | null => {
  const all = boxes(text)
  const last = all.at(-1)
  if (!last) return null
  const parts = [last]
  for (let i = all.length - 2; i >= 0 && belongTogether(text.slice(all[i].end, parts[0].start)); i--)
    parts.unshift(all[i])
  const distinct = [...new Set(parts.map(part => part.text))]
  const percent =
    /^\s*\$?\s*(?:percent|pct|\\?%)/i.test(text.slice(last.end, last.end + 14)) && !last.text.includes('%')
  return { ...last, text: distinct.join(' \\text{ and } ') + (percent ? ' \\%' : '') }
}

const FINAL = /final answer\W{0,4}(?:(?:is|are)\b)?\W{0,1}/gi

/** Source of the words: how the evaluation prompts of the languages in lighteval's extraction tests say "answer". */
const ANNOUNCED =
  /(?:\b(?:answer|result|solution|réponse|respuesta|resposta|risposta|antwort|wynik|odpowied[źz]|cevap)\b|ответ|答案|答え|정답|उत्तर|الجواب|الإجابة)\s*(?:\*\*\s*)?(?:(?:(?:is|are|est|es|ist|è|é)\b(?:\s+(?:therefore|thus|just|simply|then|about))?)|[:：=是为為]|は)/giu

const finalStatement = (text: string, options: ExtractOptions) => announced(text, FINAL, options)

/** What the last announcement says, if it can be read. */
const announced = (
  text: string,
  words: RegExp,
  options: ExtractOptions,
): { at: number; text: string } | null => {
  const matches = [...text.matchAll(words)]
  for (const match of matches.reverse().slice(0, 5)) {
    const start = match.index + match[0].length
    const found = fromSentence(sentence(text.slice(start, start + 600)), options)
    if (found) return { at: match.index, text: found }
  }
  return null
}

/** Up to the end of the sentence: a full stop or line end outside mathematics, or a closing phrase. */
const sentence = (text: string): string => {
  const rest = text.replace(/^[\s:*]+/, '')
  const hidden = maskDelimited(rest)
  const end = hidden.search(/[.。!?](?=\s|$|\*)|\n|I hope|<\|/)
  return end < 0 ? rest : rest.slice(0, end)
}

const maskDelimited = (text: string): string =>
  text.replace(/\$\$[^$]*\$\$|\$[^$\n]*\$|\\\[[\s\S]*?\\\]|\\\([\s\S]*?\\\)/g, part =>
    '#'.repeat(part.length),
  )

const COPULA = /(?:\b(?:is|are|equals|be|was|est|es|ist|of|approximately|about)|[=:是为為])\s*$/iu

const fromSentence = (text: string, options: ExtractOptions): string | null => {
  const whole = text.replace(/^["'“(\s]*(?:is|are|that)\s+/i, '').trim()
  if (options.expect === 'choice') return choice(whole)
  if (isPlainMathematics(whole)) return whole
  if (options.expect === 'text') return whole.length > 0 && whole.length <= 80 ? whole : null
  const found = candidates(text)
  const stated = found.filter(span => COPULA.test(text.slice(Math.max(0, span.start - 24), span.start)))
  const chosen = stated.at(-1) ?? found.find(span => /\d/.test(span.text)) ?? found.at(-1)
  if (chosen) return chosen.text
  return whole.length > 0 && whole.length <= 40 && !/\s\S+\s\S+\s/.test(whole) ? whole : null
}

/** A formula with no words in it but a unit. */
const isPlainMathematics = (text: string): boolean => {
  const plain = cleaned(text)
  if (plain === '' || plain.length > 300) return false
  try {
    const [node] = readings(plain, new Budget({ maxSteps: 20_000 }))
    return node !== undefined && !some(node, child => child.kind === 'text') && !hasProseUnit(plain)
  } catch (error) {
    if (error instanceof BudgetSpent) return false
    throw error
  }
}

const hasProseUnit = (text: string): boolean =>
  (text.replace(/\\[a-zA-Z]+/g, ' ').match(/\p{L}{2,}/gu) ?? []).filter(isProseWord).length > 2

const CONCLUDES = /^\s*(?:therefore|thus|hence|so|then|finally|we (?:get|find|have))\b[\s,:]*/i

/** `Therefore, x = 5.`: the whole of a last line that is mathematics but for its first word. */
const conclusion = (text: string): string | null => {
  const line = text.trimEnd().split('\n').at(-1)!.slice(-400)
  const rest = line.replace(CONCLUDES, '')
  return rest !== line && isPlainMathematics(rest) ? rest : null
}

/** The last mathematics or number; names alone (`$ABC$`) only where nothing else is there. */
const lastCandidate = (text: string): string | null => {
  const found = candidates(text)
  const isName = ({ text: inside }: Span) => /^\s*(?:\\?[a-zA-Z]+'*|\\[a-z]+\s*\{?[A-Z]+\}?)\s*$/.test(inside)
  return (found.findLast(span => !isName(span)) ?? found.at(-1))?.text.trim() ?? null
}

/** The letter of an option that a text chooses. */
const choice = (text: string): string | null => {
  const start = /^\W*\(?([A-J])(?:\)|[.:,。]|(?=\s*(?:\n|$)))/.exec(text)
  const said = [
    ...text.matchAll(
      /(?:answer\W{0,3}(?:is|:)?|it['’]?s|it is|option|choice|choose)[\s:*]*(?:for sure\s+)?\(?([A-J])(?![\w'’])/gi,
    ),
  ]
  const upper = said.filter(match => /[A-J]/.test(match[1])).at(-1)
  if (upper) return upper[1]
  return start?.[1] ?? [...text.matchAll(/(?<![\w'’])\(?([A-J])\)?(?![\w'’])/g)].at(-1)?.[1] ?? null
}
