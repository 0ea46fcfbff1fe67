/** @file The checklist-cold-start recipe as the command line knows it. */

import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { type ChecklistColdStartConfig, checklistColdStartSchema } from './config.ts'
import { checkChecklistColdStart, runChecklistColdStart } from './run.ts'

const plan = (config: ChecklistColdStartConfig): RunPlan => {
  checkChecklistColdStart(config)
  const { shape } = config.model
  const { steps, batch, hinted } = config
  return {
    lines: [
      `model        fresh weights, ${shape.layers} layers of ${shape.hiddenSize}`,
      `training     ${steps} steps of ${batch} demonstrations, ${100 * hinted}% of them with hints`,
      'evaluation   unseen trips, on the plain prompt and with the whole rubric as a scaffold',
    ],
    json: { steps, batch },
  }
}

export const checklistColdStart: RecipeEntry<ChecklistColdStartConfig> = {
  name: 'checklist-cold-start',
  summary: 'supervised learning on packing lists: the model that ruscarl starts from',
  schema: checklistColdStartSchema,
  presets: { start: { summary: 'habit and following hints, about ten minutes on one core', config: {} } },
  plan,
  run: ({ recipe: _recipe, out: _out, ...config }, options) => runChecklistColdStart(config, options),
}
