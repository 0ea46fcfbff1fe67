/** @file Configuration of the checklist-cold-start recipe. */

import { z } from 'zod'
import {
  batchSize,
  commonShape,
  modelShapeSchema,
  supervisedOptimizerSchema,
  supervisedSteps,
  testProblemCount,
  testSampleCount,
} from '../../train/config.ts'
import type { MonitorSettings } from '../../train/monitors/config.ts'

const share = z.number().min(0).max(1)

const STEPS = 5000

export const checklistColdStartSchema = z.strictObject({
  recipe: z
    .literal('checklist-cold-start')
    .default('checklist-cold-start')
    .describe('Name of the recipe; only files need it.'),
  ...commonShape,
  steps: commonShape.steps.unwrap().default(STEPS).describe('Number of training steps.'),
  world: z
    .union([z.int(), z.string()])
    .default('packing')
    .describe('Seed of the world: which things are usual where, and the hidden rubrics.'),
  model: z
    .strictObject({
      shape: modelShapeSchema
        .prefault({
          hiddenSize: 96,
          layers: 2,
          maxPositions: 96,
          initializerRange: 0.1,
        })
        .describe('Shape of a model with fresh weights.'),
    })
    .prefault({})
    .describe('The model to start from.'),
  thinking: z
    .boolean()
    .optional()
    .describe(
      'Lists with thinking before them, of every quality; the words of thinking come after those of the lists. Absent: no thinking.',
    ),
  batch: batchSize(96).describe('Demonstrations a step.'),
  hinted: share.default(0.6).describe('Share of demonstrations that follow hints; the others are habit.'),
  optimizer: supervisedOptimizerSchema({ peak: 2e-3, kind: 'cosine', warmup: 50, floor: 0.05 }).describe(
    'AdamW and its learning rate.',
  ),
  evaluation: z
    .strictObject({
      every: z.int().min(0).default(0).describe('Every so many steps, besides the end; 0: only there.'),
      problems: testProblemCount.default(500).describe('Test trips, and samples of each.'),
      samples: testSampleCount.default(1).describe('Samples of each problem.'),
      maxTokens: z.int().positive().default(26).describe('Most tokens of a response.'),
    })
    .prefault({})
    .describe('When and how the model is tested.'),
})

export type ChecklistColdStartConfig = z.output<typeof checklistColdStartSchema>

/** The same as a phase of another recipe. */
export const checklistPhaseSchema = checklistColdStartSchema
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
export type ChecklistPhase = z.output<typeof checklistPhaseSchema> & { monitors?: MonitorSettings | null }
