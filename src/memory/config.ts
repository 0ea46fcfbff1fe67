/** @file The section `memory` of a configuration: whether a bank is there, what it starts from, and how it is asked. */

import { z } from 'zod'
import { embeddingSchema } from '../chat/embedding-config.ts'
import { natural } from '../util/setting-shapes.ts'
import { TOP } from './bank.ts'
import { WRITE_EVERY_STEPS } from './bank-file.ts'

const hashedSchema = z.strictObject({
  kind: z.literal('hashed').describe('Hashed n-grams of words, without a model.'),
  dims: natural.max(65_536).default(256).describe('Length of a vector.'),
  order: natural.max(5).default(2).describe('Longest n-gram of words that is hashed.'),
})

const endpointSchema = embeddingSchema.safeExtend({
  kind: z.literal('endpoint').describe('A server of embeddings.'),
})

/** The mean of a local checkpoint's last hidden states; opened by whoever has an engine (`policy/open-embedder.ts`). */
const checkpointSchema = z.strictObject({
  kind: z.literal('checkpoint').describe('The mean of the last hidden states of a local model.'),
  folder: z.string().min(1).describe('Checkpoint that embeds, named as in `model.folder`.'),
  threads: natural.default(1).describe('Processor threads.'),
  maxTokens: natural
    .default(512)
    .describe("Most tokens of a text that are embedded, within the model's context; the rest is cut."),
})

/** What makes vectors of questions. */
export const embedderSchema = z.discriminatedUnion('kind', [hashedSchema, endpointSchema, checkpointSchema])
export type EmbedderSettings = z.output<typeof embedderSchema>
export type CheckpointEmbedderSettings = z.output<typeof checkpointSchema>

export const bankSchema = z.strictObject({
  kind: z.literal('bank').describe('Lessons of earlier attempts.'),
  file: z
    .string()
    .min(1)
    .optional()
    .describe('Bank file to start from, of this or of another run; absent: the bank starts empty.'),
  retrieval: z
    .enum(['within', 'cross', 'both'])
    .default('cross')
    .describe(
      'Whose lessons are retrieved. `within`: those of the same question, or of similar ones if it has none; `cross`: those of similar questions; `both`.',
    ),
  top: natural.max(100).default(TOP).describe('Number of similar questions whose lessons are retrieved.'),
  maxItems: natural
    .optional()
    .describe('Most items in the bank; the one used longest ago is removed first. Absent: no limit.'),
  otherEmbedder: z
    .enum(['re-embed', 'refuse'])
    .default('re-embed')
    .describe(
      'What happens to vectors in `file` that another embedder made: they are computed again (`re-embed`), or the file is refused.',
    ),
  writeEverySteps: natural
    .default(WRITE_EVERY_STEPS)
    .describe("Steps between two writes of the run's bank file."),
  embedder: embedderSchema
    .default({ kind: 'hashed', dims: 256, order: 2 })
    .describe('How questions are turned into vectors.'),
})

/** The section `memory`. */
export const memorySchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none').describe('No memory.') }),
    bankSchema,
  ])
  .default({ kind: 'none' })
export type MemorySettings = z.output<typeof memorySchema>
export type BankSettings = z.output<typeof bankSchema>
