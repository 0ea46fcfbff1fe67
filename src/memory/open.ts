/** @file Opens what the section `memory` of a configuration names: a bank, and what embeds its questions. */

import type { EmbeddingOptions } from '../chat/embedding-config.ts'
import { type EmbeddingModel, type EmbeddingRuntime, embeddingModel } from '../chat/embeddings.ts'
import { canonicalJson } from '../util/canonical.ts'
import { RubricBank } from './bank.ts'
import { startFromFile } from './bank-file.ts'
import type { BankSettings, CheckpointEmbedderSettings, EmbedderSettings } from './config.ts'
import type { Embedder } from './embedder.ts'
import { HashedNgrams } from './hashed.ts'
import type { TakeawaysSchema } from './item.ts'
import type { Json } from './json.ts'

/** Asks an OpenAI-compatible `/v1/embeddings`; its vectors are stored, because asking again costs. */
export class EndpointEmbedder implements Embedder {
  readonly name: string
  readonly model: EmbeddingModel

  /** @throws ConfigError for settings that cannot be used, and for a key that is not in the environment */
  constructor(options: EmbeddingOptions, runtime?: EmbeddingRuntime) {
    this.model = embeddingModel(options, runtime)
    const { model, prefix, dims, sendDims, maxTextCharacters, extraBody } = this.model.settings
    // Where the server is and its key are no part of it: the same model has the same vectors anywhere.
    const changes = {
      ...(sendDims && { dims }),
      ...(prefix !== '' && { prefix }),
      ...(Object.keys(extraBody).length > 0 && { extraBody }),
    }
    this.name = `endpoint ${model} ${canonicalJson({ maxTextCharacters, ...changes })}`
  }

  get dims(): number | null {
    return this.model.dims
  }

  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return this.model.embed(texts)
  }

  close(): Promise<void> {
    return this.model.close()
  }
}

/**
 * The embedder that settings name; the caller closes it.
 * @param openCheckpoint opens a local checkpoint, for which this folder has no engine
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
 * @example
 * const bank = await openBank({}, new HashedNgrams())
 * await bank.add([{ question: 'Where is the Aare?', rubrics: 'Names the country.', takeaways: 'Look at a map.', u: 1, step: 1 }])
 * const [{ items }] = await bank.retrieve(['Where is the Seine?'], { mode: 'cross' })
 * items[0].item.takeaways // 'Look at a map.'
 */
export const openBank = async <Takeaways extends Json = Json>(
  { file, maxItems, otherEmbedder }: Partial<Pick<BankSettings, 'file' | 'maxItems' | 'otherEmbedder'>>,
  embedder: Embedder,
  takeaways?: TakeawaysSchema<Takeaways>,
): Promise<RubricBank<Takeaways>> => {
  const bank = new RubricBank<Takeaways>({ embedder, maxItems, takeaways })
  if (file !== undefined) await startFromFile(bank, file, { takeaways, otherEmbedder })
  return bank
}
