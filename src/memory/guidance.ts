/** @file Lessons as criteria, for recipes whose scaffold shows criteria or hints: a memory for every recipe. */

import { escapeUntrusted } from '../util/untrusted.ts'
import type { Retrieval } from './bank.ts'
import type { BankItem } from './item.ts'
import type { Json } from './json.ts'

/** A criterion but for what a recipe adds (an id, where it came from). */
export interface LessonCriterion {
  text: string
  /** 1 for what is to be done; -1 for what is to be avoided. */
  points: number
}

export interface GuidanceOptions {
  /** Most criteria. Default 8. */
  most?: number
  /** Most characters of one. Default 300. */
  maxCharacters?: number
  /** The lessons of an item, one a text; those of its takeaways by default: entries of a list, lines of a text. */
  lessonsOf?: (item: BankItem) => readonly (string | LessonCriterion)[]
}

/** What a line of a list begins with. */
const MARKER = /^\s*(?:[-*•]|\d{1,3}[.)])\s+/

const lessonsIn = (value: Json): string[] => {
  if (value === null || typeof value === 'boolean') return []
  if (typeof value === 'string') return value.split('\n').map(line => line.replace(MARKER, ''))
  if (typeof value === 'number') return [String(value)]
  return Object.values(value).flatMap(lessonsIn)
}

const oneLine = (text: string, most: number): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  const shown = [...line].length > most ? `${[...line].slice(0, most - 1).join('')}…` : line
  return escapeUntrusted(shown)
}

/**
 * What was retrieved as criteria, most similar question first, each once, one line each and with markup escaped: whoever
 * shows them may put them beside criteria of its own.
 */
export const lessonCriteria = (
  { items }: Pick<Retrieval, 'items'>,
  options: GuidanceOptions = {},
): LessonCriterion[] => {
  const { most = 8, maxCharacters = 300, lessonsOf = item => lessonsIn(item.takeaways) } = options
  const criteria = new Map<string, LessonCriterion>()
  for (const { item } of items)
    for (const lesson of lessonsOf(item)) {
      const { text, points } = typeof lesson === 'string' ? { text: lesson, points: 1 } : lesson
      const shown = oneLine(text, maxCharacters)
      const key = shown.toLowerCase()
      if (shown !== '' && !criteria.has(key)) criteria.set(key, { text: shown, points })
    }
  return [...criteria.values()].slice(0, Math.max(0, most))
}

/** The same as a numbered text of hints; empty where there are none. */
export const hintLines = (retrieval: Pick<Retrieval, 'items'>, options: GuidanceOptions = {}): string =>
  lessonCriteria(retrieval, options)
    .map(({ text, points }, i) => `${i + 1}. ${points < 0 ? 'Avoid: ' : ''}${text}`)
    .join('\n')
