/** @file The section `task` of research on real text. */

import { z } from 'zod'
import { toolsSchema } from '../../tools/index.ts'
import { natural } from '../../util/setting-shapes.ts'
import { turnRulesSchema } from './protocol.ts'
import { researchFilesShape } from './questions.ts'
import { TOOL_BOX_DEFAULTS } from './tool-box.ts'

export const researchTaskSchema = z.strictObject({
  kind: z.literal('research').describe('Which kind; each has keys of its own.'),
  ...researchFilesShape,
  tools: toolsSchema
    .default([])
    .describe('What an agent may call: MCP servers, local search indexes, search over HTTP.'),
  toolBox: z
    .strictObject({
      timeoutMs: z
        .number()
        .positive()
        .default(TOOL_BOX_DEFAULTS.timeoutMs)
        .describe('Longest time of one call.'),
      concurrency: natural.default(TOOL_BOX_DEFAULTS.concurrency).describe('Calls at a time.'),
      maxChars: z
        .int()
        .min(200)
        .default(TOOL_BOX_DEFAULTS.maxChars)
        .describe('Most characters of an answer that the model is shown.'),
    })
    .prefault({})
    .describe('Deadline of a call, calls under way at a time, most characters of what is said to one.'),
  rules: turnRulesSchema
    .prefault({})
    .describe('Calls that an agent may make, and breaks of a rule that are answered with a reminder.'),
  callForm: z
    .enum(['auto', 'xml', 'template'])
    .default('auto')
    .describe(
      "How calls are written: as the model's chat template has it where that can be read (`auto`, `template`), or in tags of our own.",
    ),
  scaffold: z.boolean().default(true).describe('False: agents without plan and review.'),
  judgeAnswers: z
    .boolean()
    .optional()
    .describe(
      'Evaluations ask the judge too whether an answer is correct, incorrect or not attempted, as SimpleQA does; absent: they do not.',
    ),
  maxPromptTokens: natural
    .default(8192)
    .describe('Questions with longer prompts are left out; lessons that make one longer are cut.'),
  maxTokens: natural
    .default(18_432)
    .describe('Tokens of an attempt in all, tool output included; `rollout.maxTokens` is for a turn.'),
  maxOutputTokens: natural.default(2048).describe('Tokens of what a tool says.'),
  maxReflectorTokens: natural
    .default(26_624)
    .describe(
      'Longest prompt of a reflector: of an attempt that is too long for it, the middle of its parts is left out.',
    ),
  referenceCharacters: natural
    .default(4000)
    .describe('Characters of each part of a lesson (question, rubrics, takeaways) that are shown.'),
})
export type ResearchSettings = z.output<typeof researchTaskSchema>
