/** @file Limits of an HTTP front: one schema shape for configurations, all defaults in it. */

import { z } from 'zod'
import { memoryHere } from '../../util/memory-failure.ts'
import { parseWith } from '../../util/schema.ts'

const MiB = 1024 ** 2
const milliseconds = z.number().positive()

/** Three quarters of what this process may have at most. */
const ownMemoryBytes = (): number => Math.floor(0.75 * memoryHere())

/** To be spread into the `limits` of a server's configuration. */
export const frontLimitsShape = {
  bodyBytes: z
    .int()
    .positive()
    .default(32 * MiB)
    .describe('Largest body of a request; a larger one is answered 413.'),
  requests: z
    .int()
    .positive()
    .default(4096)
    .describe('Most requests that are read or answered at once; further ones are answered 429.'),
  requestsPerConnection: z
    .int()
    .positive()
    .default(64)
    .describe('Most requests under way on one connection (pipelining); further ones are answered 429.'),
  connections: z
    .int()
    .positive()
    .default(8192)
    .describe('Most open connections; further ones are not accepted.'),
  heldBytes: z
    .int()
    .positive()
    .default(512 * MiB)
    .describe(
      'Most bytes of request bodies and of unread answers in memory together; beyond them requests are answered 429.',
    ),
  memoryBytes: z
    .int()
    .positive()
    .default(ownMemoryBytes)
    .describe(
      'Resident memory of the process beyond which new requests are answered 429; so they are beyond 3/4 of the JavaScript heap. Default: 3/4 of the memory that the process may have.',
    ),
  headersMs: milliseconds.default(10_000).describe('Longest wait for the head of a request.'),
  bodyMs: milliseconds
    .default(15_000)
    .describe('Longest wait for the body of a request after its head; then 408.'),
  answerMs: milliseconds
    .default(60_000)
    .describe('Longest time that a client may take to read an answer; then its connection is cut.'),
  drainNoticeMs: z
    .number()
    .min(0)
    .default(500)
    .describe(
      'After SIGTERM or Ctrl+C: how long the end is announced (readyz, `connection: close`) before new connections are refused.',
    ),
  drainMs: milliseconds.default(110_000).describe('Longest time that accepted requests may take after that.'),
}

const frontLimits = z.strictObject(frontLimitsShape)
export type FrontLimits = z.output<typeof frontLimits>

/** All defaults, with changes. @throws ConfigError for a limit that is none */
export const frontLimitsOf = (changes: Partial<FrontLimits> = {}): FrontLimits =>
  parseWith(frontLimits, changes, 'limits')
