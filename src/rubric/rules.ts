/** @file Scoring rules by name. `veto` and `saturation` go around another rule: `veto(signed)`. */

import { UsageError } from '../util/errors.ts'
import { closest } from '../util/schema.ts'
import type { Rubric, Verdict } from './criterion.ts'
import {
  alike,
  allPoints,
  allWeightsScore,
  drTuluScore,
  meanScore,
  type ScoringRule,
  signedScore,
  treeScore,
  type Worth,
  weightedScore,
} from './linear.ts'
import type { RubricScore } from './score.ts'
import { saturation, veto, type WrapperOptions } from './wrappers.ts'

/** Everything that any rule can be told; each rule takes what it knows. */
export type ScoreByRuleOptions = WrapperOptions

export interface NamedRule {
  /** Formula in a line: p points, c credit (1 for met), g what is good about a criterion (c, or 1 - c for a penalty). */
  formula: string
  /** Whose rule it is. */
  source: string
  /** Other names that it answers to. */
  aliases: readonly string[]
  score: ScoringRule
  /** Present where any part of a rubric has a score in [0, 1] by this rule, so that dimensions can be scored alone. */
  worth?: Worth
  /** A bare number as a verdict is a level 0, 1, 2, not a credit. */
  levels?: true
}

/** The rules. Each is pure and keeps the credit of every criterion in `parts`. */
export const SCORING_RULES = {
  signed: {
    formula: 'sum(p c) / sum of positive p; at most 1, may be negative',
    source: 'HealthBench, RuscaRL Eq. 4',
    aliases: ['healthbench', 'signed-sum'],
    score: signedScore,
  },
  bounded: {
    formula: '(sum(p c) - MIN) / (MAX - MIN), MAX and MIN the sums of positive and negative p; in [0, 1]',
    source: 'RLCER Eq. 8',
    aliases: ['min-max', 'minmax', 'bounded-min-max', 'rlcer'],
    score: allWeightsScore,
    worth: allPoints,
  },
  mean: {
    formula: 'mean of g; points are ignored',
    source: 'RiT Eq. 4',
    aliases: ['plain-mean', 'rit'],
    score: meanScore,
    worth: alike,
  },
  weighted: {
    formula: 'scale x sum(p c); under drop the points that were judged are scaled up to the whole',
    source: 'Rubric as Reward, five criteria',
    aliases: ['weighted-sum', 'rar5'],
    score: weightedScore,
  },
  'all-weights': {
    formula: 'sum(|p| g) / sum|p|: pitfalls count when avoided; in [0, 1]',
    source: 'RaR explicit aggregation',
    aliases: ['all-weight', 'rar'],
    score: allWeightsScore,
    worth: allPoints,
  },
  levels: {
    formula: 'as all-weights, with levels 0, 1, 2 as credits 0, 1/2, 1',
    source: 'RubricEM stage score',
    aliases: ['stage', 'rubricem'],
    score: allWeightsScore,
    worth: allPoints,
    levels: true,
  },
  'dr-tulu': {
    formula: 'sum(p c) / max(sum of positive p, 1), with levels 0, 1, 2 as credits 0, 1/2, 1',
    source: 'DR Tulu',
    aliases: ['drtulu', 'rler'],
    score: drTuluScore,
    levels: true,
  },
  tree: {
    formula: 'a node is the weighted mean of its children, a leaf its g',
    source: 'PaperBench',
    aliases: ['tree-roll-up', 'tree-rollup', 'roll-up', 'rollup', 'paperbench'],
    score: treeScore,
  },
} as const satisfies Record<string, NamedRule>

export type RuleName = keyof typeof SCORING_RULES

/** What goes around a rule, written `veto(signed)`; alone it goes around all-weights. */
export const RULE_WRAPPERS = {
  veto: {
    formula: 'the score, but at most 0 once a criterion marked critical has failed',
    source: 'Rubicon',
    aliases: [],
    wrap: (rule: NamedRule): NamedRule => ({ ...rule, score: veto(rule.score) }),
  },
  saturation: {
    formula: '1 - exp(-c x) of the score x of each category, averaged by worth',
    source: 'Rubicon',
    aliases: ['saturate', 'saturated'],
    wrap: (rule: NamedRule): NamedRule => ({ ...rule, score: saturation(rule.score, rule.worth) }),
  },
} as const

const BARE: RuleName = 'all-weights'

const find = <T extends { aliases: readonly string[] }>(table: Record<string, T>, name: string) =>
  Object.entries(table).find(([key, { aliases }]) => key === name || aliases.includes(name))?.[1]

/**
 * The rule of a name: one of SCORING_RULES, an alias, or `veto(...)` and `saturation(...)` around one, nested at will.
 * @throws UsageError for a name that is none, with the nearest one that is.
 */
export const ruleOf = (name: string): NamedRule => {
  const [, outer, inner] = /^\s*([\w-]+)\s*(?:\(\s*(.*?)\s*\))?\s*$/.exec(name) ?? []
  const wrapper = find(RULE_WRAPPERS, outer ?? '')
  if (wrapper) return wrapper.wrap(ruleOf(inner ?? BARE))
  const rule = inner === undefined ? find<NamedRule>(SCORING_RULES, outer ?? '') : undefined
  if (rule) return rule
  const known = [...Object.keys(SCORING_RULES), ...Object.keys(RULE_WRAPPERS)]
  const near = closest(outer ?? name, known)
  throw new UsageError(
    `rule: expected one of ${known.join(', ')}, or veto(...) or saturation(...) around one, got ${JSON.stringify(name)}`,
    { hint: near === null ? 'gradus score --help lists the rules' : `did you mean ${near}?` },
  )
}

/**
 * Scores verdicts about a rubric by a rule's name.
 * @throws UsageError for a name that is no rule; DataError for verdicts that do not belong to the rubric; NumericError
 * for a credit outside [0, 1].
 */
export const scoreByRule = (
  name: string,
  rubric: Rubric,
  verdicts: readonly Verdict[],
  options: ScoreByRuleOptions = {},
): RubricScore => ruleOf(name).score(rubric, verdicts, options)

/**
 * Stage scores of a staged trajectory (RubricEM, spec 5.2): the criteria of each stage by the rule `levels`; null for a
 * stage without criteria or verdicts.
 */
export const stageScores = (
  rubric: Rubric,
  verdicts: readonly Verdict[],
  options: ScoreByRuleOptions = {},
): Record<1 | 2 | 3 | 4, number | null> => {
  const scoreOf = (stage: 1 | 2 | 3 | 4) => {
    const criteria = rubric.criteria.filter(criterion => criterion.stage === stage)
    const ids = new Set(criteria.map(({ id }) => id))
    const own = verdicts.filter(({ criterionId }) => ids.has(criterionId))
    return SCORING_RULES.levels.score({ criteria }, own, options).score
  }
  return { 1: scoreOf(1), 2: scoreOf(2), 3: scoreOf(3), 4: scoreOf(4) }
}

/** RaR's weights of its four categories (spec 7.3). A pitfall's counts for its avoidance. */
export const RAR_WEIGHTS = { essential: 1, important: 0.7, optional: 0.3, pitfall: 0.9 } as const

/** Parts of DR Tulu's reward, each in [0, 1] (the rubric's may be below 0). */
export interface DrTuluParts {
  rubric: number
  /** Absent where citations are not scored. */
  citation?: number
  format: number
  searchTurns: number
}

/** DR Tulu's whole reward: .5 rubric + .2 citation + .2 format + .1 search turns; .6, .2, .2 without citations (spec 7.1). */
export const drTuluReward = ({ rubric, citation, format, searchTurns }: DrTuluParts): number =>
  citation === undefined
    ? 0.6 * rubric + 0.2 * format + 0.2 * searchTurns
    : 0.5 * rubric + 0.2 * citation + 0.2 * format + 0.1 * searchTurns
