/** @file What a linter reports: a rule, how bad, which criteria, and what to do. */

import type { Criterion } from './criterion.ts'

/** `error`: scores will be wrong; `warning`: the rubric would be better without it; `info`: worth knowing, may be meant. */
export type Severity = 'error' | 'warning' | 'info'

export interface Finding {
  rule: string
  severity: Severity
  /** Empty where the finding is about the rubric as a whole. */
  criterionIds: string[]
  /** Names the criterion and says what is wrong with it. */
  message: string
  /** What to do about it. */
  fix: string
}

const QUOTE_LENGTH = 60

const withSign = (points: number): string => (points > 0 ? `+${points}` : `${points}`)

/** A criterion in a message: id, the beginning of its text, points. */
export const nameOf = ({ id, text, points }: Criterion): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  const quote = line.length > QUOTE_LENGTH ? `${line.slice(0, QUOTE_LENGTH - 3).trimEnd()}...` : line
  return `${id} "${quote}" (${withSign(points)})`
}

export const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info']

/** How many findings there are of each severity. */
export const countBySeverity = (findings: readonly Finding[]): Record<Severity, number> => ({
  error: findings.filter(({ severity }) => severity === 'error').length,
  warning: findings.filter(({ severity }) => severity === 'warning').length,
  info: findings.filter(({ severity }) => severity === 'info').length,
})
