/** @file Configuration of the sft recipe. */

import { z } from 'zod'
import { policySchema } from '../../policy/open.ts'
import { DEFAULT_OBSERVATION_TOKENS } from '../../tasks/research/index.ts'
import { batchSize, commonShape, modelSchema, optimizerSchema, supervisedSteps } from '../../train/config.ts'
import { columnsSchema } from '../../util/columns.ts'

const size = z.int().positive()

export const sftRecipeSchema = z.strictObject({
  recipe: z.literal('sft').default('sft').describe('Name of the recipe; only files need it.'),
  ...commonShape,
  policy: policySchema.prefault({}).describe('Where and how the model computes.'),
  steps: supervisedSteps(200).describe('Number of training steps.'),
  model: modelSchema
    .omit({ shape: true })
    .prefault({})
    .describe('A chat model, with tokenizer and template.'),
  data: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Rows `{messages: [{role, content}]}`; of agents also `question`, `tools` and `rules`. What the role assistant says is learnt.',
    ),
  columns: columnsSchema.optional(),
  holdOut: z
    .int()
    .min(0)
    .default(0)
    .describe('Rows of the file that are kept for evaluation: always the same ones.'),
  calls: z
    .enum(['auto', 'xml', 'template'])
    .default('auto')
    .describe(
      "How calls of tools are written: `auto` as the model's template has them, where it has such a form, else in our own tags.",
    ),
  maxTokens: size
    .default(16_384)
    .describe("Rows with more tokens are left out and counted; at most the model's context."),
  maxObservationTokens: size
    .default(DEFAULT_OBSERVATION_TOKENS)
    .describe('Most tokens of what a tool said; what is beyond is cut.'),
  batch: batchSize(16).describe('Rows a step.'),
  optimizer: z
    .strictObject({
      ...optimizerSchema.shape,
      learningRate: optimizerSchema.shape.learningRate
        .unwrap()
        .prefault({ peak: 1e-5, kind: 'cosine' })
        .describe('Its height over the steps.'),
    })
    .prefault({})
    .describe('AdamW and its learning rate.'),
  evaluation: z
    .strictObject({ every: z.int().min(0).default(0).describe('Every so many steps; 0: only at the end.') })
    .prefault({})
    .describe('When and how the model is tested.'),
})
export type SftRecipeConfig = z.output<typeof sftRecipeSchema>
