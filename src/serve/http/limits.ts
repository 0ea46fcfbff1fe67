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
    .describe('Largest body of a request; more is answered 413.'),
  requests: z
    .int()
    .positive()
    .default(4096)
    .describe('Requests that are read or answered at once; more are answered 429.'),
  requestsPerConnection: z
    .int()
    .positive()
    .default(64)
    .describe('Requests under way on one connection (pipelining); more are answered 429.'),
  connections: z.int().positive().default(8192).describe('Open connections; more are not accepted.'),
  heldBytes: z
    .int()
    .positive()
    .default(512 * MiB)
    .describe(
      'Bytes of bodies, and of answers that nobody has taken yet, that are held in memory together; more are answered 429.',
    ),
  memoryBytes: z
    .int()
    .positive()
    .default(ownMemoryBytes)
    .describe(
      'Resident memory of the process beyond which new requests are answered 429, as beyond 3/4 of the JavaScript heap. Default: 3/4 of what it may have.',
    ),
  headersMs: milliseconds.default(10_000).describe("A request's head must be there so soon."),
  bodyMs: milliseconds
    .default(15_000)
    .describe("A request's body must be there so soon after its head; else 408."),
  answerMs: milliseconds
    .default(60_000)
    .describe('An answer must be taken so soon after it is ready; else its connection is cut.'),
  drainNoticeMs: z
    .number()
    .min(0)
    .default(500)
    .describe(
      'After a polite kill: how long it is said (readyz, `connection: close`) before new connections are refused.',
    ),
  drainMs: milliseconds.default(110_000).describe('How long accepted requests may take after that.'),
}

const frontLimits = z.strictObject(frontLimitsShape)
export type FrontLimits = z.output<typeof frontLimits>

/** All defaults, with changes. @throws ConfigError for a limit that is none */
export const frontLimitsOf = (changes: Partial<FrontLimits> = {}): FrontLimits =>
  parseWith(frontLimits, changes, 'limits')
