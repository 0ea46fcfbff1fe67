/** @file The learned-verifier recipe as the command line knows it. */

import { withDataFiles } from '../common/data-files.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { supervisedMachine } from '../common/supervised-plan.ts'
import { checkLearnedVerifier, verifierSizes } from './check.ts'
import { type LearnedVerifierConfig, learnedVerifierSchema } from './config.ts'

const plan = (config: LearnedVerifierConfig): RunPlan => {
  const labels = checkLearnedVerifier(config, 'plan')
  const { data, steps, batch, vocabulary } = config
  const { shape } = config.model
  const machine = supervisedMachine(config, verifierSizes(config, labels))
  return {
    lines: [
      `model        fresh weights, ${shape.layers} layers of ${shape.hiddenSize}, at most ${vocabulary.size} words`,
      `training     ${steps} steps of ${batch} labelled rows from ${data.file}${labels === null ? ' (not there yet: put the rows into this file)' : ''}`,
      `evaluation   on the rows of ${100 * data.heldOut}% of the prompts, which training does not see`,
      ...machine.lines,
    ],
    json: { steps, batch, file: data.file, ...machine.json },
  }
}

export const learnedVerifier: RecipeEntry<LearnedVerifierConfig> = withDataFiles(
  {
    name: 'learned-verifier',
    summary:
      'a small classifier of (criterion, response) trained on labelled verdicts: a judge without a service',
    schema: learnedVerifierSchema,
    presets: {
      small: { summary: 'two layers of 96, a few minutes on 2 cores', config: {} },
      wide: {
        summary: 'four layers of 160, for more and longer rows',
        config: {
          steps: 1500,
          model: { shape: { hiddenSize: 160, layers: 4, heads: 5, maxPositions: 512 } },
        },
      },
    },
    plan,
    run: async (config, options) => (await import('./run.ts')).runLearnedVerifier(config, options),
  },
  ({ data: { file, columns } }) => [{ path: file, columns }],
)
