/**
 * @file The decision rule and its versions. A rule that changes does not change what was registered under the one before: both are
 * applied, and both statuses are shown. So earlier rules stay here, each as the points in which they differ (see status.ts and
 * claims.ts for what they have in common).
 */

import { ConfigError } from '../../util/errors.ts'

export interface DecisionRule {
  version: number
  /** From when on registrations were judged by it: for those whose record names none. */
  since: string
  /** What it decides otherwise than the one before. */
  changes: readonly string[]
  /** `pairs`: interval and tests over pairs alone; `all`: with the start's own error, expanded for few pairs. */
  evidence: 'pairs' | 'all'
  /** Whether "not reproduced" takes a corrected test of the contrary, or the interval alone. */
  contrary: 'unguarded' | 'corrected'
  /** Whose corrected p decides a comparison: its own, or that of its claim. */
  comparisonP: 'claim' | 'own'
  /** Whether there is a status for claims that cannot show. */
  hasUntestable: boolean
  /** Whether several looks share the level out. */
  countsLooks: boolean
  /** Whether a negative control has to show that it does not gain. */
  controlsMustNotGain: boolean
}

export const DECISION_RULES: readonly DecisionRule[] = [
  {
    version: 1,
    since: '2026-11-21T06:44:06Z',
    changes: [
      'The first one. Detectable effects were those of a normal approximation, before any correction.',
    ],
    evidence: 'pairs',
    contrary: 'unguarded',
    comparisonP: 'claim',
    hasUntestable: false,
    countsLooks: false,
    controlsMustNotGain: false,
  },
  {
    version: 2,
    since: '2026-11-21T12:00:41Z',
    changes: [
      '"Not reproduced" takes a test of the contrary, corrected over all comparisons, and no longer the interval alone.',
      'Each of several comparisons is judged by its own corrected p, no longer by that of the claim.',
      'Detectable effects are those of the exact test, at the level after correction.',
    ],
    evidence: 'pairs',
    contrary: 'corrected',
    comparisonP: 'own',
    hasUntestable: false,
    countsLooks: false,
    controlsMustNotGain: false,
  },
  {
    version: 3,
    since: '2026-11-22T07:00:00Z',
    changes: [
      "Against the start, its own sampling error is part of interval and tests: all pairs of a cold start share the start's one value.",
      'Intervals are expanded for few pairs: over ten, a percentile interval of 95% covers 90%.',
      'Margins are decided by two one-sided tests and the 90% interval that belongs to them.',
      'A claim that cannot show, because what it is compared with is at the end of the scale, is "untestable".',
      'Several looks at an experiment that is enlarged share the level out.',
      'A negative control passes only if it shows that it does not gain; one that gains fails, whatever the other arms do.',
    ],
    evidence: 'all',
    contrary: 'corrected',
    comparisonP: 'own',
    hasUntestable: true,
    countsLooks: true,
    controlsMustNotGain: true,
  },
]

/** The rule that decides now. */
export const RULE = DECISION_RULES[DECISION_RULES.length - 1]

/** How claims and controls are judged. */
export interface DecisionRules {
  /** The rule that decides; the newest unless told. */
  rule?: DecisionRule
  /** The one at registration; the same unless told. */
  registeredRule?: DecisionRule
}

/** @throws ConfigError for a version that this Gradus does not know */
export const decisionRuleOf = (version: number, place: string): DecisionRule => {
  const rule = DECISION_RULES.find(each => each.version === version)
  if (rule) return rule
  throw new ConfigError(
    `${place}: expected a decision rule from 1 to ${RULE.version}, got ${version}: it was registered with a newer Gradus`,
    { hint: 'go on with that one' },
  )
}

/** The rule that was at work at a time, for registrations from before records named it. @param time ISO */
export const ruleAt = (time: string): DecisionRule =>
  DECISION_RULES.findLast(({ since }) => Date.parse(since) <= Date.parse(time)) ?? DECISION_RULES[0]
