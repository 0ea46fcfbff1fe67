/** @file Configuration of the chat-cold-start recipe. */

import { z } from 'zod'
import {
  batchSize,
  commonShape,
  modelShapeSchema,
  supervisedOptimizerSchema,
  testProblemCount,
} from '../../train/config.ts'

const share = z.number().min(0).max(1)
const size = z.int().positive()

export const chatColdStartSchema = z.strictObject({
  recipe: z
    .literal('chat-cold-start')
    .default('chat-cold-start')
    .describe('Name of the recipe; only files need it.'),
  ...commonShape,
  steps: commonShape.steps
    .unwrap()
    .default(3600)
    .describe('Steps of training; of each, demonstrations are drawn and learnt from.'),
  model: z
    .strictObject({
      shape: modelShapeSchema
        .prefault({
          ...{ hiddenSize: 192, layers: 4, heads: 6, maxPositions: 512 },
          ...{ tieEmbeddings: true, initializerRange: 0.07, embeddingStd: 0.07 },
        })
        .describe('Shape of a model with fresh weights.'),
      vocabulary: size.min(1024).max(8192).default(2048).describe('Tokens in all; the tokenizer is learnt.'),
    })
    .prefault({})
    .describe('The model to start from.'),
  batch: batchSize(32).describe('Demonstrations a step, answers and verdicts.'),
  judged: share.default(0.35).describe('Share of them that are a judge’s verdict on an answer.'),
  promptWeight: share
    .default(0.2)
    .describe('Weight of what stands before an answer in the loss: questions teach the language as well.'),
  optimizer: supervisedOptimizerSchema({ peak: 3e-3, kind: 'cosine', warmup: 60, floor: 0.05 }).describe(
    'AdamW and its learning rate.',
  ),
  evaluation: z
    .strictObject({
      every: z.int().min(0).default(0).describe('Every so many steps, besides the end; 0: only there.'),
      problems: testProblemCount.default(600).describe('Requests, and as many questions to the judge.'),
    })
    .prefault({})
    .describe('When and how the model is tested.'),
})

export type ChatColdStartConfig = z.output<typeof chatColdStartSchema>
/** The same as a run needs it. */
export type ChatPhase = Omit<ChatColdStartConfig, 'recipe' | 'out'>
