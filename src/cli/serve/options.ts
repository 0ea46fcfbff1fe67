/** @file What the servers have in common: options, log, and how they are told to stop. */

import { InvalidArgumentError } from 'commander'
import { isLoopback } from '../../serve/http/pages.ts'
import { ConfigError, UsageError } from '../../util/errors.ts'
import { EXIT, type Io } from '../io.ts'
import { numberThat } from '../option-values.ts'

/** Collects `name=number`. */
export const limit = (text: string, before: Record<string, number> = {}): Record<string, number> => {
  const [, name, value] = /^([^=]+)=([^=]+)$/.exec(text) ?? []
  if (name === undefined || value === undefined || value.trim() === '' || !(Number(value) >= 0))
    throw new InvalidArgumentError('Expected NAME=NUMBER, such as bodyMs=5000.')
  return { ...before, [name]: Number(value) }
}

/** All limits of a server, with those of `--limit`. @throws UsageError for one that is none: no configuration, the command line is wrong */
export const limitsOf = <Limits>(
  read: (changes: Readonly<Record<string, number>> | undefined) => Limits,
  given: Readonly<Record<string, number>> | undefined,
): Limits => {
  try {
    return read(given)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new UsageError(error.message.replaceAll(/^limits:/gm, '--limit:'), { cause: error })
  }
}

export const port = (text: string): number =>
  numberThat(text, n => Number.isInteger(n) && n >= 0 && n <= 65_535, 'a port, 0 to 65535')

/** What clients must send, from the environment; null where no variable is named. @throws UsageError for one that is empty */
export const keyOf = (option: string, variable: string | undefined): string | null => {
  const key = variable === undefined ? null : (process.env[variable] ?? '')
  if (key === '') throw new UsageError(`${option}: the environment variable ${variable} is empty or not set`)
  return key
}

/** @throws UsageError for an address that others can reach without a key */
export const assertNotOpen = (host: string, key: string | null, option: string): void => {
  if (key === null && !isLoopback(host))
    throw new UsageError(`--host ${host} can be reached from other machines; give ${option} NAME as well`)
}

/** What happens, as a JSON line each on stderr. */
export const serverLog = (io: Io) => {
  const event = (event: string, fields: object = {}) => {
    io.err.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...fields })}\n`)
  }
  return { event, refused: (entry: object) => event('refused', entry) }
}

/** The exit code of a server that was stopped: failed where it left requests, which is said. @param limit that was too short */
export const drained = (unanswered: number, limit: string, io: Io): number => {
  if (unanswered === 0) return EXIT.ok
  io.err.write(`${unanswered} requests were not answered within ${limit}\n`)
  return EXIT.failed
}
