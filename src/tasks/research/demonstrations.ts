/** @file Demonstrations of research agents, as files of supervised learning hold them: what the agent wrote, and what it was told. */

import { z } from 'zod'
import { type Recording, type RecordingFormat, readRecorded } from '../../util/recording-file.ts'
import { CALL_OUTCOMES } from './outcome.ts'
import { agentMessages } from './prompt.ts'
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

const messageSchema = z.strictObject({
  /** `tool`: what a tool said, or a reminder of a rule; nothing of it is learnt. */
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  /** How the call ended that a tool answers; `output` where absent. */
  outcome: z.enum(CALL_OUTCOMES).optional(),
})

export const demonstrationSchema = z.looseObject({
  id: z.string().optional(),
  /** Of an agent: its question, its tools and the rules that it was told; its prompt is made of them. */
  question: z.string().min(1).optional(),
  tools: z.array(toolSchema).optional(),
  rules: turnRulesSchema.optional(),
  messages: z.array(messageSchema).min(2),
})
export type Demonstration = z.output<typeof demonstrationSchema>

/** A row of an accepted trajectory. Tools' words stand as they were shown, made safe when they were recorded. */
export const demonstrationOf = (
  { id, attempt, question, reference, rounds }: RecordingRow,
  { tools, rules }: Pick<RecordingHeader, 'tools' | 'rules'>,
): Demonstration => ({
  id: `${id}/${attempt}`,
  question,
  ...(reference !== undefined && { reference }),
  tools,
  rules,
  messages: [
    ...(agentMessages(question, { tools, rules }) as { role: 'system' | 'user'; content: string }[]),
    ...rounds.flatMap(({ text, observation }) => [
      { role: 'assistant' as const, content: text },
      ...(observation === null
        ? []
        : [
            {
              role: 'tool' as const,
              content: observation.text,
              ...(observation.outcome !== undefined && { outcome: observation.outcome }),
            },
          ]),
    ]),
  ],
})
