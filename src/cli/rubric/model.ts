/** @file The model that writes rubrics for a command: an endpoint behind limits and retries. */

import { judgeFleet } from '../../chat/index.ts'
import type { AuthorOptions } from '../../grade/author/index.ts'
import { UsageError } from '../../util/errors.ts'
import { endpointOf } from '../endpoint.ts'
import { unlessInterrupted } from '../interrupts.ts'
import type { Io } from '../io.ts'

export interface ModelOptions {
  /** Address of the server, with `#NAME` at its end where `model` is absent. */
  judge: string
  model?: string
  apiKeyEnv?: string
  temperature: number
  maxTokens: number
  seed?: number
  out?: string
}

/**
 * Does the work with a model and closes it. Work that Ctrl+C cut short has the result null.
 * @throws UsageError without a model; ConfigError for an endpoint or key that cannot be used; what the work throws.
 */
export const withAuthor = async <T>(
  { judge, model: named, apiKeyEnv, temperature, maxTokens, seed }: ModelOptions,
  io: Io,
  work: (author: AuthorOptions) => Promise<T>,
): Promise<{ result: T | null; interrupted: boolean }> => {
  const { url, model } = endpointOf(judge, named)
  if (model === undefined)
    throw new UsageError(
      '--judge: expected --model NAME beside it, or --judge URL#NAME, got no name of a model',
    )
  const fleet = judgeFleet({ endpoints: [{ url, model, ...(apiKeyEnv !== undefined && { apiKeyEnv }) }] })
  return unlessInterrupted(
    io,
    signal => work({ model: fleet, temperature, maxTokens, seed, signal }),
    () => fleet.close?.(),
  )
}
