/** @file Configuration of the ruscarl recipe; defaults are those of the paper where it gives them, of its code where it does not. */

import { z } from 'zod'
import { advantageSchema, commonShape, lossSettingSchema, rolloutSchema } from '../../train/config.ts'
import { checklistPhaseSchema } from '../checklist-cold-start/config.ts'
import { groupRatioSchema, stepDecaySchema } from './schedule.ts'

const share = z.number().min(0).max(1)

const scaffoldSchema = z.strictObject({
  /** How much each sample of a group is shown. */
  group: groupRatioSchema.prefault({ kind: 'linear' }),
  /** How it falls over the steps. */
  decay: stepDecaySchema.prefault({ kind: 'sigmoid' }),
  /** Say what each criterion is worth (conversations). */
  showPoints: z.boolean().default(true),
  /** Ask the model not to speak of the criteria (conversations). */
  forbidMention: z.boolean().default(true),
  /** System message when nothing is shown; null for none (conversations). */
  whenEmpty: z.string().nullable().default(null),
})

/**
 * Rubrics spoilt on purpose (spec 4.6), for scaffold and reward alike; evaluation keeps the true ones. `shuffled` gives every
 * prompt another one's rubric: a negative control.
 */
export const NOISES = [
  'none',
  'inverse',
  'negated',
  'ambiguous',
  'contradictory',
  'removed',
  'shuffled',
] as const

const evaluationSchema = z.strictObject({
  /** Every so many steps, besides the start and the end; 0: only those. */
  every: z.int().min(0).default(0),
  problems: z.int().positive().default(500),
  samples: z.int().positive().default(1),
  /** Problems of the evaluations between start and end. */
  problemsBetween: z.int().positive().default(200),
  temperature: z.number().positive().default(1),
  /** Also evaluate with the whole rubric in the prompt. */
  scaffolded: z.boolean().default(true),
})

export const ruscarlSchema = z.strictObject({
  recipe: z.literal('ruscarl').default('ruscarl'),
  ...commonShape,
  /** Seed of the world of packing: its usual things and hidden rubrics. */
  world: z.union([z.int(), z.string()]).default('packing'),
  /** Supervised learning before the reinforcement, in the run's folder `cold-start`; null: start from `model.folder`. */
  coldStart: checklistPhaseSchema.nullable().default(null),
  scaffold: scaffoldSchema.prefault({}),
  /** What the ratio of a scaffolded rollout compares (spec 4.3). */
  ratio: z.enum(['plain', 'true-is', 'sampled']).default('plain'),
  noise: z.enum(NOISES).default('none'),
  /** `random`: rewards drawn by chance, a negative control. */
  reward: z.enum(['rubric', 'random']).default('rubric'),
  /** Chance that a verdict is turned round before it is scored: a noisy judge. */
  flipRate: share.default(0),
  advantage: advantageSchema.prefault({}),
  loss: lossSettingSchema.prefault('gradus:ruscarl'),
  rollout: rolloutSchema.prefault({ prompts: 64, samples: 8, maxTokens: 26 }),
  /** Sample ahead while the step before is graded and learnt from (one step off-policy). */
  pipeline: z.boolean().default(false),
  /** Optimiser steps a pass, and passes over the rollouts of a step. */
  minibatches: z.int().positive().default(2),
  epochs: z.int().positive().default(1),
  evaluation: evaluationSchema.prefault({}),
})

export type RuscarlConfig = z.output<typeof ruscarlSchema>
