/** @file Server and model of a command line: two options, or both in one, `http://127.0.0.1:8000/v1#NAME`. */

import { modelAddress } from '../chat/model-address.ts'
import { UsageError } from '../util/errors.ts'

/** Option of the server with the one of the model, as they are called. */
interface Names {
  url: string
  model: string
}

/**
 * Parts the server's option at `#`.
 * @returns the model undefined where neither names one
 * @throws UsageError where both do and disagree; ConfigError for an empty name
 */
export const endpointOf = (
  url: string,
  model: string | undefined,
  names: Names = { url: '--judge', model: '--model' },
): { url: string; model?: string } => {
  const address = modelAddress(url, names.url)
  if (address.model !== null && model !== undefined && address.model !== model)
    throw new UsageError(
      `${names.model}: expected ${address.model} as in ${names.url} ${url}, got ${model}`,
      { hint: `leave ${names.model} out` },
    )
  const named = model ?? address.model
  return { url: address.url, ...(named !== null && { model: named }) }
}
