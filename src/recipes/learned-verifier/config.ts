/** @file Configuration of the learned-verifier recipe. */

import { z } from 'zod'
import {
  batchSize,
  commonShape,
  flag,
  modelShapeSchema,
  recipeSetting,
  section,
  supervisedOptimizerSchema,
  supervisedSteps,
} from '../../train/config.ts'
import { columnsSchema } from '../../util/columns.ts'
import { natural, whole } from '../../util/setting-shapes.ts'

export const learnedVerifierSchema = z.strictObject({
  recipe: recipeSetting('learned-verifier'),
  ...commonShape,
  steps: supervisedSteps(600).describe('Number of training steps.'),
  data: section('Labelled rows to learn from.', {
    file: z
      .string()
      .default('labels.jsonl')
      .describe(
        'Labelled rows {criterion, response, met, prompt?}, or the rollouts.jsonl of a run on the logic task.',
      ),
    columns: columnsSchema.optional(),
    heldOut: z
      .number()
      .gt(0)
      .lt(1)
      .default(0.2)
      .describe('Share of the prompts that are kept for evaluation.'),
    balanced: flag(
      true,
      'Draw rows so that both labels are equally frequent. Otherwise the verifier first learns the more frequent label.',
    ),
  }),
  vocabulary: section('Vocabulary of the model.', {
    size: natural
      .max(1_000_000)
      .default(4000)
      .describe('Most words in the vocabulary; all others count as unknown.'),
    minCount: natural.default(2).describe('Fewest occurrences of a word in the vocabulary.'),
  }),
  model: section('The model to start from.', {
    shape: modelShapeSchema
      .prefault({ hiddenSize: 96, layers: 2, maxPositions: 384 })
      .describe('Shape of a model with fresh weights.'),
  }),
  batch: batchSize(32).describe('Rows in a step.'),
  optimizer: supervisedOptimizerSchema({ peak: 1.5e-3, kind: 'cosine', warmup: 30, floor: 0.05 }).describe(
    'AdamW and its learning rate.',
  ),
  evaluation: section('When and how the model is tested.', {
    every: whole
      .default(0)
      .describe('Steps between evaluations, besides those at the start and the end; 0: only these.'),
    rows: natural.default(1000).describe('Most held-out rows in an evaluation.'),
  }),
})

/** The same as a phase of another recipe, which says itself where the run lies, what computes, what its labels are, and its seed. */
export const verifierPhaseSchema = learnedVerifierSchema.omit({
  recipe: true,
  out: true,
  seed: true,
  policy: true,
  monitors: true,
  maxMinutes: true,
  data: true,
})

export type LearnedVerifierConfig = z.output<typeof learnedVerifierSchema>
