/** @file Metrics of metrics.jsonl whose meaning is known: what a report calls them. */

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

/** Key, title, unit, what it is of, and whether it is a setting. */
type Row = readonly [key: string, title: string, unit: ChartUnit, about?: string, exact?: true]

const knownOf = ([key, title, unit, about, exact]: Row): Known => ({ key, title, unit, about, exact })

/** How the policy is, whatever the recipe. */
const HEALTH_ROWS: readonly Row[] = [
  ['entropy', 'Entropy', 'number', 'nats a token'],
  ['kl', 'KL to the reference', 'number', 'nats a token'],
  ['responseTokens', 'Response length', 'number', 'tokens'],
  ['reasoningSteps', 'Reasoning steps', 'number', 'a response'],
  ['gradNorm', 'Gradient norm', 'number', 'before clipping'],
  ['clipFraction', 'Clip fraction', 'rate', 'of tokens'],
  ['truncationRate', 'Truncated', 'rate', 'of responses'],
  ['zeroVarianceGroups', 'Zero-variance groups', 'share', 'of groups'],
  ['repetition', 'Repeated sequences', 'rate', 'four tokens said before'],
  ['lengthAdvantage', 'What length is paid', 'number', 'correlation with advantage'],
  ['loss', 'Loss', 'number'],
  ['learningRate', 'Learning rate', 'number', undefined, true],
]

export const HEALTH: readonly Known[] = HEALTH_ROWS.map(knownOf)

/** Metrics that belong together have a section, in this order; what of them a run lacks is left out. */
const FAMILY_ROWS: readonly { title: string; about: string; rows: readonly Row[] }[] = [
  {
    title: 'Stages',
    about: 'Rewards of the stages of an attempt, and how dependably they were scored.',
    rows: [
      ['stageScores', 'Scores of stages', 'share', 'of the judge'],
      ['skippedStages', 'Stages left out', 'share', 'of attempts'],
      ['rubricsActive', 'Rubrics in use', 'number', 'a question'],
      ['alwaysMet', 'Criteria that are always met', 'share'],
      ['rubricChanges', 'Rubrics added and dropped', 'number', 'in a step'],
      ['rubricVariance', 'Discrimination of rubrics', 'number', 'variance'],
      ['failedScorings', 'Attempts whose scoring failed', 'rate'],
      ['failedGenerations', 'Questions without proposals', 'rate', 'the judge failed'],
      ['failedScoringRollouts', 'Credited by the answer alone', 'number', 'attempts'],
    ],
  },
  {
    title: 'Sources',
    about: 'Rollouts of training by where their problems come from.',
    rows: [
      ['accuracyBySource', 'Answers right', 'share', 'by source'],
      ['provedBySource', 'Correct and proved', 'share', 'by source'],
      ['rewardBySource', 'Reward', 'number', 'by source'],
      ['shareBySource', 'Share of the rollouts', 'share', 'by source', true],
      ...['C1', 'C2', 'C3', 'C4', 'C5'].map(
        (id): Row => [`${id}BySource`, `Criterion ${id}`, 'share', 'by source'],
      ),
      ['accuracyBySourceAndLabel', 'Answers right', 'share', 'by source and gold label'],
    ],
  },
  {
    title: 'Memory',
    about: 'How large the bank of lessons is, and what attempts were shown of it.',
    rows: [
      ['bankSize', 'Lessons in the bank', 'number', undefined, true],
      ['retrieved', 'Lessons shown', 'number', 'a question: its own, or those of similar ones'],
      ['referred', 'Questions with lessons', 'share'],
      ['similarity', 'Similarity of what was found', 'number', 'cosine'],
      ['fallbacks', 'Nothing of their own', 'number', 'repeated questions'],
    ],
  },
  {
    title: 'Reflections',
    about: 'What the policy says of its own attempts, and what of that is kept.',
    rows: [
      ['reflectionReward', 'Reward of reflections', 'number'],
      ['reflectionScores', 'What reflections are worth', 'share', 'of the judge'],
      ['reflectionValid', 'Reflections in the format', 'share'],
      ['reflectionsAccepted', 'Questions with an accepted one', 'share'],
      ['acceptedUtility', 'Utility of what is kept', 'number'],
      ['reflectionUnjudged', 'Reflections without a verdict', 'number'],
    ],
  },
  {
    title: 'Phases of an update',
    about: 'What a step learns one after the other, and whether it pulls in one direction.',
    rows: [
      ['gradientCosines', 'Angle between gradients', 'number', 'cosine'],
      ['phaseLoss', 'Loss by phase', 'number'],
      ['phaseEntropy', 'Entropy by phase', 'number'],
    ],
  },
]

export const METRIC_FAMILIES = FAMILY_ROWS.map(({ rows, ...family }) => ({
  ...family,
  keys: rows.map(([key]) => key),
}))

/** Other metrics of single recipes, in words. */
const METRICS: readonly Row[] = [
  ['reward', 'Reward', 'number', 'mean of the step’s rollouts'],
  ['rewardStd', 'Spread of the reward', 'number', 'standard deviation'],
  ['rewardPlain', 'Reward without scaffold', 'number'],
  ['rewardFullScaffold', 'Reward with the whole scaffold', 'number'],
  ['scaffoldTokens', 'Scaffold', 'number', 'tokens a prompt'],
  ['teacherKl', 'KL to the teacher', 'number', 'nats a token'],
  ['teacherChanges', 'Tokens that the teacher changes', 'share', 'twice as likely, or half'],
  ['teacherTokens', 'Read by the teacher', 'number', 'tokens a step'],
  ['leakRate', 'Speaks of the scaffold', 'rate', 'of responses'],
  ['heldOut', 'Held-out grader', 'number', 'on the same rollouts, unseen by training'],
  ['unscored', 'Without a score', 'rate', 'of rollouts'],
  ['tokens', 'New tokens', 'number', 'a step'],
  ['rollouts', 'Rollouts', 'number', 'a step'],
  ['logprobGapMean', 'Sampler against trainer, mean', 'number', 'log-prob gap'],
  ['logprobGapMax', 'Sampler against trainer, largest', 'number', 'log-prob gap'],
  ['outcome', 'Reward of the answer', 'number', 'of reasoners'],
  ['cot', 'Reward of the thinking', 'number', 'of reasoners'],
  ['cotWherePaid', 'Thinking, where it is paid', 'number', 'reward where a criterion pays'],
  ['constantZ', 'Questions that tell nothing', 'share', 'all right, or none'],
  ['rubricatorReward', 'Reward of rubricators', 'number'],
  ['evolving', 'Reward for valid criteria', 'number', 'of rubricators'],
  ['formatRate', 'Well-formed rubrics', 'share'],
  ['criteriaPerRubric', 'Criteria a rubric', 'number'],
  ['repeatRate', 'Rubrics with a repeat', 'share'],
  ['payingCriteria', 'Criteria that pay', 'number', 'a question'],
  ['validRate', 'Valid criteria', 'share'],
  ['nullValidRate', 'Valid by chance', 'share', 'answers shuffled'],
  ['nullCorrelation', 'Correlation by chance', 'number', 'answers shuffled'],
  [
    'validMinusNullInformative',
    'Valid above chance, where possible',
    'number',
    'answers neither all right nor all wrong',
  ],
  ['validBySign', 'Valid by sign', 'share'],
  ['saturation', 'Saturated criteria', 'share', 'one verdict on all responses'],
  ['validByExecution', 'Valid by execution too', 'share', 'of valid criteria'],
  ['anchorsKeptOut', 'Kept out by the anchors', 'share', 'of criteria that were tried'],
  ['anchorAgreement', 'Agreement with the anchors', 'share'],
  ['penaltyShare', 'Penalties', 'share', 'of criteria'],
  ['proxyShare', 'The outcome under another name', 'rate', 'of criteria'],
  ['validRateWithoutProxies', 'Valid criteria, those left out', 'share'],
  ['discrimination', 'Discrimination of criteria', 'share', 'of groups, by criterion'],
  ['judgeNullRatePositive', 'Missing verdicts on merits', 'rate'],
  ['judgeNullRateNegative', 'Missing verdicts on flaws', 'rate'],
  ['judgeNullRate', 'Missing verdicts', 'rate'],
  ['verifierAgreement', 'Verifier agrees with execution', 'share'],
  ['verifierFalseAccepts', 'False accepts of the verifier', 'share'],
  ['verifierFalseRejects', 'False rejects of the verifier', 'share'],
  ['roleTokens', 'Tokens by role', 'number', 'a response'],
  ['thinking', 'Reward of the thinking', 'number'],
  ['response', 'Reward of the response', 'number'],
  ['fused', 'Both fused', 'number', 'before the gate'],
  ['alpha', 'Weight of the thinking', 'number', 'alpha'],
  ['gateBites', 'Changed by the gate', 'share', 'of rollouts'],
  ['noRubric', 'Without a thinking rubric', 'number', 'rollouts'],
  ['unjudged', 'Without a reward', 'rate', 'of rollouts'],
  ['thinkingWords', 'Length of thinking', 'number', 'words'],
  ['references', 'Lessons a question', 'number'],
  ['repeats', 'Repeated batches', 'share', undefined, true],
  ['oldKl', 'From sampler to learner', 'number', 'nats a token'],
  ['ratioMax', 'Largest ratio', 'number', 'before the update'],
  ['ratioMin', 'Smallest ratio', 'number', 'before the update'],
  ['turns', 'Turns of a rollout', 'number'],
  ['failedRollouts', 'Rollouts whose world failed', 'number'],
  ['answerWords', 'Length of answers', 'number', 'words'],
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

const KNOWN = new Map(
  [HEALTH_ROWS, METRICS, ...FAMILY_ROWS.map(({ rows }) => rows)].flat().map(row => [row[0], knownOf(row)]),
)

/** What is known of a metric of metrics.jsonl by its name. */
export const knownMetric = (key: string): Known | undefined => KNOWN.get(key)

/** A metric of metrics.jsonl as it is called; one that is not known by its name, as words. */
export const metricOf = (key: string): Known =>
  knownMetric(key) ?? { key, title: titleOfKey(key), unit: 'number' }
