/** @file Opens what the section `memory` of a configuration names. */

import { RubricBank } from './bank.ts'
import { startFromFile } from './bank-file.ts'
import type { BankSettings, CheckpointEmbedderSettings, EmbedderSettings } from './config.ts'
import type { Embedder } from './embedder.ts'
import { EndpointEmbedder } from './endpoint-embedder.ts'
import { HashedNgrams } from './hashed.ts'
import type { TakeawaysSchema } from './item.ts'
import type { Json } from './json.ts'

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
