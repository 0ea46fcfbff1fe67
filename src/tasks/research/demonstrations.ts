/** @file Demonstrations of research agents, as files of supervised learning hold them: what the agent wrote, and what it was told. */

import { z } from 'zod'
import { CALL_OUTCOMES } from './outcome.ts'
import { agentMessages } from './prompt.ts'
import { turnRulesSchema } from './protocol.ts'
import type { RecordingHeader, RecordingRow } from './trajectory-file.ts'

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
  tools: z
    .array(
      z.strictObject({
        name: z.string(),
        description: z.string(),
        parameters: z.record(z.string(), z.unknown()),
      }),
    )
    .optional(),
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
