/** @file Configuration of the logic-rubric-start recipe. */

import { z } from 'zod'
import { LOGIC_STYLES } from '../../tasks/logic/generator.ts'
import { labelsSchema, rubricHabitsSchema } from '../../tasks/thinking-grammar/settings.ts'
import {
  batchSize,
  commonShape,
  madeProblemCount,
  supervisedOptimizerSchema,
  supervisedSteps,
  testSampleCount,
} from '../../train/config.ts'
import type { MonitorSettings } from '../../train/monitors/config.ts'

const share = z.number().min(0).max(1)
const size = z.int().positive()

/** Which logic problems: hops that are equally frequent, and what their generator is told. */
export const logicProblemsSchema = z.strictObject({
  hops: z.array(z.int().min(1).max(5)).min(1).default([3, 4, 5]).describe('Length of a proof in steps.'),
  nodes: z
    .tuple([z.int(), z.int()])
    .nullable()
    .default(null)
    .describe(
      "Kinds on the chain, [fewest, most]; fewer make shorter problems. The real rows' distribution when null.",
    ),
  labels: z
    .enum(['two-way', 'three-way'])
    .default('two-way')
    .describe('Which answers occur: balanced, or one only.'),
  style: z.enum(LOGIC_STYLES).default('real').describe('Style of the generated problems.'),
})

const STEPS = 600

export const logicRubricStartSchema = z.strictObject({
  recipe: z
    .literal('logic-rubric-start')
    .default('logic-rubric-start')
    .describe('Name of the recipe; only files need it.'),
  ...commonShape,
  steps: commonShape.steps
    .unwrap()
    .default(STEPS)
    .describe('0 leaves labels alone, on what the start writes.'),
  start: z
    .string()
    .default('package:models/logic-start')
    .describe('Checkpoint of the logic task whose vocabulary grows.'),
  maxPositions: size
    .default(320)
    .describe('Places of the context; a rubric about thinking needs more than thinking alone.'),
  problems: logicProblemsSchema.prefault({}).describe('Problems of the test.'),
  reasoners: z
    .strictObject({
      problems: madeProblemCount.default(1500).describe('Problems of the test.'),
      samples: testSampleCount.default(2).describe('Samples of each problem.'),
      temperature: z
        .number()
        .positive()
        .default(1)
        .describe(
          'Of sampling; 1 samples as the model is, 0 takes the likeliest token where that is allowed.',
        ),
      maxTokens: size.default(96).describe('Most tokens of a response.'),
      keep: z
        .enum(['proved', 'right', 'all'])
        .default('proved')
        .describe('Which of them are demonstrations: right ones with a proof, right ones, or all.'),
    })
    .prefault({})
    .describe(
      "The start's own responses: what reasoners learn is chosen among them, and rubricators see all of them.",
    ),
  batch: batchSize(32).describe('Demonstrations a step, of both roles.'),
  rubricators: share.default(0.5).describe('Share of them that a rubricator writes.'),
  hinted: share.default(0.4).describe("Share of a reasoner's that follow hints."),
  rubric: rubricHabitsSchema.prefault({}).describe('Where the rubric comes from.'),
  labels: labelsSchema.describe('Which answers occur: balanced, or one only.'),
  optimizer: supervisedOptimizerSchema({ peak: 1e-3, kind: 'cosine', warmup: 30, floor: 0.05 }).describe(
    'AdamW and its learning rate.',
  ),
  evaluation: z
    .strictObject({
      every: z.int().min(0).default(0).describe('Every so many steps, besides the end; 0: only there.'),
      problems: madeProblemCount.default(300).describe('Test problems, and samples of each.'),
      samples: testSampleCount.default(1).describe('Samples of each problem.'),
      maxTokens: size.default(96).describe('Most tokens of a response.'),
      rubricTokens: size.default(112).describe('Most tokens of a rubric.'),
    })
    .prefault({})
    .describe('When and how the model is tested.'),
})

export type LogicRubricStartConfig = z.output<typeof logicRubricStartSchema>

/** The same as a phase of another recipe. */
export const logicRubricPhaseSchema = logicRubricStartSchema
  .omit({ recipe: true, out: true, monitors: true, trackers: true })
  .extend({
    steps: supervisedSteps(STEPS).describe('Number of training steps.'),
  })
/** The monitors of a phase are those of the recipe that it belongs to. */
export type LogicRubricPhase = z.output<typeof logicRubricPhaseSchema> & { monitors?: MonitorSettings | null }
