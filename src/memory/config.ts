/** @file The section `memory` of a configuration: whether a bank is there, what it starts from, and how it is asked. */

import { z } from 'zod'
import { embeddingSchema } from '../chat/embeddings.ts'
import { RubricBank, TOP } from './bank.ts'
import { startFromFile, WRITE_EVERY_STEPS } from './bank-file.ts'
import type { Embedder } from './embedder.ts'
import { EndpointEmbedder } from './endpoint-embedder.ts'
import { HashedNgrams } from './hashed.ts'
import type { TakeawaysSchema } from './item.ts'
import type { Json } from './json.ts'

const size = z.int().positive()

const hashedSchema = z.strictObject({
  kind: z.literal('hashed').describe('Which kind; each has keys of its own.'),
  dims: size.max(65_536).default(256).describe('Length of a vector.'),
  order: size.max(5).default(2).describe('Longest word n-gram.'),
})

const endpointSchema = embeddingSchema.safeExtend({ kind: z.literal('endpoint') })

/** The mean of a local checkpoint's last hidden states; opened by whoever has an engine (`policy/open-embedder.ts`). */
const checkpointSchema = z.strictObject({
  kind: z.literal('checkpoint').describe('Which kind; each has keys of its own.'),
  folder: z.string().min(1).describe('Checkpoint that embeds, named as `model.folder`.'),
  threads: size.default(1).describe('Threads of the processor.'),
  maxTokens: size
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
  top: size.max(100).default(TOP).describe('Similar questions that are shown.'),
  maxItems: size
    .optional()
    .describe('Most items; the one that was retrieved longest ago goes first. Unlimited where absent.'),
  otherEmbedder: z
    .enum(['re-embed', 'refuse'])
    .default('re-embed')
    .describe("Vectors in `file` that are another embedder's: made anew, or refused."),
  writeEverySteps: size
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

/**
 * The embedder that settings name; the caller closes it.
 * @param openCheckpoint opens a local checkpoint, for which this floor has no engine
 * @throws ConfigError for a key that is not in the environment, and what `openCheckpoint` throws
 */
export const openEmbedderWith = async (
  settings: EmbedderSettings,
  openCheckpoint: (settings: CheckpointEmbedderSettings) => Promise<Embedder>,
): Promise<Embedder> => {
  switch (settings.kind) {
    case 'hashed':
      return new HashedNgrams(settings)
    case 'endpoint': {
      const { kind: _kind, ...options } = settings
      return new EndpointEmbedder(options)
    }
    case 'checkpoint':
      return openCheckpoint(settings)
  }
}

/**
 * A bank as settings say, with what its file holds; the caller closes the embedder.
 * @throws DataError naming file and line for a file that is no whole bank
 */
export const openBank = async <Takeaways extends Json = Json>(
  { file, maxItems, otherEmbedder }: Pick<BankSettings, 'file' | 'maxItems' | 'otherEmbedder'>,
  embedder: Embedder,
  takeaways?: TakeawaysSchema<Takeaways>,
): Promise<RubricBank<Takeaways>> => {
  const bank = new RubricBank<Takeaways>({ embedder, maxItems, takeaways })
  if (file !== undefined) await startFromFile(bank, file, { takeaways, otherEmbedder })
  return bank
}
