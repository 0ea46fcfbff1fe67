/** @file The rubricem recipe as the command line knows it. */

import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { check } from './check.ts'
import { type RubricemConfig, rubricemSchema } from './config.ts'
import { presets } from './presets.ts'
import { runRubricem } from './run.ts'

const plan = (config: RubricemConfig): RunPlan => {
  check(config, 'plan')
  const { steps, rollout, reflection, window, credit, memory } = config
  return {
    lines: [
      `training     ${steps} steps of ${rollout.prompts} questions x ${rollout.samples} agents, ${reflection.enabled ? `${reflection.candidates} reflections a question of fresh batches` : 'no reflections'}`,
      `credit       ${credit.mode === 'stages' ? 'by stage' : "the answer's, for every token"}`,
      `memory       ${memory.kind === 'none' ? 'none' : `a bank; windows of ${window.steps} fresh batches that are repeated`}`,
    ],
    json: { steps },
  }
}

export const rubricemEntry: RecipeEntry<RubricemConfig> = {
  name: 'rubricem',
  summary:
    'research agents with credit by stage, a judge whose rubrics evolve, reflection and memory (RubricEM)',
  schema: rubricemSchema,
  presets,
  plan,
  run: (config, options) => runRubricem(config, options),
}
