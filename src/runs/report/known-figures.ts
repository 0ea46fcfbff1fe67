/** @file Figures of metrics.jsonl whose meaning is known: what a report calls them. */

import type { ChartUnit } from './chart-spec.ts'

export interface Known {
  key: string
  title: string
  unit: ChartUnit
  about?: string
  /** A setting, not a measurement: nothing to smooth. */
  exact?: boolean
}

/** How the policy is, whatever the recipe. */
export const HEALTH: Known[] = [
  { key: 'entropy', title: 'Entropy', unit: 'number', about: 'nats a token' },
  { key: 'kl', title: 'KL to the reference', unit: 'number', about: 'nats a token' },
  { key: 'responseTokens', title: 'Response length', unit: 'number', about: 'tokens' },
  { key: 'reasoningSteps', title: 'Reasoning steps', unit: 'number', about: 'a response' },
  { key: 'gradNorm', title: 'Gradient norm', unit: 'number', about: 'before clipping' },
  { key: 'clipFraction', title: 'Clip fraction', unit: 'rate', about: 'of tokens' },
  { key: 'truncationRate', title: 'Truncated', unit: 'rate', about: 'of responses' },
  {
    key: 'zeroVarianceGroups',
    title: 'Zero-variance groups',
    unit: 'share',
    about: 'of groups',
  },
  { key: 'repetition', title: 'Repeated sequences', unit: 'rate', about: 'four tokens said before' },
  {
    key: 'lengthAdvantage',
    title: 'What length is paid',
    unit: 'number',
    about: 'correlation with advantage',
  },
  { key: 'loss', title: 'Loss', unit: 'number' },
  { key: 'learningRate', title: 'Learning rate', unit: 'number', exact: true },
]

/** Figures of single recipes, in words; they stand among the other metrics. */
export const FIGURES: Known[] = [
  { key: 'outcome', title: 'Reward of the answer', unit: 'number', about: 'of reasoners' },
  { key: 'cot', title: 'Reward of the thinking', unit: 'number', about: 'of reasoners' },
  {
    key: 'cotWherePaid',
    title: 'Thinking, where it is paid',
    unit: 'number',
    about: 'reward where a criterion pays',
  },
  { key: 'constantZ', title: 'Questions that tell nothing', unit: 'share', about: 'all right, or none' },
  { key: 'rubricatorReward', title: 'Reward of rubricators', unit: 'number' },
  { key: 'evolving', title: 'Reward for valid criteria', unit: 'number', about: 'of rubricators' },
  { key: 'formatRate', title: 'Well-formed rubrics', unit: 'share' },
  { key: 'criteriaPerRubric', title: 'Criteria a rubric', unit: 'number' },
  { key: 'payingCriteria', title: 'Criteria that pay', unit: 'number', about: 'a question' },
  { key: 'validRate', title: 'Valid criteria', unit: 'share' },
  { key: 'nullValidRate', title: 'Valid by chance', unit: 'share', about: 'answers shuffled' },
  { key: 'nullCorrelation', title: 'Correlation by chance', unit: 'number', about: 'answers shuffled' },
  {
    key: 'validMinusNullInformative',
    title: 'Valid above chance, where possible',
    unit: 'number',
    about: 'answers neither all right nor all wrong',
  },
  { key: 'validBySign', title: 'Valid by sign', unit: 'share' },
  { key: 'saturation', title: 'Saturated criteria', unit: 'share', about: 'one verdict on all responses' },
  { key: 'alwaysMet', title: 'Criteria that are always met', unit: 'share' },
  { key: 'penaltyShare', title: 'Penalties', unit: 'share', about: 'of criteria' },
  { key: 'proxyShare', title: 'The outcome under another name', unit: 'rate', about: 'of criteria' },
  { key: 'validRateWithoutProxies', title: 'Valid criteria, those left out', unit: 'share' },
  { key: 'judgeNullRatePositive', title: 'Missing verdicts on merits', unit: 'rate' },
  { key: 'judgeNullRateNegative', title: 'Missing verdicts on flaws', unit: 'rate' },
  { key: 'judgeNullRate', title: 'Missing verdicts', unit: 'rate' },
  { key: 'verifierAgreement', title: 'Verifier agrees with execution', unit: 'share' },
  { key: 'verifierFalseAccepts', title: 'False accepts of the verifier', unit: 'share' },
  { key: 'verifierFalseRejects', title: 'False rejects of the verifier', unit: 'share' },
  { key: 'roleTokens', title: 'Tokens by role', unit: 'number', about: 'a response' },
  { key: 'thinking', title: 'Reward of the thinking', unit: 'number' },
  { key: 'response', title: 'Reward of the response', unit: 'number' },
  { key: 'fused', title: 'Both fused', unit: 'number', about: 'before the gate' },
  { key: 'alpha', title: 'Weight of the thinking', unit: 'number', about: 'alpha' },
  { key: 'gateBites', title: 'Changed by the gate', unit: 'share', about: 'of rollouts' },
  { key: 'noRubric', title: 'Without a thinking rubric', unit: 'number', about: 'rollouts' },
  { key: 'unjudged', title: 'Without a reward', unit: 'rate', about: 'of rollouts' },
  { key: 'thinkingWords', title: 'Length of thinking', unit: 'number', about: 'words' },
  { key: 'answerWords', title: 'Length of answers', unit: 'number', about: 'words' },
]
