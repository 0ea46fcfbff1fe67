/** @file The logic-cold-start recipe as the command line knows it. */

import { modelTensors } from '../../policy/local/parameters.ts'
import { coldStartMemory, formatCount, memoryLines } from '../estimate.ts'
import type { RecipeEntry, RunPlan } from '../recipe.ts'
import { type LogicColdStartConfig, logicColdStartSchema } from './config.ts'
import { logicModelConfig } from './model.ts'
import { runLogicColdStart } from './run.ts'

const plan = (config: LogicColdStartConfig): RunPlan => {
  const { model, batch, steps, curriculum, wording, start, engine } = config
  const shape = logicModelConfig(model.shape)
  const { total } = modelTensors(shape, null, false)
  const memory = coldStartMemory(shape, engine)
  return {
    lines: [
      `model        ${start ?? `fresh weights, ${formatCount(total)} parameters (${shape.layers} layers of ${shape.hiddenSize})`}`,
      `training     ${steps} steps of ${batch} demonstrations, curriculum ${curriculum.kind}, wording ${wording}`,
      `evaluation   ${config.evaluation.problems} problems for each of ${config.evaluation.hops.join(', ')} hops at the end`,
      ...memoryLines(memory),
    ],
    json: { steps, batch, parameters: total, memoryBytes: memory },
  }
}

export const logicColdStart: RecipeEntry<LogicColdStartConfig> = {
  name: 'logic-cold-start',
  summary: 'supervised learning on generated logic proofs: the model that reinforcement starts from',
  schema: logicColdStartSchema,
  presets: {
    short: {
      summary: 'proofs of one to three hops only, about a million parameters',
      config: { curriculum: { kind: 'short-proofs', maxHops: 3 } },
    },
    growing: {
      summary: 'proofs that grow to five hops',
      config: { curriculum: { kind: 'growing' }, steps: 3000 },
    },
  },
  plan,
  run: ({ recipe: _recipe, out: _out, ...config }, options) => runLogicColdStart(config, options),
}
