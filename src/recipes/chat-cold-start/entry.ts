/** @file The chat-cold-start recipe as the command line knows it. */

import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { fewRows, meanRowTokens, supervisedMachine } from '../common/supervised-plan.ts'
import { type ChatColdStartConfig, chatColdStartSchema } from './config.ts'
import { demonstrations } from './demonstrations.ts'
import { freshChatModel } from './model.ts'

const plan = (config: ChatColdStartConfig): RunPlan => {
  const { source, format } = freshChatModel(config)
  const { steps, batch, judged, model } = config
  const machine = supervisedMachine(config, {
    shape: source.init.config,
    rowTokens: meanRowTokens(demonstrations(fewRows(config), format), steps),
  })
  return {
    lines: [
      `model        fresh weights, ${model.shape.layers} layers of ${model.shape.hiddenSize}, ${source.init.config.vocabSize} tokens`,
      `training     ${steps} steps of ${batch} demonstrations, ${100 * judged}% of them verdicts of a judge`,
      'evaluation   unseen requests, and unseen questions to the judge',
      ...machine.lines,
    ],
    json: { steps, batch, ...machine.json },
  }
}

export const chatColdStart: RecipeEntry<ChatColdStartConfig> = {
  name: 'chat-cold-start',
  summary:
    'supervised learning on short requests and on verdicts about answers: the small chat model that init train starts from',
  schema: chatColdStartSchema,
  presets: {
    start: { summary: 'the shipped model, models/chat-start', config: {} },
  },
  plan,
  run: async ({ recipe: _recipe, out: _out, ...config }, options) =>
    (await import('./run.ts')).runChatColdStart(config, options),
}
