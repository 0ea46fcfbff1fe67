/** @file What of an OpenEnv server's observations a model is shown, and how its turns become actions. */

import { z } from 'zod'
import { openEnvShape } from '../../tools/index.ts'
import { writtenOut } from '../../util/secret-words.ts'
import { natural } from '../../util/setting-shapes.ts'

const actionSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('text').describe('The whole turn is the value of one field.'),
      field: z.string().min(1).default('message').describe('Field of the action that holds this text.'),
    }),
    z.strictObject({
      kind: z.literal('tag').describe('The text in the last `<tag>` of a turn is the value of one field.'),
      tag: z
        .string()
        .regex(/^[a-z][\w-]*$/i)
        .default('action')
        .describe('Name of the tag.'),
      field: z.string().min(1).default('message').describe('Field of the action that holds this text.'),
    }),
    z.strictObject({
      kind: z.literal('json').describe('The last JSON object of a turn is the action.'),
    }),
  ])
  .prefault({ kind: 'text' })
  .describe('How a turn becomes an action.')

export type ActionSettings = z.output<typeof actionSchema>

export const openEnvTaskShape = {
  ...openEnvShape,
  train: natural
    .max(100_000)
    .default(64)
    .describe('Episodes to train on: one for each seed from `firstSeed` on.'),
  test: natural
    .max(100_000)
    .default(16)
    .describe('Episodes for evaluation: one for each of the seeds after those.'),
  firstSeed: z.int().min(0).default(0).describe('First seed that `reset` is given.'),
  reset: z
    .record(z.string(), z.unknown())
    .refine(fields => writtenOut(fields) === undefined, {
      error: ({ input }) =>
        `no secret written out, as that of ${writtenOut(input)}, which would be kept with the run; give it to the server itself, or write it into headers as {env: NAME}`,
    })
    .default({})
    .describe('Arguments of `reset` beside the seed.'),
  prompt: z
    .string()
    .default('{}')
    .describe(
      'How the first observation is shown to the model: text with `{path.of.a.field}` in it; `{}` is the whole observation.',
    ),
  observation: z
    .string()
    .nullable()
    .default(null)
    .describe('How later observations are shown; null: as `prompt`.'),
  action: actionSchema,
  format: z
    .enum(['auto', 'chat', 'plain'])
    .default('auto')
    .describe(
      "`chat`: observations are user messages of the model's chat template; `plain`: plain text; `auto`: `chat` if the model has a template.",
    ),
  maxTurns: natural.max(1000).default(8).describe('Most turns of an episode.'),
  maxTokens: natural
    .default(2048)
    .describe('Most tokens of an episode, with observations; `rollout.maxTokens` limits a turn.'),
  maxObservationTokens: natural.default(512).describe('Most tokens of an observation; the rest is cut.'),
}

export const openEnvTaskSchema = z.strictObject(openEnvTaskShape)
export type OpenEnvTaskSettings = z.output<typeof openEnvTaskSchema>
