/** @file Embeddings of a model behind an endpoint. */

import type { EmbeddingOptions } from '../chat/embedding-config.ts'
import { type EmbeddingModel, type EmbeddingRuntime, embeddingModel } from '../chat/embeddings.ts'
import { canonicalJson } from '../util/canonical.ts'
import type { Embedder } from './embedder.ts'

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
