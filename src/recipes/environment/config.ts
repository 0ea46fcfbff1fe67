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
import { trainingJudgeSchema } from '../options/held-out-judge.ts'

export const openEnvKindSchema = kindSchema('openenv', {
  ...openEnvTaskShape,
  rubric: orNull(
    z.string(),
    'File with one rubric for all episodes, judged on everything that was said in one; null: none.',
  ),
})

export const toolsTaskSchema = kindSchema('tools', {
  ...conversationFilesShape,
  tools: toolsSchema
    .default([])
    .describe('What the policy may call: MCP servers, local search indexes, search over HTTP.'),
  toolTimeoutMs: positive.default(TOOL_BOX_DEFAULTS.timeoutMs).describe('Longest time of one call.'),
  rules: turnRulesSchema
    .prefault({})
    .describe('Calls that an episode may make, and breaks of a rule that are answered with a reminder.'),
  callForm: choice(
    ['auto', 'xml', 'template'],
    'auto',
    "How calls are written: as the model's chat template has it where that can be read (`auto`, `template`), or in tags of our own.",
  ),
  maxTokens: natural
    .default(4096)
    .describe('Tokens of an episode, tool output included; `rollout.maxTokens` is for a turn.'),
  maxOutputTokens: natural.default(1024).describe('Tokens of what a tool says.'),
})

const rewardSchema = z.strictObject({
  environment: z.number().default(1).describe("Weight of the environment's own reward."),
  rubric: z.number().default(1).describe('Weight of the score by the rubric, where there is one.'),
  of: choice(
    ['sum', 'last'],
    'sum',
    "What an episode's own reward is: the sum of its steps' rewards, or the last one.",
  ),
})

export const environmentSchema = z.strictObject({
  recipe: recipeSetting('environment'),
  ...reinforcementShape,
  model: modelSchema.omit({ shape: true }).prefault({}).describe('The model to start from.'),
  task: z
    .discriminatedUnion('kind', [openEnvKindSchema, toolsTaskSchema])
    .prefault({ kind: 'openenv', url: 'http://127.0.0.1:8000' })
    .describe('What is acted in.'),
  reward: rewardSchema.prefault({}).describe('What an episode is paid for.'),
  judge: orNull(trainingJudgeSchema, 'Who judges criteria that no rule checks.'),
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
