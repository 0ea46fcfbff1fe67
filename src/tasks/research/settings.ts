/** @file The section `task` of research on real text. */

import { z } from 'zod'
import { toolsSchema } from '../../tools/index.ts'
import { natural } from '../../util/setting-shapes.ts'
import { turnRulesSchema } from './protocol.ts'
import { researchFilesShape } from './questions.ts'
import { TOOL_BOX_DEFAULTS } from './tool-box.ts'

export const researchTaskSchema = z.strictObject({
  kind: z.literal('research').describe('Questions of files, answered by search and tools.'),
  ...researchFilesShape,
  tools: toolsSchema
    .default([])
    .describe('Tools that an agent may call: MCP servers, local search indexes, search over HTTP.'),
  toolBox: z
    .strictObject({
      timeoutMs: z
        .number()
        .positive()
        .default(TOOL_BOX_DEFAULTS.timeoutMs)
        .describe('Longest time of one tool call.'),
      concurrency: natural.default(TOOL_BOX_DEFAULTS.concurrency).describe('Most tool calls at a time.'),
      maxChars: z
        .int()
        .min(200)
        .default(TOOL_BOX_DEFAULTS.maxChars)
        .describe("Most characters of a tool's output."),
    })
    .prefault({})
    .describe('Limits of tool calls.'),
  rules: turnRulesSchema
    .prefault({})
    .describe('Limits on the calls of an agent, and on turns that break a rule.'),
  callForm: z
    .enum(['auto', 'xml', 'template'])
    .default('auto')
    .describe(
      "How tool calls are written. `template`: as the model's chat template writes them; `xml`: in tags of our own; `auto`: by the template if it has such a form, else in tags.",
    ),
  scaffold: z.boolean().default(true).describe('Agents plan and review; false: neither.'),
  judgeAnswers: z
    .boolean()
    .optional()
    .describe(
      'In evaluations, also ask the judge whether an answer is correct, incorrect or not attempted, as SimpleQA does; absent: no.',
    ),
  maxPromptTokens: natural
    .default(8192)
    .describe(
      'Most tokens of a prompt. Questions with longer ones are left out; lessons that make one longer are cut.',
    ),
  maxTokens: natural
    .default(18_432)
    .describe('Most tokens of an attempt, with tool output; `rollout.maxTokens` limits a turn.'),
  maxOutputTokens: natural
    .default(2048)
    .describe('Most tokens of the output of a tool call; the rest is cut.'),
  maxReflectorTokens: natural
    .default(26_624)
    .describe(
      'Most tokens of the prompt of a reflector. If an attempt is too long for it, the middle of its parts is left out.',
    ),
  referenceCharacters: natural
    .default(4000)
    .describe('Most characters of each part of a lesson (question, rubrics, takeaways); the rest is cut.'),
})
export type ResearchSettings = z.output<typeof researchTaskSchema>
