/** @file Scoring rules by name. `veto` and `saturation` go around another rule: `veto(signed)`. */

import { UsageError } from '../util/errors.ts'
import { closest } from '../util/schema.ts'
import type { Rubric, ScoredVerdict } from './criterion.ts'
import {
  alike,
  allPoints,
  allWeightsScore,
  drTuluScore,
  meanScore,
  type ScoringRule,
  signedScore,
  softMinScore,
  treeScore,
  type Weighting,
  weightedScore,
} from './linear.ts'
import { RULE_TEXTS, type RuleName, type RuleText, WRAPPER_TEXTS, type WrapperName } from './rule-names.ts'
import type { RubricScore } from './score.ts'
import { saturation, veto, type WrapperOptions } from './wrappers.ts'

/** Everything that any rule can be told; each rule takes what it knows. */
export type ScoreByRuleOptions = WrapperOptions

export interface NamedRule {
  score: ScoringRule
  /** Present where any part of a rubric has a score in [0, 1] by this rule, so that dimensions can be scored alone. */
  weighting?: Weighting
  /** A bare number as a verdict is a level 0, 1, 2, not a credit. */
  levels?: true
}

/** The rules. Each is pure and keeps the credit of every criterion in `parts`. */
export const SCORING_RULES: Record<RuleName, NamedRule & RuleText> = {
  signed: { ...RULE_TEXTS.signed, score: signedScore },
  bounded: { ...RULE_TEXTS.bounded, score: allWeightsScore, weighting: allPoints },
  mean: { ...RULE_TEXTS.mean, score: meanScore, weighting: alike },
  weighted: { ...RULE_TEXTS.weighted, score: weightedScore },
  'all-weights': { ...RULE_TEXTS['all-weights'], score: allWeightsScore, weighting: allPoints },
  levels: { ...RULE_TEXTS.levels, score: allWeightsScore, weighting: allPoints, levels: true },
  'dr-tulu': { ...RULE_TEXTS['dr-tulu'], score: drTuluScore, levels: true },
  'soft-min': { ...RULE_TEXTS['soft-min'], score: softMinScore },
  tree: { ...RULE_TEXTS.tree, score: treeScore },
}

const WRAPPERS: Record<WrapperName, (rule: NamedRule) => NamedRule> = {
  veto: rule => ({ ...rule, score: veto(rule.score) }),
  saturation: rule => ({ ...rule, score: saturation(rule.score, rule.weighting) }),
}

const BARE: RuleName = 'all-weights'

/** The key under which a table has a name or one of its aliases. */
const keyOf = <K extends string>(table: Readonly<Record<K, RuleText>>, name: string): K | undefined =>
  (Object.keys(table) as K[]).find(key => key === name || table[key].aliases.includes(name))

/**
 * The rule of a name: one of SCORING_RULES, an alias, or `veto(...)` and `saturation(...)` around one, nested at will.
 * @throws UsageError for a name that is none, with the nearest one that is.
 */
export const ruleOf = (name: string): NamedRule => {
  const [, outer = '', inner] = /^\s*([\w-]+)\s*(?:\(\s*(.*?)\s*\))?\s*$/.exec(name) ?? []
  const wrapper = keyOf(WRAPPER_TEXTS, outer)
  if (wrapper) return WRAPPERS[wrapper](ruleOf(inner ?? BARE))
  const rule = inner === undefined ? keyOf(RULE_TEXTS, outer) : undefined
  if (rule) return SCORING_RULES[rule]
  const known = [...Object.keys(RULE_TEXTS), ...Object.keys(WRAPPER_TEXTS)]
  const near = closest(outer, known)
  throw new UsageError(
    `rule: expected one of ${known.join(', ')}, or veto(...) or saturation(...) around one, got ${JSON.stringify(name)}`,
    { hint: near === null ? 'gradus score --help lists the rules' : `did you mean ${near}?` },
  )
}

/**
 * Scores verdicts about a rubric by a rule's name.
 * @throws UsageError for a name that is no rule; DataError for verdicts that do not belong to the rubric; NumericError
 * for a credit outside [0, 1].
 * @example
 * const rubric = { criteria: [{ id: 'cites', text: 'Names a source.', points: 3 }, { id: 'rude', text: 'Is rude.', points: -1 }] }
 * const verdicts = [{ criterionId: 'cites', met: false }, { criterionId: 'rude', met: false }]
 * scoreByRule('bounded', rubric, verdicts).score // 0.25
 */
export const scoreByRule = (
  name: string,
  rubric: Rubric,
  verdicts: readonly ScoredVerdict[],
  options: ScoreByRuleOptions = {},
): RubricScore => ruleOf(name).score(rubric, verdicts, options)
