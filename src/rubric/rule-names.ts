/** @file Names and formulas of the scoring rules: what help and documents print, without the code that computes them. */

export interface RuleText {
  /** A line: p points, c credit (1 for met), g what is good about a criterion (c, or 1 - c for a penalty). */
  formula: string
  /** Whose rule it is. */
  source: string
  /** Other names that it answers to. */
  aliases: readonly string[]
}

export const RULE_TEXTS = {
  signed: {
    formula: 'sum(p c) / sum of positive p; at most 1, may be negative',
    source: 'HealthBench, RuscaRL Eq. 4',
    aliases: ['healthbench', 'signed-sum', 'ruscarl'],
  },
  bounded: {
    formula: '(sum(p c) - MIN) / (MAX - MIN), MAX and MIN the sums of positive and negative p',
    source: 'RLCER Eq. 6',
    aliases: ['min-max', 'minmax', 'bounded-min-max', 'rlcer'],
  },
  mean: {
    formula: 'mean of g; points are ignored',
    source: 'RiT Eq. 4',
    aliases: ['plain-mean', 'rit'],
  },
  weighted: {
    formula: 'scale x sum(p c); under drop, points that were judged are scaled up to the whole',
    source: 'Rubric as Reward (five criteria)',
    aliases: ['weighted-sum', 'rar5'],
  },
  'all-weights': {
    formula: 'sum(|p| g) / sum|p|: a pitfall counts when it is avoided',
    source: 'RaR',
    aliases: ['all-weight', 'rar'],
  },
  levels: {
    formula: 'as all-weights; levels 0, 1, 2 are credits 0, 1/2, 1',
    source: 'RubricEM stage score',
    aliases: ['level', 'stage', 'rubricem'],
  },
  'dr-tulu': {
    formula: 'sum(p c) / max(sum of positive p, 1); levels 0, 1, 2 are credits 0, 1/2, 1',
    source: 'DR Tulu',
    aliases: ['drtulu', 'rler'],
  },
  'soft-min': {
    formula: '-1/5 log(sum(|p| exp(-5 g)) / sum|p|): the worst criteria decide',
    source: 'log-sum-exp, a smooth minimum',
    aliases: ['softmin', 'soft-minimum'],
  },
  tree: {
    formula: 'a node is the weighted mean of its children, a leaf its g',
    source: 'PaperBench',
    aliases: ['tree-roll-up', 'tree-rollup', 'roll-up', 'rollup', 'paperbench'],
  },
} as const satisfies Record<string, RuleText>

/** What goes around a rule, written `veto(signed)`; alone it goes around all-weights. */
export const WRAPPER_TEXTS = {
  veto: {
    formula: 'the score, but at most 0 once a criterion marked "critical" has failed',
    source: 'Rubicon',
    aliases: [],
  },
  saturation: {
    formula: '1 - exp(-c x) of the score x of each category, averaged by worth',
    source: 'Rubicon',
    aliases: ['saturate', 'saturated'],
  },
} as const satisfies Record<string, RuleText>

export type RuleName = keyof typeof RULE_TEXTS
export type WrapperName = keyof typeof WRAPPER_TEXTS
