/** @file Configuration of the arithmetic-cold-start recipe. */

import { z } from 'zod'
import {
  batchSize,
  commonShape,
  madeProblemCount,
  modelShapeSchema,
  supervisedOptimizerSchema,
  supervisedSteps,
  testSampleCount,
} from '../../train/config.ts'
import type { MonitorSettings } from '../../train/monitors/config.ts'
import { labelsSchema, rubricHabitsSchema } from '../reasoning/start-config.ts'

const share = z.number().min(0).max(1)
const size = z.int().positive()
/** In proportion to the others'; a sum of some must be a number. */
const chance = z.number().min(0).max(1e6)

/** Fewest and most operations of a problem. */
export const operationsSchema = z
  .strictObject({
    min: z.int().min(2).max(9).default(4).describe('Least number.'),
    max: z.int().min(2).max(9).default(6).describe('Greatest number.'),
  })
  .refine(({ min, max }) => min <= max, 'min at most max')

const STEPS = 7000

export const arithmeticColdStartSchema = z.strictObject({
  recipe: z
    .literal('arithmetic-cold-start')
    .default('arithmetic-cold-start')
    .describe('Name of the recipe; only files need it.'),
  ...commonShape,
  steps: commonShape.steps.unwrap().default(STEPS).describe('Number of training steps.'),
  start: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Checkpoint to go on from, with `steps: 0` to leave labels alone; null: fresh weights of `model.shape`.',
    ),
  operations: operationsSchema.prefault({}).describe('Operations of a question.'),
  model: z
    .strictObject({
      shape: modelShapeSchema
        .prefault({
          hiddenSize: 64,
          layers: 2,
          maxPositions: 256,
          initializerRange: 0.1,
        })
        .describe('Shape of a model with fresh weights.'),
    })
    .prefault({})
    .describe('The model to start from.'),
  batch: batchSize(64).describe('Demonstrations a step, of both roles.'),
  rubricators: share.default(0.35).describe('Share of them that a rubricator writes.'),
  hinted: share.default(0.5).describe("Share of a reasoner's that follow hints."),
  tries: size
    .default(2)
    .describe(
      'How often the scripted reasoner may try again when its answer is wrong: 1 keeps whatever it wrote.',
    ),
  styles: z
    .strictObject({
      careful: chance.default(0.4).describe('Share of careful reasoners.'),
      merging: chance.default(0.35).describe('Share of those that merge steps.'),
      jumping: chance.default(0.25).describe('Share of those that leave steps out.'),
    })
    .prefault({})
    .refine(
      ({ careful, merging, jumping }) => careful + merging + jumping > 0,
      'a chance above 0; one of them must be drawn',
    )
    .describe('Chances of its styles.'),
  errors: z
    .strictObject({
      shaky: share.default(0.4).describe('Share of operations that a reasoner is unsure of.'),
      shakyError: share.default(0.4).describe('Error rate where it is unsure.'),
      knownError: share.default(0.04).describe('Error rate where it is sure.'),
      mergedError: share.default(0.35).describe('Error rate of merged steps.'),
      jumpError: share.default(0.65).describe('Error rate of steps left out.'),
      checkError: share.default(0.1).describe('Error rate of checks.'),
    })
    .prefault({})
    .describe(
      'How often it errs: in facts that it half remembers (and what share of them that is), in others, and so on.',
    ),
  rubric: rubricHabitsSchema
    .prefault({})
    .describe(
      'What the scripted rubricator writes: how many criteria, how often with the wrong sign, whether about outcomes.',
    ),
  labels: labelsSchema.describe('Which answers occur: balanced, or one only.'),
  optimizer: supervisedOptimizerSchema({ peak: 4e-3, kind: 'cosine', warmup: 50, floor: 0.05 }).describe(
    'AdamW and its learning rate.',
  ),
  evaluation: z
    .strictObject({
      every: z.int().min(0).default(0).describe('Every so many steps, besides the end; 0: only there.'),
      problems: madeProblemCount.default(500).describe('Test problems, and samples of each.'),
      samples: testSampleCount.default(1).describe('Samples of each problem.'),
      maxTokens: size.default(96).describe('Most tokens of a response.'),
    })
    .prefault({})
    .describe('When and how the model is tested.'),
})

export type ArithmeticColdStartConfig = z.output<typeof arithmeticColdStartSchema>

/** The same as a phase of another recipe. */
export const arithmeticPhaseSchema = arithmeticColdStartSchema
  .omit({ recipe: true, out: true, monitors: true, trackers: true, start: true })
  .extend({
    steps: supervisedSteps(STEPS).describe('Number of training steps.'),
  })
/** The monitors of a phase are those of the recipe that it belongs to. */
export type ArithmeticPhase = z.output<typeof arithmeticPhaseSchema> & {
  monitors?: MonitorSettings | null
  start?: string | null
}
