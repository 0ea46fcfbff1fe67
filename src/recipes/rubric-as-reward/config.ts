/** @file Configuration of the rubric-as-reward recipe; defaults follow the paper where it gives them. */

import { z } from 'zod'
import { LOGIC_CRITERIA } from '../../grade/logic/rubric.ts'
import { logicGraderSchema } from '../../grade/logic/settings.ts'
import { rubricDropoutSchema } from '../../rubric/dropout.ts'
import { LOGIC_STYLES } from '../../tasks/logic/generator.ts'
import { LOGIC_TEST_SETS } from '../../tasks/logic/testsets.ts'
import { advantageSchema, lossSettingSchema, reinforcementShape } from '../../train/config.ts'
import { coldStartPhaseSchema, demonstrationsSchema, problemShape } from '../logic-cold-start/config.ts'
import { hopCount, hopWeights, lengthScheduleSchema } from './lengths.ts'
import { sourcesSchema } from './sources-config.ts'
import { verifierSchema } from './verifier-config.ts'

/**
 * The five conditions of the paper (spec 6.4) and ours:
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
  /** Problems to train on: generated ones, or the rows of a file (ProntoQA, ProofWriter or FOLIO format). */
  file: z.string().nullable().default(null),
  format: z.enum(['prontoqa', 'proofwriter', 'folio']).default('prontoqa'),
  /**
   * Several sources, mixed by their weights, in place of `file` and of the task's own generated problems. Figures are told for
   * each of them as well.
   */
  sources: sourcesSchema.optional(),
  /** With chat prompts: whether premises and conclusion are shown with their formulas, where they have some. Absent: hidden. */
  formulas: z.enum(['hidden', 'shown']).optional(),
  /** A number, weights by number (`{3: 1, 5: 2}`), or a schedule that grows with success or by steps. */
  hops: hops.default(5),
  ...problemShape,
  style: z.enum(LOGIC_STYLES).default('real'),
  labels: z.enum(['two-way', 'three-way']).default('two-way'),
  /** How a problem is shown: the miniature's word-level tokens, or a chat prompt through the model's own template. */
  prompt: z.enum(['miniature', 'chat']).default('miniature'),
})

const evaluationSchema = z.strictObject({
  /** Every so many steps, besides the start and the end; 0: only those. */
  every: z.int().min(0).default(0),
  /** Problems of each generated test set, and samples of each at the training temperature. */
  problems: z.int().positive().default(500),
  samples: z.int().positive().default(2),
  /** Problems of the evaluation before the first step; absent: as many as at the end. */
  problemsAtStart: z.int().positive().optional(),
  /** Problems of the evaluations between start and end. */
  problemsBetween: z.int().positive().default(200),
  greedy: z.boolean().default(true),
  /** Most tokens of an answer; as many as in training when absent. */
  maxTokens: z.int().positive().optional(),
  sets: z.array(z.enum(LOGIC_TEST_SETS)).default(['train-distribution', 'shortcut-free']),
  /** Rows in ProntoQA's format for the sets `real` and `real-shuffled`. */
  realFile: z.string().nullable().default(null),
  /** A test set, before the named ones, of these sources in proportion to their weights: the most of `problems` that they hold. */
  sources: sourcesSchema.optional(),
  /** One more test set for each of these lengths, of the task's style with shuffled sentences; at the start and the end. */
  hops: z.array(hopCount).optional(),
  /** Those of them that are evaluated in between as well, on `problemsBetween` problems each; none when absent. */
  hopsBetween: z.array(hopCount).min(1).optional(),
  /** Problems of each of those; 200 when absent. */
  hopProblems: z.int().positive().optional(),
})

export const rubricAsRewardSchema = z.strictObject({
  recipe: z.literal('rubric-as-reward').default('rubric-as-reward'),
  ...reinforcementShape,
  /** Supervised learning before the reinforcement, in the run's folder `cold-start`; null: start from `model.folder`. */
  coldStart: coldStartPhaseSchema.nullable().default(null),
  task: taskSchema.prefault({}),
  condition: z.enum(CONDITIONS).default('rubric'),
  /** Other weights than the condition's, by criterion; for conditions that are weighted sums. */
  weights: z.partialRecord(z.enum(LOGIC_CRITERIA), z.number().min(0)).nullable().default(null),
  /** `scalar`: one advantage a rollout, as in the paper; `per-step`: each step's tokens also carry that step's verdict. */
  credit: z.enum(['scalar', 'per-step']).default('scalar'),
  /** Weight of the step's own advantage beside the rollout's, with `per-step`. */
  stepWeight: z.number().min(0).default(1),
  /**
   * A negative control: training is rewarded by chance, by another problem's rubric, or by every score turned round. Absent:
   * by the rubric.
   */
  control: z.enum(['random', 'shuffled', 'flipped']).optional(),
  /**
   * C4 and C5 in training: by the paper's stand-ins (also when absent), by a verifier that is trained on labelled outputs of the
   * start, or by proof as in evaluation.
   */
  softCriteria: z.enum(['heuristic', 'learned', 'exact']).optional(),
  /** The learned verifier's labels and training, with `softCriteria: learned`; absent: as the schema has it. */
  verifier: verifierSchema.optional(),
  /** Leave weighed criteria out of the reward by chance, drawn for each problem and step; absent: none. */
  rubricDropout: rubricDropoutSchema.optional(),
  /** How the solver works, and what the stand-ins of C4 and C5 ask for; absent: as the schema has it. */
  grader: logicGraderSchema.optional(),
  /** Restated, repeated and tautological steps are left out of C2's mean (off in the paper). */
  noveltyDiscount: z.boolean().default(false),
  /**
   * `grpo`, or for comparison `rejection`: supervised learning on the rollouts that condition `proof` pays, a round a step; or
   * `supervised`: on gold proofs, `demonstrations`, with no rollouts at all.
   */
  method: z.enum(['grpo', 'rejection', 'supervised']).default('grpo'),
  /** Which of the accepted rollouts of a problem are learnt; absent: all of them, as often as they were written. */
  accepted: z
    .strictObject({
      /** The same response counts once. */
      distinct: z.boolean().default(true),
      /** Most of a problem. */
      atMost: z.int().positive().optional(),
    })
    .optional(),
  /** What `method: supervised` learns: settings of the cold start's demonstrations. */
  demonstrations: demonstrationsSchema.optional(),
  advantage: z
    .strictObject({
      ...advantageSchema.shape,
      /** `rubric_norm`: a criterion that does not vary in a group leaves its weight to the others. */
      redistribute: z.boolean().default(false),
    })
    .prefault({}),
  loss: lossSettingSchema.prefault('gradus:rar5'),
  evaluation: evaluationSchema.prefault({}),
})

export type RubricAsRewardConfig = z.output<typeof rubricAsRewardSchema>

/** Optimiser steps of a run: a baseline takes none, whatever `steps` says. */
export const trainingSteps = ({
  condition,
  steps,
}: Pick<RubricAsRewardConfig, 'condition' | 'steps'>): number => (condition === 'baseline' ? 0 : steps)
