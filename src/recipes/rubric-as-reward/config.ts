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
import { knownCriteriaShape } from '../options/options.ts'
import { coldStartSetting, logicPhaseSchema } from '../sft/config.ts'
import { hopCount, hopWeights, lengthScheduleSchema } from './lengths.ts'

const sharedShape = {
  name: z.string().min(1).optional().describe('Name of the source in metrics; absent: its kind.'),
  weight: positive.default(1).describe('Frequency of this source, relative to the weights of the others.'),
}

/** Rows of a file, in the form in which ProntoQA, ProofWriter or FOLIO publish theirs. */
const fileSourceSchema = z.strictObject({
  kind: z.enum(LOGIC_FILE_FORMATS).describe('Rows of a file in this format.'),
  path: z.string().min(1).describe('Path of the file.'),
  ...sharedShape,
  part: orAbsent(
    z.enum(['train', 'test']),
    'Part of the file, so that one file can serve to train and to test: a fifth of its contexts are `test`. Absent: all rows.',
  ),
})

/** Generated problems; what is absent is the task's own setting. */
const generatedSourceSchema = z.strictObject({
  kind: z.literal('generated').describe('Generated problems.'),
  ...sharedShape,
  hops: z.union([hopCount, hopWeights]).optional().describe('Length of a proof in steps.'),
  style: z.enum(LOGIC_STYLES).optional().describe('Style of the generated problems.'),
  labels: orAbsent(
    z.enum(['two-way', 'three-way']),
    'Possible answers, each equally frequent: true and false (`two-way`), or unknown as well (`three-way`).',
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
      'Number of problems that the starting policy answers for labels, `samples` times each: about five thousand answers.',
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
  format: choice(['prontoqa', 'proofwriter', 'folio'], 'prontoqa', 'Format of the rows in `file`.'),
  sources: orAbsent(
    sourcesSchema,
    "Several sources, mixed by their weights, in place of `file` and of the task's own generated problems. Metrics are also reported for each source.",
  ),
  formulas: orAbsent(
    z.enum(['hidden', 'shown']),
    'With chat prompts: whether premises and conclusion are shown with their formulas, if they have any. Absent: hidden.',
  ),
  hops: hops
    .default(5)
    .describe(
      'Length of a proof in steps: a number, weights by number (`{3: 1, 5: 2}`), or a schedule of growing lengths.',
    ),
  ...problemShape,
  style: choice(LOGIC_STYLES, 'real', 'Style of the generated problems.'),
  labels: choice(
    ['two-way', 'three-way'],
    'two-way',
    'Possible answers, each equally frequent: true and false (`two-way`), or unknown as well (`three-way`).',
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
  problems: testProblemCount.default(500).describe('Number of problems in each generated test set.'),
  samples: testSampleCount.default(2).describe('Samples of each problem.'),
  greedy: sampled.greedy.describe('Also evaluate one greedy answer to each problem.'),
  maxTokens: natural.optional().describe('Most tokens of an answer; absent: as many as in training.'),
  sets: z
    .array(z.enum(LOGIC_TEST_SETS))
    .default(['train-distribution', 'shortcut-free'])
    .describe('Names of the test sets.'),
  realFile: orNull(
    z.string(),
    "File in ProntoQA's format for the sets `real` and `real-shuffled`; null: none.",
  ),
  sources: orAbsent(
    sourcesSchema,
    'A further main test set of these sources, in proportion to their weights: at most `problems`, as many as the sources hold.',
  ),
  hops: orAbsent(
    z.array(hopCount),
    "One further test set for each of these proof lengths, in the task's style with shuffled sentences; at the start and the end.",
  ),
  hopsBetween: orAbsent(
    z.array(hopCount).min(1),
    'Lengths of `hops` that are evaluated in between as well, on `problemsBetween` problems each; absent: none.',
  ),
  hopProblems: testProblemCount.optional().describe('Problems in each test set of `hops`; absent: 200.'),
})

export const rubricAsRewardSchema = z.strictObject({
  recipe: recipeSetting('rubric-as-reward'),
  ...reinforcementShape,
  coldStart: coldStartSetting(logicPhaseSchema),
  task: taskSchema.prefault({}).describe('The task to train on.'),
  condition: choice(
    CONDITIONS,
    'rubric',
    "What is rewarded. `baseline`: no training; `outcome`: C1 and C3; `z3`: C1 to C3 with equal weights; `rubric`: C1 to C3 with the rubric's weights; `hybrid`: C1 to C5; `flat_equal` and `flat_same`: plain sums, with equal weights and with those of `rubric`; `rubric_norm`: each criterion normalised first; `proof`: a right answer with a whole proof, or nothing.",
  ),
  weights: orNull(
    z.partialRecord(z.enum(LOGIC_CRITERIA), amount),
    "Weights by criterion in place of the condition's, for conditions that are weighted sums.",
  ),
  credit: choice(
    ['scalar', 'per-step'],
    'scalar',
    'What advantages the tokens of a rollout get: the same one for all (`scalar`, as in the paper), or besides one by the verdict on their own step (`per-step`).',
  ),
  stepWeight: amount
    .default(1)
    .describe("With `per-step`: weight of a step's own advantage beside the rollout's."),
  control: orAbsent(
    z.enum(['random', 'shuffled', 'flipped']),
    "Negative control: rewards are drawn at random (`random`), come from another problem's rubric (`shuffled`), or are inverted (`flipped`). Absent: none.",
  ),
  softCriteria: orAbsent(
    z.enum(['heuristic', 'learned', 'exact']),
    "How C4 and C5 are decided in training: by the paper's proxies (`heuristic`, also when absent), by a verifier trained on labelled answers of the starting policy (`learned`), or by proof as in evaluations (`exact`).",
  ),
  verifier: orAbsent(
    labelledVerifierSchema,
    'Labels and training of the learned verifier, with `softCriteria: learned`; absent: the defaults of these keys.',
  ),
  ...knownCriteriaShape,
  grader: orAbsent(
    logicGraderSchema,
    'Limits of the solver, and the proxies of C4 and C5; absent: the defaults of these keys.',
  ),
  noveltyDiscount: flag(
    false,
    'Leave restated, repeated and tautological steps out of the mean of C2 (off in the paper).',
  ),
  method: choice(
    ['grpo', 'rejection', 'supervised'],
    'grpo',
    'How the policy learns: `grpo`, or for comparison supervised learning, on the rollouts that condition `proof` rewards, one round a step (`rejection`), or on gold proofs without rollouts (`supervised`, see `demonstrations`).',
  ),
  accepted: orAbsent(
    z.strictObject({
      distinct: flag(true, 'Identical responses count once.'),
      atMost: natural.optional().describe('Most rollouts of a problem; absent: no limit.'),
    }),
    'Which accepted rollouts of a problem are learnt from; absent: all, as often as they were sampled.',
  ),
  demonstrations: orAbsent(
    z.strictObject({
      batch: batchSize(32).describe('Demonstrations in a step.'),
      ...demonstrationsShape,
    }),
    "What `method: supervised` learns from: settings of the cold start's task that decide which demonstrations are drawn.",
  ),
  advantage: section('How rewards become advantages.', {
    ...advantageSchema.shape,
    redistribute: flag(
      false,
      'With `rubric_norm`: a criterion that does not vary in a group leaves its weight to the others.',
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
