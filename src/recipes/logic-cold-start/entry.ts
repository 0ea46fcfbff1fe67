/** @file The logic-cold-start recipe as the command line knows it. */

import { modelTensors } from '../../policy/local/weight-sizes.ts'
import { formatCount } from '../../util/format.ts'
import { withDataFiles } from '../common/data-files.ts'
import { knownShape } from '../common/known-models.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { fewRows, meanRowTokens, supervisedMachine } from '../common/supervised-plan.ts'
import { checkLogicColdStart } from './check.ts'
import { type LogicColdStartConfig, logicColdStartSchema } from './config.ts'
import { logicModelConfig } from './model.ts'
import { presets } from './presets.ts'
import { coldStartVocabulary, demonstrations } from './recipe.ts'

const plan = (config: LogicColdStartConfig): RunPlan => {
  const { model, batch, steps, curriculum, wording, start } = config
  checkLogicColdStart(config)
  const shape =
    (start === null ? null : knownShape(start)) ?? logicModelConfig(model.shape, coldStartVocabulary(config))
  const { total } = modelTensors(shape, null, false)
  const draw = demonstrations(fewRows(config), coldStartVocabulary(config).length)
  const machine = supervisedMachine(config, { shape, rowTokens: meanRowTokens(step => draw(step), steps) })
  return {
    lines: [
      `model        ${start ?? `fresh weights, ${formatCount(total)} parameters (${shape.layers} layers of ${shape.hiddenSize})`}`,
      `training     ${steps} steps of ${batch} demonstrations, curriculum ${curriculum.kind}, wording ${wording}`,
      `evaluation   ${config.evaluation.problems} problems for each of ${config.evaluation.hops.join(', ')} hops at the end`,
      ...machine.lines,
    ],
    json: { steps, batch, parameters: total, ...machine.json },
  }
}

export const logicColdStart: RecipeEntry<LogicColdStartConfig> = withDataFiles(
  {
    name: 'logic-cold-start',
    summary: 'supervised learning on generated logic proofs: the model that reinforcement starts from',
    schema: logicColdStartSchema,
    presets,
    plan,
    run: async ({ recipe: _recipe, out: _out, ...config }, options) =>
      (await import('./run.ts')).runLogicColdStart(config, options),
  },
  ({ evaluation: { realFile } }) => [{ path: realFile }],
)
