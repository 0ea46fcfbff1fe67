/** @file Which questions rlcer trains on: settings. */

import { z } from 'zod'

export const taskSchema = z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('arithmetic') })])
export type RlcerTaskConfig = z.output<typeof taskSchema>
