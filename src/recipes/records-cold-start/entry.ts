/** @file The records-cold-start recipe as the command line knows it. */

import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { fewRows, meanRowTokens, supervisedMachine } from '../common/supervised-plan.ts'
import { checkRecordsColdStart } from './check.ts'
import { type RecordsColdStartConfig, recordsColdStartSchema } from './config.ts'
import { demonstrations } from './demonstrations.ts'

const plan = (config: RecordsColdStartConfig): RunPlan => {
  const source = checkRecordsColdStart(config)
  const { shape } = config.model
  const { steps, batch, reflectors, referred, scaffold } = config
  const machine = supervisedMachine(config, {
    shape: source.init!.config,
    rowTokens: meanRowTokens(demonstrations(fewRows(config)), steps),
  })
  return {
    lines: [
      `model        fresh weights, ${shape.layers} layers of ${shape.hiddenSize}`,
      `training     ${steps} steps of ${batch} demonstrations, ${100 * reflectors}% of them reflections, ${100 * referred}% of the others with lessons`,
      `scaffold     ${scaffold ? 'plan, research, review, answer' : 'none: idle thinking of the same length'}`,
      'evaluation   unseen questions, without lessons and with true ones, and reflections',
      ...machine.lines,
    ],
    json: { steps, batch, ...machine.json },
  }
}

export const recordsColdStart: RecipeEntry<RecordsColdStartConfig> = {
  name: 'records-cold-start',
  summary:
    'supervised learning on look-ups that depend on each other, and lessons about them: the model that rubricem starts from',
  schema: recordsColdStartSchema,
  presets: {
    start: { summary: 'mixed habits of research, and reflections on them', config: {} },
  },
  plan,
  run: async ({ recipe: _recipe, out: _out, ...config }, options) =>
    (await import('./run.ts')).runRecordsColdStart(config, options),
}
