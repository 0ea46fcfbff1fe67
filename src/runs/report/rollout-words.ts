/** @file What is said of a rollout, in words: for the cards of the report and the page of the dashboard alike. */

import { number, plural } from '../../util/format.ts'
import type { RolloutRow, RolloutVerdict } from '../rows.ts'

/** Marks of the states of steps that have a colour: nothing is told by colour alone. */
export const STATUS_MARKS: Readonly<Record<string, string>> = {
  entailed: '✓',
  consistent: '≈',
  contradicted: '✗',
  unverifiable: '?',
  unparsed: '¶',
}

/** Where it comes from and how it ended: `step 3`, `sample 1`, `212 tokens`, `truncated`. */
export const rolloutFacts = (row: RolloutRow): string[] => {
  const { step, problemId, role, sample, tokens, finishReason, advantage } = row
  return [
    `step ${step}`,
    ...(problemId ? [problemId] : []),
    ...(role !== undefined && role !== 'policy' ? [role] : []),
    ...(sample === undefined ? [] : [`sample ${sample}`]),
    ...(tokens === undefined ? [] : [plural(tokens, 'token')]),
    ...(finishReason === 'length' ? ['truncated'] : []),
    ...(finishReason === 'failed' ? ['its world failed'] : []),
    ...(finishReason === 'turns' ? ['out of turns'] : []),
    ...(advantage === undefined ? [] : [`advantage ${number(advantage)}`]),
  ]
}

/** Of what a rubricator wrote the verdicts say which criteria are valid. */
export const verdictWord = ({ met }: RolloutVerdict, { role }: Pick<RolloutRow, 'role'>): string => {
  if (met === null) return 'no verdict'
  return `${met ? '' : 'not '}${role === 'rubricator' ? 'valid' : 'met'}`
}

const describeProof = ({ valid, proved }: RolloutRow): string | null => {
  if (valid === undefined) return null
  if (proved) return 'proved'
  if (!valid) return 'not proved'
  return proved === undefined ? 'whole proof valid' : 'every step valid, not proved: one leaps'
}

export interface AnswerDescription {
  text: string
  /** Null where nobody said. */
  right: boolean | null
  gold: string | null
  proof: string | null
}

/** The answer beside what was expected; null of a rollout that has none to give. */
export const describeAnswer = (row: RolloutRow): AnswerDescription | null => {
  const { answer, gold, correct } = row
  if (answer === undefined && gold === undefined) return null
  return {
    text: answer === null || answer === undefined || answer === '' ? 'no answer' : answer,
    right: correct ?? (gold === undefined ? null : answer === gold),
    gold: gold ?? null,
    proof: describeProof(row),
  }
}
