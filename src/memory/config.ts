/** @file The section `memory` of a configuration: whether a bank is there, what it starts from, and how it is asked. */

import { z } from 'zod'
import { embeddingSchema } from '../chat/embedding-config.ts'
import { natural } from '../util/setting-shapes.ts'
import { TOP } from './bank.ts'
import { WRITE_EVERY_STEPS } from './bank-file.ts'

const hashedSchema = z.strictObject({
  kind: z.literal('hashed').describe('Which kind; each has keys of its own.'),
  dims: natural.max(65_536).default(256).describe('Length of a vector.'),
  order: natural.max(5).default(2).describe('Longest word n-gram.'),
})

const endpointSchema = embeddingSchema.safeExtend({ kind: z.literal('endpoint') })

/** The mean of a local checkpoint's last hidden states; opened by whoever has an engine (`policy/open-embedder.ts`). */
const checkpointSchema = z.strictObject({
  kind: z.literal('checkpoint').describe('Which kind; each has keys of its own.'),
  folder: z.string().min(1).describe('Checkpoint that embeds, named as `model.folder`.'),
  threads: natural.default(1).describe('Threads of the processor.'),
  maxTokens: natural
    .default(512)
    .describe(
      "Tokens of a text that are embedded; what is beyond is cut. The model's context where that is shorter.",
    ),
})

/** What makes vectors of questions. */
export const embedderSchema = z.discriminatedUnion('kind', [hashedSchema, endpointSchema, checkpointSchema])
export type EmbedderSettings = z.output<typeof embedderSchema>
export type CheckpointEmbedderSettings = z.output<typeof checkpointSchema>

export const bankSchema = z.strictObject({
  kind: z.literal('bank').describe('Which kind; each has keys of its own.'),
  file: z
    .string()
    .min(1)
    .optional()
    .describe("A bank file to start from: of another run in training, of the model's own at inference."),
  retrieval: z
    .enum(['within', 'cross', 'both'])
    .default('cross')
    .describe(
      '`within`: the very question, or similar ones where it is missing; `cross`: similar ones; `both`.',
    ),
  top: natural.max(100).default(TOP).describe('Similar questions that are shown.'),
  maxItems: natural
    .optional()
    .describe('Most items; the one that was retrieved longest ago goes first. Unlimited where absent.'),
  otherEmbedder: z
    .enum(['re-embed', 'refuse'])
    .default('re-embed')
    .describe("Vectors in `file` that are another embedder's: made anew, or refused."),
  writeEverySteps: natural
    .default(WRITE_EVERY_STEPS)
    .describe("Steps between two writings of the run's own bank file."),
  embedder: embedderSchema
    .default({ kind: 'hashed', dims: 256, order: 2 })
    .describe('What makes vectors of questions.'),
})

/** The section `memory`. */
export const memorySchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none').describe('Which kind; each has keys of its own.') }),
    bankSchema,
  ])
  .default({ kind: 'none' })
export type MemorySettings = z.output<typeof memorySchema>
export type BankSettings = z.output<typeof bankSchema>
