/** @file The checklist-cold-start recipe as the command line knows it. */

import { PackingWorld } from '../../tasks/checklist/index.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { fewRows, meanRowTokens, supervisedMachine } from '../common/supervised-plan.ts'
import { checkChecklistColdStart } from './check.ts'
import { type ChecklistColdStartConfig, checklistColdStartSchema } from './config.ts'
import { demonstrations } from './demonstrations.ts'

const plan = (config: ChecklistColdStartConfig): RunPlan => {
  const source = checkChecklistColdStart(config)
  const { shape } = config.model
  const { steps, batch, hinted } = config
  const machine = supervisedMachine(config, {
    shape: source.init!.config,
    rowTokens: meanRowTokens(demonstrations(fewRows(config), new PackingWorld(config.world)), steps),
  })
  return {
    lines: [
      `model        fresh weights, ${shape.layers} layers of ${shape.hiddenSize}`,
      `training     ${steps} steps of ${batch} demonstrations, ${100 * hinted}% of them with hints`,
      'evaluation   unseen trips, on the plain prompt and with the whole rubric as a scaffold',
      ...machine.lines,
    ],
    json: { steps, batch, ...machine.json },
  }
}

export const checklistColdStart: RecipeEntry<ChecklistColdStartConfig> = {
  name: 'checklist-cold-start',
  summary: 'supervised learning on packing lists: the model that ruscarl starts from',
  schema: checklistColdStartSchema,
  presets: { start: { summary: 'habit and following hints, about ten minutes on one core', config: {} } },
  plan,
  run: async ({ recipe: _recipe, out: _out, ...config }, options) =>
    (await import('./run.ts')).runChecklistColdStart(config, options),
}
