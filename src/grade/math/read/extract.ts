/** @file Finds the final answer in a response. */

import { choiceIn } from './choices.ts'
import { unescaped } from './clean.ts'
import { isSupposed } from './denials.ts'
import {
  type AnswerPlace,
  afterThinking,
  behindHashes,
  lastBox,
  lastTagged,
  withoutRefutedBoxes,
} from './places.ts'
import {
  isPlainMathematics,
  isProseWord,
  mainCandidates,
  statedAnswer,
  withoutReason,
  YES_OR_NO,
} from './sentences.ts'
import { type AnswerSpan, hasDelimiters, masked, outsideDelimiters } from './spans.ts'
import { quantityEnd } from './unit-text.ts'
import { withoutTextCommands } from './words.ts'

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
 * @example
 * extractMathAnswer('First \\boxed{3}. No: \\boxed{\\frac{1}{2}}.') // '\\frac{1}{2}'
 * extractMathAnswer('48 + 24 = 72 clips.\n#### 72') // '72'
 * extractMathAnswer('I do not know.') // null
 */
export const extractAnswer = (response: string, options: ExtractOptions = {}): string | null => {
  const text = withoutRefutedBoxes(
    unescaped(afterThinking(response.slice(-MAX_RESPONSE_CHARACTERS))).replace(/<\|[a-z_]{1,40}\|>.*$/s, ''),
  )
  const tagged = lastTagged(text)
  if (tagged) return held(tagged.text, options)
  const box = lastBox(text)
  const final = announced(text, FINAL, options)
  if (box && !(final && final.at > box.end && answersAs(final.text, options)))
    return held(box.text + unitBehind(text, box), options)
  if (final) return final.text
  const hashed = behindHashes(text)
  if (hashed !== null) return held(hashed, options)
  if (options.expect === 'choice') return announced(text, ANNOUNCED, options)?.text ?? choiceIn(text)
  const said = announced(text, ANNOUNCED, options)?.text
  if (said === undefined && options.expect === 'text' && YES_OR_NO.test(text.trim()))
    return withoutReason(text.trim(), 'text')
  return said ?? turnedAround(text) ?? conclusion(text) ?? lastCandidate(text)
}

/** Whether a text can be an answer of the expected kind: "correct" is no number. */
const answersAs = (text: string, { expect = 'math' }: ExtractOptions): boolean =>
  expect !== 'math' || /\d/.test(text) || isPlainMathematics(text)

const IS_ANSWER =
  /\b(?:is|are)\s{1,9}(?:therefore\s+|thus\s+|then\s+|indeed\s+|clearly\s+)?(?:the|our|my)\s{1,9}(?:(?:final|correct|right|exact|required|desired)\s+){0,2}(?:answer|result|solution)\b/gi

/** `12 is the answer`: the value before the last such words. */
const turnedAround = (text: string): string | null => {
  const at = [...text.matchAll(IS_ANSWER)].at(-1)?.index
  if (at === undefined || isSupposed(text, at)) return null
  const last = mainCandidates(text.slice(0, at)).at(-1)
  return last && /^[$)"'”*\s]*$/.test(text.slice(last.end, at)) ? last.text.trim() : null
}

/** A percent sign or unit behind a box, also where its formula ends in between. */
const unitBehind = (text: string, { end, text: inside }: AnswerPlace): string => {
  const from = end + (/^\s?(?:\$|\\\)|\\\])/.exec(text.slice(end, end + 4))?.[0].length ?? 0)
  if (/^\s*(?:percent|pct|\\?%)/i.test(text.slice(from, from + 14))) return inside.includes('%') ? '' : ' \\%'
  return /\d\s*$/.test(inside) ? text.slice(from, quantityEnd(text, from)) : ''
}

/** The answer of a box, a tag or a line of its own: there may be a sentence in it, or a reason behind it. */
const held = (text: string, options: ExtractOptions): string | null => {
  if (options.expect === 'choice') return choiceIn(text) ?? (text.trim() || null)
  const words = withoutTextCommands(text)
  if (words.length < 2000 && (lastBox(words) || words.search(ANNOUNCED) >= 0))
    return extractAnswer(words, options)
  const isSentence = (masked(words).match(/\p{L}{2,}/gu) ?? []).filter(isProseWord).length > 1
  const found = isSentence ? statedAnswer(words.trim(), options.expect ?? 'math') : withoutReason(text.trim())
  return found || text.trim() || null
}

/** Whether the text is a response to search rather than the bare answer itself. */
export const isResponse = (text: string): boolean => {
  if (
    /\\f?box(?:ed)?\s*\{|####|<answer>|<\/?(?:think(?:ing)?|thought|reasoning)>|\[\/?THINK\]|\banswers?\b|\bfinal\b|<\|/i.test(
      text,
    )
  )
    return true
  if (CONCLUDES.test(text) || text.search(ANNOUNCED) >= 0) return true
  if (STATES_VALUE.test(text)) return true
  const outside = outsideDelimiters(text)
  const bare = outside
    .replace(/(?<![\w.])[a-zA-Z][\w.]{0,40}\(/g, ' ')
    .replace(/\\(?:begin|end)\s*\{[a-z*]*\}|\\[a-zA-Z]+/g, ' ')
  const words = (bare.match(/\p{L}{2,}/gu) ?? []).filter(isProseWord)
  if (/\p{Script=Han}/u.test(outside) && /[\d\\]/.test(text)) return true
  if (/^\s*\p{L}{3,}\s*:\s*[\d-]/u.test(text)) return true
  if (hasDelimiters(text)) return words.length > 0
  const isSentence = /^\s*\p{Lu}/u.test(text) && /[.!]\s*$/.test(text)
  return words.length >= (isSentence ? 2 : 3) && /\d/.test(text) && !/\\text/.test(text)
}

/** `20 minus 3 is 17` */
const STATES_VALUE = /\d\s[^=\n]{0,80}\b(?:is|are|equals?|gives?|makes?|leaves?)\s{1,3}[$-]{0,2}\d/

const FINAL = /final answer\W{0,4}(?:(?:is|are)\b)?\W{0,1}/gi

/** Source of the words: how the evaluation prompts of the languages in lighteval's extraction tests say "answer". */
const ANNOUNCED =
  /(?:\b(?:answer|result|solution|réponse|respuesta|resposta|risposta|antwort|wynik|odpowied[źz]|cevap)\b|ответ|答案|答え|정답|उत्तर|الجواب|الإجابة)\s*(?:\*\*\s*)?(?:(?:(?:is|are|est|es|ist|è|é)(?!\p{L})(?:\s+(?:therefore|thus|just|simply|then|about))?)|[:：=是为為]|は)/giu

/** What the last announcement says, if it can be read. */
const announced = (
  text: string,
  words: RegExp,
  { expect = 'math' }: ExtractOptions,
): { at: number; text: string } | null => {
  const matches = [...text.matchAll(words)]
  for (const match of matches.reverse().slice(0, 5)) {
    if (isSupposed(text, match.index)) continue
    const start = match.index + match[0].length
    const said = sentence(text.slice(start, start + 600))
    const found = expect === 'choice' ? choiceIn(`answer: ${said}`) : statedAnswer(said, expect)
    if (found) return { at: match.index, text: found }
  }
  return null
}

/**
 * Up to the end of the sentence: a full stop or line end outside mathematics, or a closing phrase. A line that ends with a
 * colon goes on in the next.
 */
const sentence = (text: string): string => {
  const rest = text
    .replace(/^[\s:*]+/, '')
    .replace(/^(?:let|suppose|assume|consider|denote)\b[^.\n]*\.\s+/i, '')
  const hidden = masked(rest)
  const end = hidden.search(/[.。!?](?=\s|$|\*)|(?<!(?:[:=]|\b(?:is|are))[\s*]*)\n|I hope|<\|/)
  return end < 0 ? rest : rest.slice(0, end)
}

const CONCLUDES = /^\s*(?:therefore|thus|hence|so|then|finally|we (?:get|find|have))\b[\s,:]*/i

/** `Therefore, x = 5.`: the whole of a last line that is mathematics but for its first word. */
const conclusion = (text: string): string | null => {
  const line = text.trimEnd().split('\n').at(-1)!.slice(-400)
  const rest = line.replace(CONCLUDES, '')
  return rest === line ? null : ([rest, withoutReason(rest)].find(isPlainMathematics) ?? null)
}

/** The last mathematics or number, or both of two that `and` or `or` joins; names alone (`$ABC$`) only where nothing else is there. */
const lastCandidate = (text: string): string | null => {
  const found = mainCandidates(text)
  const isName = ({ text: inside }: AnswerSpan) =>
    /^\s*(?:\\?[a-zA-Z]+'*|\\[a-z]+\s*\{?[A-Z]+\}?)\s*$/.test(inside)
  const last = found.findLast(span => !isName(span)) ?? found.at(-1)
  if (!last) return null
  const previous = found[found.indexOf(last) - 1]
  const joint = previous && /^\s{0,9}(and|or)\s{0,9}$/.exec(text.slice(previous.end, last.start))
  return joint ? `${previous.text.trim()} \\text{ ${joint[1]} } ${last.text.trim()}` : last.text.trim()
}
