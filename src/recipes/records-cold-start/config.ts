/** @file Configuration of the records-cold-start recipe. */

import { z } from 'zod'
import {
  batchSize,
  commonShape,
  madeProblemCount,
  modelShapeSchema,
  supervisedOptimizerSchema,
  supervisedSteps,
} from '../../train/config.ts'
import type { MonitorSettings } from '../../train/monitors/config.ts'

const share = z.number().min(0).max(1)
const size = z.int().positive()

/** Fewest and most look-ups that a question needs. */
export const hopsSchema = z
  .strictObject({
    min: size.max(6).default(2).describe('Least number.'),
    max: size.max(6).default(4).describe('Greatest number.'),
  })
  .refine(({ min, max }) => min <= max, 'min at most max')

const STEPS = 3000

export const recordsColdStartSchema = z.strictObject({
  recipe: z
    .literal('records-cold-start')
    .default('records-cold-start')
    .describe('Name of the recipe; only files need it.'),
  ...commonShape,
  steps: commonShape.steps.unwrap().default(STEPS).describe('Number of training steps.'),
  hops: hopsSchema.prefault({}).describe('Look-ups that a question takes.'),
  model: z
    .strictObject({
      shape: modelShapeSchema
        .prefault({
          hiddenSize: 128,
          layers: 2,
          maxPositions: 320,
          initializerRange: 0.1,
        })
        .describe('Shape of a model with fresh weights.'),
    })
    .prefault({})
    .describe('The model to start from.'),
  batch: batchSize(64).describe('Demonstrations a step, of both roles.'),
  reflectors: share.default(0.3).describe('Share of them that a reflector writes.'),
  referred: share.default(0.5).describe("Share of an agent's that have references."),
  heeds: share.default(0.7).describe('Chance that advice in a reference is followed.'),
  tries: size
    .default(3)
    .describe(
      'How often the scripted agent may try again when its answer is wrong: 1 keeps whatever it wrote.',
    ),
  calls: size.max(12).default(8).describe('Look-ups that an agent may make.'),
  scaffold: z
    .boolean()
    .default(true)
    .describe('False: neither plan nor review, and idle thinking as long as they would be.'),
  optimizer: supervisedOptimizerSchema({ peak: 3e-3, kind: 'cosine', warmup: 50, floor: 0.05 }).describe(
    'AdamW and its learning rate.',
  ),
  evaluation: z
    .strictObject({
      every: z.int().min(0).default(0).describe('Every so many steps, besides the end; 0: only there.'),
      problems: madeProblemCount.default(500).describe('Test questions.'),
    })
    .prefault({})
    .describe('When and how the model is tested.'),
})

export type RecordsColdStartConfig = z.output<typeof recordsColdStartSchema>

/** The same as a phase of another recipe. */
export const recordsPhaseSchema = recordsColdStartSchema
  .omit({
    recipe: true,
    out: true,
    monitors: true,
    trackers: true,
  })
  .extend({
    steps: supervisedSteps(STEPS).describe('Number of training steps.'),
  })
/** The monitors of a phase are those of the recipe that it belongs to. */
export type RecordsPhase = z.output<typeof recordsPhaseSchema> & { monitors?: MonitorSettings | null }
