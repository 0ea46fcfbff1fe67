/** @file A local checkpoint as an embedder: the mean of its last hidden states over a text's tokens. */

import type { CheckpointEmbedderSettings } from '../../memory/config.ts'
import type { Embedder } from '../../memory/embedder.ts'
import { fetchModel } from '../../model/fetch-model.ts'
import { type LoraConfig, tokenizerFolder } from '../../model/lora-files.ts'
import { loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import { LocalPolicy } from './local-policy.ts'

/**
 * An engine keeps gradient and moments beside what is trained. A fresh adapter of rank 1 is little to keep, and adds nothing to
 * what the model computes.
 */
const NOTHING_TRAINED: LoraConfig = { rank: 1, alpha: 1, targetModules: ['q_proj'] }

class CheckpointEmbedder implements Embedder {
  readonly name: string
  readonly dims: number
  readonly #policy: LocalPolicy
  readonly #tokenizer: Tokenizer
  readonly #maxTokens: number

  constructor(policy: LocalPolicy, tokenizer: Tokenizer, digest: string, maxTokens: number) {
    this.#policy = policy
    this.#tokenizer = tokenizer
    this.#maxTokens = Math.min(maxTokens, policy.config.maxPositions)
    this.dims = policy.config.hiddenSize
    this.name = `checkpoint ${digest.slice(0, 16)} mean-last-1 maxTokens=${this.#maxTokens}`
  }

  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return this.#policy.hiddenMeans(texts.map(text => this.#tokensOf(text)))
  }

  /** At least one token: a text without any is what a text begins with. */
  #tokensOf(text: string): number[] {
    const tokens = this.#tokenizer.encode(text, { addSpecialTokens: true }).slice(0, this.#maxTokens)
    if (tokens.length > 0) return tokens
    return [this.#tokenizer.bosId ?? this.#tokenizer.eosId ?? 0]
  }

  close(): Promise<void> {
    return this.#policy.close()
  }
}

/**
 * Opens a checkpoint or adapter for embedding, its engine in a thread of its own; the caller closes it. Its weights stay as
 * they are, so that vectors of one run may be compared with those of another.
 * @throws as `fetchModel`; CheckpointError for a folder that is not there, is broken, or has no tokenizer
 */
export const openCheckpointEmbedder = async ({
  folder: place,
  threads,
  maxTokens,
}: Omit<CheckpointEmbedderSettings, 'kind'>): Promise<Embedder> => {
  const folder = await fetchModel(place)
  const tokenizer = loadTokenizer(tokenizerFolder(folder))
  const source = { folder, lora: NOTHING_TRAINED }
  const policy = await LocalPolicy.start(source, { threads, spinning: false })
  try {
    return new CheckpointEmbedder(policy, tokenizer, await policy.digest(), maxTokens)
  } catch (error) {
    await policy.close()
    throw error
  }
}
