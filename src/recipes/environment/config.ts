/** @file Configuration of the environment recipe. */

import { z } from 'zod'
import { conversationFilesShape } from '../../tasks/conversation/settings.ts'
import { openEnvTaskShape } from '../../tasks/openenv/index.ts'
import { TOOL_BOX_DEFAULTS, turnRulesSchema } from '../../tasks/research/index.ts'
import { toolsSchema } from '../../tools/index.ts'
import {
  choice,
  kindSchema,
  lossSetting,
  modelSchema,
  orNull,
  recipeSetting,
  reinforcementShape,
  rolloutSetting,
} from '../../train/config.ts'
import { natural, positive } from '../../util/setting-shapes.ts'
import { sampledEvaluationShape } from '../common/evaluation-config.ts'
import { heldOutJudge } from '../options/held-out-judge.ts'

export const openEnvKindSchema = kindSchema('openenv', 'Episodes on an OpenEnv server.', {
  ...openEnvTaskShape,
  rubric: orNull(
    z.string(),
    'File with one rubric for all episodes; the judge sees the whole episode. null: none.',
  ),
})

export const toolsTaskSchema = kindSchema('tools', 'Rows of files, answered in several turns with tools.', {
  ...conversationFilesShape,
  tools: toolsSchema
    .default([])
    .describe('Tools that the policy may call: MCP servers, local search indexes, search over HTTP.'),
  toolTimeoutMs: positive.default(TOOL_BOX_DEFAULTS.timeoutMs).describe('Longest time of one tool call.'),
  rules: turnRulesSchema
    .prefault({})
    .describe('Limits on the calls of an episode, and on turns that break a rule.'),
  callForm: choice(
    ['auto', 'xml', 'template'],
    'auto',
    "How tool calls are written. `template`: as the model's chat template writes them; `xml`: in tags of our own; `auto`: by the template if it has such a form, else in tags.",
  ),
  maxTokens: natural
    .default(4096)
    .describe('Most tokens of an episode, with tool output; `rollout.maxTokens` limits a turn.'),
  maxOutputTokens: natural
    .default(1024)
    .describe('Most tokens of the output of a tool call; the rest is cut.'),
})

const rewardSchema = z.strictObject({
  environment: z.number().default(1).describe("Weight of the environment's own reward."),
  rubric: z.number().default(1).describe("Weight of the rubric's score, if there is a rubric."),
  of: choice(
    ['sum', 'last'],
    'sum',
    "The environment's own reward of an episode: the sum of its steps' rewards, or the last one.",
  ),
})

export const environmentSchema = z.strictObject({
  recipe: recipeSetting('environment'),
  ...reinforcementShape,
  model: modelSchema.omit({ shape: true }).prefault({}).describe('The model to start from.'),
  task: z
    .discriminatedUnion('kind', [openEnvKindSchema, toolsTaskSchema])
    .prefault({ kind: 'openenv', url: 'http://127.0.0.1:8000' })
    .describe('The environment to train in.'),
  reward: rewardSchema.prefault({}).describe('How an episode is rewarded.'),
  ...heldOutJudge.shape,
  loss: lossSetting('gradus:ruscarl'),
  rollout: rolloutSetting({ prompts: 8, samples: 8, maxTokens: 256 }),
  evaluation: z
    .strictObject(sampledEvaluationShape)
    .prefault({ problems: 16, problemsBetween: 16 })
    .describe('When and how the model is tested.'),
})

export type EnvironmentConfig = z.output<typeof environmentSchema>
export type OpenEnvConfig = Extract<EnvironmentConfig['task'], { kind: 'openenv' }>
export type ToolsTaskConfig = Extract<EnvironmentConfig['task'], { kind: 'tools' }>
