/** @file The model that writes rubrics for a command, an endpoint behind limits and retries, and what is told of its rounds. */

import { judgeFleet } from '../../chat/index.ts'
import type { AuthorOptions, AuthorRound } from '../../grade/author/index.ts'
import { namedEndpoint } from '../endpoint.ts'
import { unlessInterrupted } from '../interrupts.ts'
import type { Io } from '../io.ts'

/** Why revising ended. */
export const WHY_STOPPED = {
  'no-change': 'nothing left to change',
  rounds: 'the rounds were used up',
} as const

/** Says what a round of revising named. */
export const tellRound = (round: AuthorRound, index: number, io: Io, before = ''): void => {
  for (const fault of ['missing', 'redundant', 'ambiguous'] as const)
    for (const text of round[fault]) io.err.write(`${before}round ${index + 1}: ${fault}: ${text}\n`)
}

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
  { judge, model, apiKeyEnv, temperature, maxTokens, seed }: ModelOptions,
  io: Io,
  work: (author: AuthorOptions) => Promise<T>,
): Promise<{ result: T | null; interrupted: boolean }> => {
  const fleet = judgeFleet({ endpoints: [{ ...namedEndpoint(judge, model), apiKeyEnv }] })
  return unlessInterrupted(
    io,
    signal => work({ model: fleet, temperature, maxTokens, seed, signal }),
    () => fleet.close?.(),
  )
}
