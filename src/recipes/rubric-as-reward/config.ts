/** @file Configuration of the rubric-as-reward recipe; defaults follow the paper where it gives them. */

import { z } from 'zod'
import { LOGIC_CRITERIA } from '../../grade/logic/rubric.ts'
import { logicGraderSchema } from '../../grade/logic/settings.ts'
import { LOGIC_STYLES } from '../../tasks/logic/generator.ts'
import { LOGIC_FILE_FORMATS } from '../../tasks/logic/loaders.ts'
import { demonstrationsShape, problemShape } from '../../tasks/logic/start-settings.ts'
import { LOGIC_TEST_SETS } from '../../tasks/logic/testsets.ts'
import {
  advantageSchema,
  batchSize,
  choice,
  flag,
  lossSetting,
  madeProblemCount,
  orAbsent,
  orNull,
  recipeSetting,
  reinforcementShape,
  section,
  testProblemCount,
  testSampleCount,
} from '../../train/config.ts'
import { ConfigError } from '../../util/errors.ts'
import { amount, natural, positive } from '../../util/setting-shapes.ts'
import { sampledEvaluationShape } from '../common/evaluation-config.ts'
import { verifierPhaseSchema } from '../learned-verifier/config.ts'
import { criteriaOptionsShape } from '../options/options.ts'
import { coldStartSetting, logicPhaseSchema } from '../sft/config.ts'
import { hopCount, hopWeights, lengthScheduleSchema } from './lengths.ts'

const sharedShape = {
  name: z.string().min(1).optional().describe('Its name in metrics; its kind when absent.'),
  weight: positive.default(1).describe('Problems of this source, relative to the weights of the others.'),
}

/** Rows of a file, in the form in which ProntoQA, ProofWriter or FOLIO publish theirs. */
const fileSourceSchema = z.strictObject({
  kind: z.enum(LOGIC_FILE_FORMATS).describe('Form of the rows.'),
  path: z.string().min(1).describe('The file.'),
  ...sharedShape,
  part: orAbsent(
    z.enum(['train', 'test']),
    'Of one file, to train on and to test on: a fifth of its contexts are `test`. Absent: all rows.',
  ),
})

/** Generated problems; what is absent is the task's own setting. */
const generatedSourceSchema = z.strictObject({
  kind: z.literal('generated').describe('Problems that the generator makes, without a file.'),
  ...sharedShape,
  hops: z.union([hopCount, hopWeights]).optional().describe('Length of a proof in steps.'),
  style: z.enum(LOGIC_STYLES).optional().describe('Style of the generated problems.'),
  labels: orAbsent(
    z.enum(['two-way', 'three-way']),
    'Which answers there are: true and false, or unknown as well; each as often.',
  ),
  ...problemShape,
})

export const sourcesSchema = z
  .array(z.discriminatedUnion('kind', [fileSourceSchema, generatedSourceSchema]))
  .min(1)

export type FileSource = z.output<typeof fileSourceSchema>
type GeneratedSource = z.output<typeof generatedSourceSchema>
export type SourceSettings = FileSource | GeneratedSource

/** A source's name in metrics. */
export const sourceName = ({ name, kind }: SourceSettings): string => name ?? kind

/** Refuses two sources of one name, whose metrics could not be separated. @param key setting that lists them @throws ConfigError */
export const checkSourceNames = (sources: readonly SourceSettings[], key: string): void => {
  const names = sources.map(sourceName)
  const second = names.findIndex((name, i) => names.indexOf(name) < i)
  if (second >= 0)
    throw new ConfigError(
      `${key}[${second}].name: expected a name of its own, got "${names[second]}", which source ${names.indexOf(names[second])} has`,
      { hint: 'give each of them another name' },
    )
}

export const labelledVerifierSchema = verifierPhaseSchema.extend({
  problems: madeProblemCount
    .default(1280)
    .describe(
      'Problems that the start writes about to be labelled, and how often: about five thousand outputs.',
    ),
  samples: testSampleCount.default(4).describe('Samples of each problem.'),
})

export type VerifierSettings = z.output<typeof labelledVerifierSchema>

/**
 * The five conditions of the paper and ours:
 * - `baseline`: no training
 * - `outcome`: C1 and C3
 * - `z3`: C1, C2, C3 as one monolithic sum (equal weights unless `weights` says otherwise)
 * - `rubric`: C1, C2, C3 with the rubric's weights, renormalised
 * - `hybrid`: all five, C4 and C5 by the training heuristics
 * - `flat_equal`, `flat_same`: plain sums with equal weights, and with the weights of `rubric`
 * - `rubric_norm`: each criterion normalised in its group before mixing (GDPO, arXiv 2601.05242)
 * - `proof`: all or nothing: the answer is right, the last step settles the question, and every step is a premise or follows
 *   from the steps before it. Entailment alone would pay a bare guess of the conclusion half of the time.
 */
export const CONDITIONS = [
  'baseline',
  'outcome',
  'z3',
  'rubric',
  'hybrid',
  'flat_equal',
  'flat_same',
  'rubric_norm',
  'proof',
] as const
export type Condition = (typeof CONDITIONS)[number]

const hops = z.union([hopCount, hopWeights, lengthScheduleSchema])

const taskSchema = z.strictObject({
  file: orNull(
    z.string(),
    'Rows to train on, in the format of ProntoQA, ProofWriter or FOLIO; null: generated problems.',
  ),
  format: choice(['prontoqa', 'proofwriter', 'folio'], 'prontoqa', 'Format of the rows.'),
  sources: orAbsent(
    sourcesSchema,
    "Several sources, mixed by their weights, in place of `file` and of the task's own generated problems. Metrics are reported for each of them as well.",
  ),
  formulas: orAbsent(
    z.enum(['hidden', 'shown']),
    'With chat prompts: whether premises and conclusion are shown with their formulas, where they have some. Absent: hidden.',
  ),
  hops: hops
    .default(5)
    .describe(
      'A number, weights by number (`{3: 1, 5: 2}`), or a schedule that grows with success or by steps.',
    ),
  ...problemShape,
  style: choice(LOGIC_STYLES, 'real', 'Style of the generated problems.'),
  labels: choice(
    ['two-way', 'three-way'],
    'two-way',
    'Which answers there are: true and false, or unknown as well; each as often.',
  ),
  prompt: choice(
    ['miniature', 'chat'],
    'miniature',
    "How a problem is shown: the miniature's word-level tokens, or a chat prompt through the model's own template.",
  ),
})

const { topK: _topK, topP: _topP, temperature: _temperature, ...sampled } = sampledEvaluationShape

const evaluationSchema = z.strictObject({
  ...sampled,
  problems: testProblemCount
    .default(500)
    .describe('Problems of each generated test set, and samples of each at the training temperature.'),
  samples: testSampleCount.default(2).describe('Samples of each problem.'),
  greedy: sampled.greedy.describe('Also test greedily, with the likeliest tokens.'),
  maxTokens: natural.optional().describe('Most tokens of an answer; as many as in training when absent.'),
  sets: z
    .array(z.enum(LOGIC_TEST_SETS))
    .default(['train-distribution', 'shortcut-free'])
    .describe('Test sets.'),
  realFile: orNull(z.string(), "Rows in ProntoQA's format for the sets `real` and `real-shuffled`."),
  sources: orAbsent(
    sourcesSchema,
    'A test set, before the named ones, of these sources in proportion to their weights: the most of `problems` that they hold.',
  ),
  hops: orAbsent(
    z.array(hopCount),
    "One more test set for each of these lengths, of the task's style with shuffled sentences; at the start and the end.",
  ),
  hopsBetween: orAbsent(
    z.array(hopCount).min(1),
    'Those of them that are evaluated in between as well, on `problemsBetween` problems each; none when absent.',
  ),
  hopProblems: testProblemCount.optional().describe('Problems of each of those; 200 when absent.'),
})

export const rubricAsRewardSchema = z.strictObject({
  recipe: recipeSetting('rubric-as-reward'),
  ...reinforcementShape,
  coldStart: coldStartSetting(logicPhaseSchema),
  task: taskSchema.prefault({}).describe('What is trained on.'),
  condition: choice(CONDITIONS, 'rubric', 'Which criteria are rewarded, with which weights.'),
  weights: orNull(
    z.partialRecord(z.enum(LOGIC_CRITERIA), amount),
    "Other weights than the condition's, by criterion; for conditions that are weighted sums.",
  ),
  credit: choice(
    ['scalar', 'per-step'],
    'scalar',
    "`scalar`: one advantage a rollout, as in the paper; `per-step`: each step's tokens also carry that step's verdict.",
  ),
  stepWeight: amount
    .default(1)
    .describe("Weight of the step's own advantage beside the rollout's, with `per-step`."),
  control: orAbsent(
    z.enum(['random', 'shuffled', 'flipped']),
    "A negative control: training is rewarded at random, by another problem's rubric, or by every score inverted. Absent: by the rubric.",
  ),
  softCriteria: orAbsent(
    z.enum(['heuristic', 'learned', 'exact']),
    "C4 and C5 in training: by the paper's proxies (also when absent), by a verifier that is trained on labelled outputs of the start, or by proof as in evaluation.",
  ),
  verifier: orAbsent(
    labelledVerifierSchema,
    "The learned verifier's labels and training, with `softCriteria: learned`; absent: as the schema has it.",
  ),
  ...criteriaOptionsShape,
  grader: orAbsent(
    logicGraderSchema,
    'How the solver works, and what the proxies of C4 and C5 ask for; absent: as the schema has it.',
  ),
  noveltyDiscount: flag(
    false,
    "Restated, repeated and tautological steps are left out of C2's mean (off in the paper).",
  ),
  method: choice(
    ['grpo', 'rejection', 'supervised'],
    'grpo',
    '`grpo`, or for comparison `rejection`: supervised learning on the rollouts that condition `proof` pays, a round a step; or `supervised`: on gold proofs, `demonstrations`, with no rollouts at all.',
  ),
  accepted: orAbsent(
    z.strictObject({
      distinct: flag(true, 'The same response counts once.'),
      atMost: natural.optional().describe('Most of a problem.'),
    }),
    'Which of the accepted rollouts of a problem are learnt; absent: all of them, as often as they were written.',
  ),
  demonstrations: orAbsent(
    z.strictObject({
      batch: batchSize(32).describe('Demonstrations a step.'),
      ...demonstrationsShape,
    }),
    "What `method: supervised` learns: settings of the cold start's task that decide which demonstrations are drawn.",
  ),
  advantage: section('How rewards become advantages.', {
    ...advantageSchema.shape,
    redistribute: flag(
      false,
      '`rubric_norm`: a criterion that does not vary in a group leaves its weight to the others.',
    ),
  }),
  loss: lossSetting('gradus:rar5'),
  evaluation: evaluationSchema.prefault({}).describe('When and how the model is tested.'),
})

export type RubricAsRewardConfig = z.output<typeof rubricAsRewardSchema>

/** Optimiser steps of a run: a baseline takes none, whatever `steps` says. */
export const trainingSteps = ({
  condition,
  steps,
}: Pick<RubricAsRewardConfig, 'condition' | 'steps'>): number => (condition === 'baseline' ? 0 : steps)
