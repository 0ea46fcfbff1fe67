/** @file Figures of metrics.jsonl whose meaning is known: what a report calls them. */

import { capitalised } from '../../util/format.ts'
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

/** Figures that belong together have a section, in this order; what of them a run lacks is left out. */
export const METRIC_FAMILIES: readonly { title: string; about: string; keys: readonly string[] }[] = [
  {
    title: 'Stages',
    about: 'Rewards of the stages of an attempt, and how dependably they were scored.',
    keys: [
      'stageScores',
      'skippedStages',
      'rubricsActive',
      'rubricChanges',
      'rubricVariance',
      'failedScorings',
      'failedGenerations',
      'failedScoringRollouts',
    ],
  },
  {
    title: 'Sources',
    about: 'Rollouts of training by where their problems come from.',
    keys: [
      'accuracyBySource',
      'provedBySource',
      'rewardBySource',
      'shareBySource',
      ...['C1BySource', 'C2BySource', 'C3BySource', 'C4BySource', 'C5BySource'],
      'accuracyBySourceAndLabel',
    ],
  },
  {
    title: 'Memory',
    about: 'How large the bank of lessons is, and what attempts were shown of it.',
    keys: ['bankSize', 'retrieved', 'referred', 'similarity', 'fallbacks'],
  },
  {
    title: 'Reflections',
    about: 'What the policy says of its own attempts, and what of that is kept.',
    keys: [
      'reflectionReward',
      'reflectionScores',
      'reflectionValid',
      'reflectionsAccepted',
      'acceptedUtility',
      'reflectionUnjudged',
    ],
  },
  {
    title: 'Phases of an update',
    about: 'What a step learns one after the other, and whether it pulls in one direction.',
    keys: ['gradientCosines', 'phaseLoss', 'phaseEntropy'],
  },
]

/** Figures of single recipes, in words; they stand among the other metrics, or in their family. */
const FIGURES: Known[] = [
  { key: 'reward', title: 'Reward', unit: 'number', about: 'mean of the step’s rollouts' },
  { key: 'rewardStd', title: 'Spread of the reward', unit: 'number', about: 'standard deviation' },
  { key: 'rewardPlain', title: 'Reward without scaffold', unit: 'number' },
  { key: 'rewardFullScaffold', title: 'Reward with the whole scaffold', unit: 'number' },
  { key: 'scaffoldTokens', title: 'Scaffold', unit: 'number', about: 'tokens a prompt' },
  { key: 'leakRate', title: 'Speaks of the scaffold', unit: 'rate', about: 'of responses' },
  { key: 'heldOut', title: 'Held-out grader', unit: 'number', about: 'unseen by training' },
  { key: 'unscored', title: 'Without a score', unit: 'rate', about: 'of rollouts' },
  { key: 'tokens', title: 'New tokens', unit: 'number', about: 'a step' },
  { key: 'rollouts', title: 'Rollouts', unit: 'number', about: 'a step' },
  { key: 'logprobGapMean', title: 'Sampler against trainer, mean', unit: 'number', about: 'log-prob gap' },
  { key: 'logprobGapMax', title: 'Sampler against trainer, largest', unit: 'number', about: 'log-prob gap' },
  { key: 'accuracyBySource', title: 'Answers right', unit: 'share', about: 'by source' },
  { key: 'provedBySource', title: 'Correct and proved', unit: 'share', about: 'by source' },
  { key: 'rewardBySource', title: 'Reward', unit: 'number', about: 'by source' },
  { key: 'shareBySource', title: 'Share of the rollouts', unit: 'share', about: 'by source', exact: true },
  ...['C1', 'C2', 'C3', 'C4', 'C5'].map(
    (id): Known => ({ key: `${id}BySource`, title: `Criterion ${id}`, unit: 'share', about: 'by source' }),
  ),
  {
    key: 'accuracyBySourceAndLabel',
    title: 'Answers right',
    unit: 'share',
    about: 'by source and gold label',
  },
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
  { key: 'repeatRate', title: 'Rubrics with a repeat', unit: 'share' },
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
  {
    key: 'discrimination',
    title: 'Discrimination of criteria',
    unit: 'share',
    about: 'of groups, by criterion',
  },
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
  { key: 'stageScores', title: 'Scores of stages', unit: 'share', about: 'of the judge' },
  { key: 'skippedStages', title: 'Stages left out', unit: 'share', about: 'of attempts' },
  { key: 'rubricsActive', title: 'Rubrics in use', unit: 'number', about: 'a question' },
  { key: 'rubricChanges', title: 'Rubrics born and dropped', unit: 'number', about: 'in a step' },
  { key: 'rubricVariance', title: 'Discrimination of rubrics', unit: 'number', about: 'variance' },
  { key: 'failedScorings', title: 'Attempts whose scoring failed', unit: 'rate' },
  { key: 'failedGenerations', title: 'Questions without proposals', unit: 'rate', about: 'the judge failed' },
  { key: 'failedScoringRollouts', title: 'Credited by the answer alone', unit: 'number', about: 'attempts' },
  { key: 'bankSize', title: 'Lessons in the bank', unit: 'number', exact: true },
  {
    key: 'retrieved',
    title: 'Lessons shown',
    unit: 'number',
    about: 'a question: its own, or those of similar ones',
  },
  { key: 'references', title: 'Lessons a question', unit: 'number' },
  { key: 'referred', title: 'Questions with lessons', unit: 'share' },
  { key: 'similarity', title: 'Similarity of what was found', unit: 'number', about: 'cosine' },
  { key: 'fallbacks', title: 'Nothing of their own', unit: 'number', about: 'repeated questions' },
  { key: 'repeats', title: 'Repeated batches', unit: 'share', exact: true },
  { key: 'reflectionReward', title: 'Reward of reflections', unit: 'number' },
  { key: 'reflectionScores', title: 'What reflections are worth', unit: 'share', about: 'of the judge' },
  { key: 'reflectionValid', title: 'Reflections in the format', unit: 'share' },
  { key: 'reflectionsAccepted', title: 'Questions with an accepted one', unit: 'share' },
  { key: 'acceptedUtility', title: 'Utility of what is kept', unit: 'number' },
  { key: 'reflectionUnjudged', title: 'Reflections without a verdict', unit: 'number' },
  { key: 'gradientCosines', title: 'Angle between gradients', unit: 'number', about: 'cosine' },
  { key: 'phaseLoss', title: 'Loss by phase', unit: 'number' },
  { key: 'phaseEntropy', title: 'Entropy by phase', unit: 'number' },
  { key: 'oldKl', title: 'From sampler to learner', unit: 'number', about: 'nats a token' },
  { key: 'ratioMax', title: 'Largest ratio', unit: 'number', about: 'before the update' },
  { key: 'ratioMin', title: 'Smallest ratio', unit: 'number', about: 'before the update' },
  { key: 'turns', title: 'Turns of a rollout', unit: 'number' },
  { key: 'failedRollouts', title: 'Rollouts whose world failed', unit: 'number' },
  { key: 'answerWords', title: 'Length of answers', unit: 'number', about: 'words' },
]

/** A name of metrics.jsonl as words: `thinkingWords` -> `Thinking words`, `judge.gap` -> `Judge gap`. */
export const titleOfKey = (key: string): string =>
  capitalised(
    /\s/.test(key)
      ? key
      : key
          .replaceAll(
            /([a-z\d])([A-Z])/g,
            (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
          )
          .replaceAll(/[._]+/g, ' '),
  )

/** What is known of a figure of metrics.jsonl by its name. */
export const knownMetric = (key: string): Known | undefined =>
  [...HEALTH, ...FIGURES].find(figure => figure.key === key)

/** A figure of metrics.jsonl as it is called; one that is not known by its name, as words. */
export const metricOf = (key: string): Known =>
  knownMetric(key) ?? { key, title: titleOfKey(key), unit: 'number' }
