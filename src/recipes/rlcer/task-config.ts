/** @file Which questions rlcer trains on: settings. */

import { z } from 'zod'
import { operationsSchema } from '../arithmetic-cold-start/config.ts'

const size = z.int().positive()

export const taskSchema = z.discriminatedUnion('kind', [
  /** The miniature: chains of operations with shown steps, criteria that are executed. */
  z.strictObject({
    kind: z.literal('arithmetic'),
    operations: operationsSchema.prefault({}),
    /** Questions to train on, which recur; null: new ones without end. */
    pool: size.nullable().default(null),
    /** Criteria that read the last result count as well (spec 2.4); else nobody can decide them. */
    outcomes: z.boolean().default(false),
  }),
])

export type RlcerTaskConfig = z.output<typeof taskSchema>
