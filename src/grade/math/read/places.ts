/** @file Where responses put their answer: behind the thinking, in a box, between tags, behind `####`. */

import { isRefuted } from './denials.ts'
import { braceGroup } from './tokens.ts'

/** The tags of DeepSeek-R1 and Qwen3 (`think`), of Magistral (`[THINK]`), and of prompts that ask for reasoning in tags. */
const THINKING_END = /<\/(?:think(?:ing)?|thought|reasoning)>|\[\/THINK\]/gi
const THINKING = /<(?:think(?:ing)?|thought|reasoning)>|\[THINK\]/i

/** What follows the thinking; nothing where the thinking never ends. */
export const afterThinking = (text: string): string => {
  const end = [...text.matchAll(THINKING_END)].at(-1)
  const rest = end ? text.slice(end.index + end[0].length) : text
  const open = rest.search(THINKING)
  return open < 0 ? rest : rest.slice(0, open)
}

/** Only so many of the last boxes are looked at. */
const MAX_BOXES = 100
const MAX_BOX_CHARACTERS = 5000

/** A stretch of a response and the answer in it. */
export interface AnswerPlace {
  start: number
  end: number
  text: string
}

const boxes = (text: string): AnswerPlace[] => {
  const found: AnswerPlace[] = []
  for (const match of [...text.matchAll(/\\f?box(?:ed)?(?![a-z])\s*/g)].slice(-MAX_BOXES)) {
    const open = match.index + match[0].length
    const group = text[open] === '{' ? braceGroup(text.slice(0, open + MAX_BOX_CHARACTERS), open) : null
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

/** The text without the boxes that it refutes: `not \boxed{4}`. */
export const withoutRefutedBoxes = (text: string): string => {
  const refuted = boxes(text).filter(box => isRefuted(text, box))
  return refuted.reduceRight((rest, { start, end }) => `${rest.slice(0, start)} ${rest.slice(end)}`, text)
}

/** The last `\boxed` or `\fbox` that holds something and is not refuted, with those that belong to it; null without one. */
export const lastBox = (text: string): AnswerPlace | null => {
  const all = boxes(text).filter(box => !isRefuted(text, box))
  const last = all.at(-1)
  if (!last) return null
  const parts = [last]
  for (let i = all.length - 2; i >= 0 && belongTogether(text.slice(all[i].end, parts[0].start)); i--)
    parts.unshift(all[i])
  const distinct = [...new Set(parts.map(part => part.text))]
  return { ...last, text: distinct.join(' \\text{ and } ') }
}

/** The inside of the last `<answer>`, up to the end where it is never closed; null without one. */
export const lastTagged = (text: string): AnswerPlace | null => {
  const last = [...text.matchAll(/<answer>/gi)].at(-1)
  if (!last) return null
  const start = last.index + last[0].length
  const length = text.slice(start).search(/<\/answer>/i)
  const end = length < 0 ? text.length : start + length
  return { start: last.index, end, text: text.slice(start, end) }
}

/** What follows the last `####` that begins a line. */
export const behindHashes = (text: string): string | null => {
  const at = text.lastIndexOf('####')
  if (at < 0) return null
  return /(?:^|\n)\s*####\s*([^\n]{1,300})/.exec(text.slice(Math.max(0, at - 2)))?.[1].trim() ?? null
}
