/** @file What of an OpenEnv server's observations a model is shown, and how its turns become actions. */

import { z } from 'zod'
import { openEnvShape } from '../../tools/index.ts'
import { writtenOut } from '../../util/secret-words.ts'
import { natural } from '../../util/setting-shapes.ts'

const actionSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('text').describe('The whole turn is the value of one field.'),
      field: z.string().min(1).default('message').describe('Field of the action that holds it.'),
    }),
    z.strictObject({
      kind: z.literal('tag').describe('What stands in the last `<tag>` of a turn is the value of one field.'),
      tag: z
        .string()
        .regex(/^[a-z][\w-]*$/i)
        .default('action')
        .describe('Name of the tag.'),
      field: z.string().min(1).default('message').describe('Field of the action that holds it.'),
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
  test: natural.max(100_000).default(16).describe('Episodes for evaluation, by the seeds after those.'),
  firstSeed: z.int().min(0).default(0).describe('First seed that `reset` is given.'),
  reset: z
    .record(z.string(), z.unknown())
    .refine(fields => writtenOut(fields) === undefined, {
      error: ({ input }) =>
        `no secret written out, as that of ${writtenOut(input)}, which would be kept with the run; give it to the server itself, or write it into headers as {env: NAME}`,
    })
    .default({})
    .describe('What else `reset` is given, beside the seed.'),
  prompt: z
    .string()
    .default('{}')
    .describe(
      'What a model is shown of the first observation: text with `{path.of.a.field}` in it; `{}` is the whole observation.',
    ),
  observation: z
    .string()
    .nullable()
    .default(null)
    .describe('The same for the observations after that; null: as `prompt`.'),
  action: actionSchema,
  format: z
    .enum(['auto', 'chat', 'plain'])
    .default('auto')
    .describe(
      "`chat`: observations are what a person says, by the model's chat template. `plain`: words as they are, for models without one.",
    ),
  maxTurns: natural.max(1000).default(8).describe('Turns that an episode may take.'),
  maxTokens: natural
    .default(2048)
    .describe('Tokens of an episode, observations included; `rollout.maxTokens` is for a turn.'),
  maxObservationTokens: natural.default(512).describe('Most tokens of what an observation says.'),
}

export const openEnvTaskSchema = z.strictObject(openEnvTaskShape)
export type OpenEnvTaskSettings = z.output<typeof openEnvTaskSchema>
