/** @file The right answer of an item as one text, also where there are several of which any will do. */

import { tryJson } from '../util/json.ts'

/** Where data sets keep right answers in an object: verl's Search-R1 rows (`target`), HotpotQA's (`golden_answers`), others. */
const KEYS = ['target', 'ground_truth', 'golden_answers', 'answers', 'answer']

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/**
 * A text for what a trainer sends as the right answer: texts and numbers as they are, several as a JSON list of texts, an
 * object by its right answers. Undefined for what holds none.
 */
export const referenceText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) {
    const texts = value.map(each => (typeof each === 'object' ? undefined : referenceText(each)))
    if (texts.length === 0 || !texts.every(isText)) return undefined
    return texts.length === 1 ? texts[0] : JSON.stringify(texts)
  }
  if (value === null || typeof value !== 'object') return undefined
  const key = KEYS.find(name => Object.hasOwn(value, name))
  return key === undefined ? undefined : referenceText((value as Record<string, unknown>)[key])
}

/** The right answers that a text stands for (see `referenceText`); null for a JSON object that holds none. */
export const rightAnswers = (reference: string): string[] | null => {
  if (!/^\s*[[{]\s*"/.test(reference)) return [reference]
  const value = tryJson(reference)
  if (Array.isArray(value)) return value.every(isText) ? value : [reference]
  if (value === undefined) return [reference]
  const text = referenceText(value)
  return text === undefined ? null : rightAnswers(text)
}
