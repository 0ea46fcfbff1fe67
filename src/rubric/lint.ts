/** @file The rubric linter: everything that can be found wrong with a rubric before it has judged anything. */

import type { Rubric } from './criterion.ts'
import { lintAbout } from './lint-about.ts'
import { type Finding, SEVERITIES } from './lint-finding.ts'
import { lintPairs, type PairOptions } from './lint-pairs.ts'
import { lintPoints, type PointOptions } from './lint-points.ts'
import { lintWording } from './lint-wording.ts'

export interface LintOptions extends PairOptions, PointOptions {
  /** Rules not to report. */
  off?: readonly string[]
  /** Every rubric is one of thinking, also those that do not say so. */
  thinking?: boolean
}

/**
 * Static findings about a rubric, errors first, then in the order of the rules. Wording rules know English only, so that
 * they say nothing about other languages rather than something wrong.
 * @example
 * const criteria = [{ id: 'a', text: 'Names a source.', points: 1 }, { id: 'b', text: 'Names a source.', points: 1 }]
 * lintRubric({ criteria }).some(({ rule }) => rule === 'duplicate') // true
 */
export const lintRubric = (rubric: Rubric, options: LintOptions = {}): Finding[] => {
  const judged = rubric.criteria.filter(({ verifier }) => verifier === undefined)
  const findings = [
    ...lintPoints(rubric, options),
    ...lintPairs(rubric.criteria, options),
    ...lintWording(judged),
    ...(options.thinking || rubric.about === 'thinking' ? lintAbout(rubric.criteria) : []),
  ]
  return sortFindings(findings.filter(({ rule }) => !options.off?.includes(rule)))
}

/** Errors first, otherwise as they came. */
export const sortFindings = (findings: readonly Finding[]): Finding[] =>
  SEVERITIES.flatMap(severity => findings.filter(finding => finding.severity === severity))
