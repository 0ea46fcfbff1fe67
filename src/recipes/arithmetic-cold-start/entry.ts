/** @file The arithmetic-cold-start recipe as the command line knows it. */

import { withDataFiles } from '../common/data-files.ts'
import { knownShape } from '../common/known-models.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { fewRows, meanRowTokens, supervisedMachine } from '../common/supervised-plan.ts'
import { arithmeticModelConfig } from '../reasoning/arithmetic.ts'
import { checkArithmeticColdStart } from './check.ts'
import { type ArithmeticColdStartConfig, arithmeticColdStartSchema } from './config.ts'
import { demonstrations } from './demonstrations.ts'

const plan = (config: ArithmeticColdStartConfig): RunPlan => {
  checkArithmeticColdStart(config, 'plan')
  const { shape } = config.model
  const { start, steps, labels, batch, rubricators, hinted } = config
  const machine = supervisedMachine(config, {
    shape: start === null ? arithmeticModelConfig(shape) : knownShape(start),
    rowTokens: meanRowTokens(demonstrations(fewRows(config)), steps),
  })
  return {
    lines: [
      `model        ${start ?? `fresh weights, ${shape.layers} layers of ${shape.hiddenSize}`}`,
      `training     ${steps} steps of ${batch} demonstrations, ${100 * rubricators}% of them rubrics, ${100 * hinted}% of the others with hints`,
      'evaluation   unseen problems, without hints and with hints that are to be followed',
      ...(labels > 0 ? [`labels       ${labels} rows for a learned verifier, in labels.jsonl`] : []),
      ...machine.lines,
    ],
    json: { steps, batch, ...machine.json },
  }
}

export const arithmeticColdStart: RecipeEntry<ArithmeticColdStartConfig> = withDataFiles({
  name: 'arithmetic-cold-start',
  summary:
    'supervised learning on chains of arithmetic and rubrics about them: the model that rlcer starts from',
  schema: arithmeticColdStartSchema,
  presets: {
    start: {
      summary: 'mixed habits of thinking, and rubrics for them, about twenty minutes on one core',
      config: {},
    },
  },
  plan,
  run: async ({ recipe: _recipe, out: _out, ...config }, options) =>
    (await import('./run.ts')).runArithmeticColdStart(config, options),
})
