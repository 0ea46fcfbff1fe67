/** @file Recorded trajectories of research agents: what a line of their file is. */

import { z } from 'zod'
import { type Recording, type RecordingFormat, readRecorded } from '../../util/recording-file.ts'
import { CALL_OUTCOMES } from './outcome.ts'
import { turnRulesSchema } from './protocol.ts'

const toolSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
})

const headerSchema = z.strictObject({
  gradus: z.literal('trajectories'),
  version: z.literal(1),
  /** Name of the model. */
  teacher: z.string(),
  sampling: z.record(z.string(), z.unknown()),
  rules: turnRulesSchema,
  /** False: without plan, evaluations and review. */
  scaffold: z.boolean().default(true),
  tools: z.array(toolSchema),
})
/** What all attempts of a file have in common. */
export type RecordingHeader = z.output<typeof headerSchema>

const tokens = z.number().nonnegative().nullable()

const rowSchema = z.looseObject({
  id: z.string(),
  attempt: z.int().positive(),
  question: z.string(),
  reference: z.union([z.string(), z.array(z.string())]).optional(),
  ended: z.enum(['answered', 'too-many-breaks', 'cut-off']).optional(),
  rounds: z.array(
    z.strictObject({
      text: z.string(),
      observation: z
        .strictObject({ text: z.string(), isError: z.boolean(), outcome: z.enum(CALL_OUTCOMES).optional() })
        .nullable(),
    }),
  ),
  usage: z.object({ promptTokens: tokens, completionTokens: tokens, cachedTokens: tokens }).optional(),
})
export type RecordingRow = z.output<typeof rowSchema>

export const TRAJECTORIES: RecordingFormat<RecordingHeader, RecordingRow> = {
  kind: 'trajectories',
  words: { what: 'trajectories', command: 'gradus trajectories record' },
  header: headerSchema,
  row: rowSchema,
}

/** Reads recorded trajectories; see `readRecorded`. */
export const readRecording = (
  path: string,
  options: { torn?: boolean } = {},
): Recording<RecordingHeader, RecordingRow> => readRecorded(TRAJECTORIES, path, options)
