/** @file How a model on a server is named in one word: `http://host:8000/v1#NAME`. */

import { ConfigError } from '../util/errors.ts'

/** A server, and the name of one of its models; null: the only one that it has. */
export interface ModelAddress {
  url: string
  model: string | null
}

/** Whether a text names a server rather than a folder. */
export const isServerAddress = (text: string): boolean => /^https?:\/\//i.test(text)

/**
 * Parts an address at its first `#`. Names may hold slashes and `#`, as adapters' and folders' do.
 * @param setting that named it, for errors
 * @throws ConfigError for an empty name, and for a name with a control character
 */
export const modelAddress = (text: string, setting: string): ModelAddress => {
  const at = text.indexOf('#')
  if (at < 0) return { url: text, model: null }
  const model = text.slice(at + 1)
  if (model === '' || /\p{Cc}/u.test(model))
    throw new ConfigError(`${setting}: expected the name of a model after #, got ${JSON.stringify(model)}`, {
      hint: 'write it as in http://127.0.0.1:8000/v1#NAME',
    })
  return { url: text.slice(0, at), model }
}
