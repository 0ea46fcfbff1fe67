/** @file The model that writes rubrics for a command: an endpoint behind limits and retries. */

import { judgeFleet } from '../../chat/index.ts'
import type { AuthorOptions } from '../../grade/author/index.ts'
import type { Io } from '../io.ts'

export interface ModelOptions {
  judge: string
  model: string
  apiKeyEnv?: string
  temperature: number
  maxTokens: number
  seed?: number
  out?: string
}

/**
 * Does the work with a model and closes it. Work that Ctrl+C cut short has the result null.
 * @throws ConfigError for an endpoint or key that cannot be used; what the work throws.
 */
export const withAuthor = async <T>(
  { judge: url, model, apiKeyEnv, temperature, maxTokens, seed }: ModelOptions,
  io: Io,
  work: (author: AuthorOptions) => Promise<T>,
): Promise<{ result: T | null; interrupted: boolean }> => {
  const fleet = judgeFleet({ endpoints: [{ url, model, ...(apiKeyEnv !== undefined && { apiKeyEnv }) }] })
  const stop = new AbortController()
  const stopListening = io.onInterrupt(() => stop.abort())
  try {
    const result = await work({ model: fleet, temperature, maxTokens, seed, signal: stop.signal })
    return { result, interrupted: stop.signal.aborted }
  } catch (error) {
    if (stop.signal.aborted) return { result: null, interrupted: true }
    throw error
  } finally {
    stopListening()
    await fleet.close?.()
  }
}
