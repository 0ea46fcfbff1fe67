/** @file Limits of a training service: those of every HTTP front, and its own. */

import { z } from 'zod'
import { parseWith } from '../../util/schema.ts'
import { frontLimitsShape } from '../http/limits.ts'

const MiB = 1024 ** 2
const milliseconds = z.number().positive()

const tinkerLimits = z.strictObject({
  ...frontLimitsShape,
  /** Models in training at a time; each has the base model's weights and its optimiser's state in memory. */
  models: z.int().positive().default(8),
  /** Highest rank of an adapter. */
  rank: z.int().positive().default(128),
  /** Requests that are not done; more are answered 429. */
  pending: z.int().positive().default(20_000),
  /** Memory of snapshots to sample from; older ones go to files. */
  snapshotBytes: z
    .int()
    .positive()
    .default(256 * MiB),
  /** A session of which nothing was heard for so long ends, and its models with it. Clients send a heartbeat every 10 s. */
  sessionMs: milliseconds.default(900_000),
  /** When there are as many models as there may be, a session that was quiet for so long ends. */
  quietMs: milliseconds.default(60_000),
  /** How long a request whose predecessor is missing waits for it. */
  gapMs: milliseconds.default(60_000),
  /** How long a client that asks for a result is held before it is told to ask again; clients give up after 45 s. */
  holdMs: milliseconds.default(20_000),
  /** How long a result stays after it was fetched. */
  resultMs: milliseconds.default(300_000),
})
export type TinkerLimits = z.output<typeof tinkerLimits>

/** All defaults, with changes. @throws ConfigError for a limit that is none */
export const tinkerLimitsOf = (changes: Partial<TinkerLimits> = {}): TinkerLimits =>
  parseWith(tinkerLimits, changes, 'limits')
