/** @file Server and model of a command line: two options, or both in one, `http://127.0.0.1:8000/v1#NAME`. */

import { modelAddress } from '../chat/model-address.ts'
import { UsageError } from '../util/errors.ts'

/**
 * Parts the server's option at `#`.
 * @param names of both options, as they are called
 * @returns the model undefined where neither names one
 * @throws UsageError where both do and disagree; ConfigError for an empty name
 */
export const endpointOf = (
  url: string,
  model: string | undefined,
  names = { url: '--judge', model: '--model' },
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

/** The same, where a model has to be named. @throws UsageError where none is */
export const namedEndpoint = (
  url: string,
  model: string | undefined,
  option = '--judge',
): { url: string; model: string } => {
  const found = endpointOf(url, model, { url: option, model: '--model' })
  if (found.model !== undefined) return { url: found.url, model: found.model }
  throw new UsageError(
    `${option}: expected --model NAME beside it, or ${option} URL#NAME, got no name of a model`,
  )
}
