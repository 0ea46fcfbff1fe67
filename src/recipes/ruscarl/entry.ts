/** @file The ruscarl recipe as the command line knows it. */

import type { RecipeEntry, RunPlan } from '../recipe.ts'
import { type RuscarlConfig, ruscarlSchema } from './config.ts'
import { presets } from './presets.ts'
import { runRuscarl } from './run.ts'

const plan = (config: RuscarlConfig): RunPlan => {
  const { coldStart, model, steps, rollout, scaffold, noise, ratio } = config
  return {
    lines: [
      `model        ${coldStart === null ? (model.folder ?? 'none: set model.folder') : `cold start of ${coldStart.steps} steps, in this run`}`,
      `training     ${steps} steps of ${rollout.prompts} prompts x ${rollout.samples} samples, at most ${rollout.maxTokens} tokens each`,
      `scaffold     ${scaffold.group.kind} in the group, ${scaffold.decay.kind} over the steps, ratio ${ratio}`,
      `rubrics      ${noise === 'none' ? 'as they are' : noise}`,
    ],
    json: { steps, prompts: rollout.prompts, samples: rollout.samples },
  }
}

export const ruscarlEntry: RecipeEntry<RuscarlConfig> = {
  name: 'ruscarl',
  summary: 'rubrics as scaffolding while exploring, and as rewards (RuscaRL)',
  schema: ruscarlSchema,
  presets,
  plan,
  run: (config, options) => runRuscarl(config, options),
}
