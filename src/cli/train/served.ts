/** @file The model of `gradus eval` and `gradus sample` where it is on a server: `http://host:8000/v1#NAME`. */

import { isServerAddress } from '../../chat/model-address.ts'
import type { DialectName } from '../../policy/served/dialect-names.ts'
import { ServedModel } from '../../policy/served/served-model.ts'
import { UsageError } from '../../util/errors.ts'
import { givenOption } from '../option-values.ts'

export interface ServedModelOptions {
  /** Folder of a checkpoint, or the address of a server with the name of its model. */
  model: string
  /** Folder with tokenizer, template and configuration of a model on a server. */
  tokenizer?: string
  dialect?: DialectName
  apiKeyEnv?: string
  concurrency?: number
}

/** What results say of where they are from. */
export interface ServedIdentity {
  server: string
  name: string
  dialect: DialectName
  /** Whether it was sent tokens of ours, or words that it makes tokens of by itself. */
  asked: 'tokens' | 'text' | 'chat'
}

/**
 * Whether the model is on a server.
 * @param keyOption the option that names the variable with its key
 * @throws UsageError for options of servers beside a folder
 */
export const isServed = (options: ServedModelOptions, keyOption: string): boolean => {
  if (isServerAddress(options.model)) return true
  const key = options.apiKeyEnv === undefined ? undefined : keyOption
  const stray = givenOption(options, ['tokenizer', 'dialect']) ?? key ?? givenOption(options, ['concurrency'])
  if (stray === undefined) return false
  throw new UsageError(`${stray}: has no effect on a checkpoint folder`, {
    hint: 'leave it out, or name a server as in --model http://127.0.0.1:8000/v1#NAME',
  })
}

/** @throws ConfigError, ServedError */
export const openServed = ({
  model: url,
  dialect,
  apiKeyEnv,
  concurrency,
}: ServedModelOptions): Promise<ServedModel> => ServedModel.open({ url, dialect, apiKeyEnv, concurrency })

export const identityOf = (
  { server, name, dialect }: ServedModel,
  asked: ServedIdentity['asked'],
): ServedIdentity => ({ server, name, dialect, asked })
