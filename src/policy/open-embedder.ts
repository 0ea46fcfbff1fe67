/** @file An embedder from a configuration's section, whatever kind it is. */

import type { EmbedderSettings } from '../memory/config.ts'
import type { Embedder } from '../memory/embedder.ts'
import { openEmbedderWith } from '../memory/open.ts'
import { openCheckpointEmbedder } from './local/checkpoint-embedder.ts'

/**
 * The embedder that settings name; the caller closes it.
 * @throws ConfigError for a key that is not in the environment; CheckpointError for a checkpoint that cannot be used
 */
export const openEmbedder = (settings: EmbedderSettings): Promise<Embedder> =>
  openEmbedderWith(settings, openCheckpointEmbedder)
