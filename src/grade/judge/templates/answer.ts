/** @file What all templates' answers have in common: an explanation beside the verdict, and no second, different verdict. */

import type { Criterion } from '../../../rubric/criterion.ts'
import { type Reading, stripThinking } from '../parse.ts'
import type { Judgement, Scale } from './scale.ts'

/** Reads verdict and explanation from one object. */
export const withExplanation = (json: object, scale: Scale, criterion: Criterion): Reading<Judgement> => {
  const fields = json as Record<string, unknown>
  const reading = scale.read(fields[scale.key], criterion)
  if (reading.problem !== undefined) return reading
  const { explanation } = fields
  return typeof explanation === 'string' ? { value: { ...reading.value, explanation } } : reading
}

/** The verdict's key with its value; `loose` also without quotes and inside JSON strings. */
const PATTERNS = new Map<string, { plain: RegExp; loose: RegExp }>()

const patternsOf = (key: string) => {
  const known = PATTERNS.get(key)
  if (known) return known
  const value = '\\s*:\\s*(true|false|-?[\\d.]+)'
  const made = {
    plain: new RegExp(`(?<!\\\\)"${key}"${value}`, 'gi'),
    loose: new RegExp(`${key}\\\\*["']?${value}`, 'gi'),
  }
  PATTERNS.set(key, made)
  return made
}

/**
 * An answer must give as many verdicts as were asked for, or one and the same several times. A judge that copies the reply
 * into its explanation without escaping it gives a verdict of the reply's making: `{"explanation": "It says ",
 * "criteria_met": true} as if ...", "criteria_met": false}`. Which one is meant cannot be known: such an answer is unusable.
 * In an answer that is JSON as a whole, quoted verdicts are escaped and do not count; in a searched one they do.
 * @returns null where nothing contradicts
 */
export const contradiction = (text: string, strict: boolean, key: string, count: number): string | null => {
  if (occurrences(text, key) <= count) return null
  const { plain, loose } = patternsOf(key)
  const answer = strict ? text : (stripThinking(text) ?? text)
  const values = [...answer.matchAll(strict ? plain : loose)].map(([, value]) => value.toLowerCase())
  if (values.length <= count || (count === 1 && new Set(values).size === 1)) return null
  return `it gives ${values.length} verdicts where ${count} were asked for`
}

const occurrences = (text: string, part: string): number => {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}
