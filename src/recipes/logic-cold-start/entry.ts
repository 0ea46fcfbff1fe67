/** @file The logic-cold-start recipe as the command line knows it. */

import { modelTensors } from '../../policy/local/parameters.ts'
import { formatCount } from '../../util/format.ts'
import { coldStartMemory, memoryLines } from '../common/estimate.ts'
import { knownShape } from '../common/known-models.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { checkLogicColdStart } from './check.ts'
import { type LogicColdStartConfig, logicColdStartSchema } from './config.ts'
import { logicModelConfig } from './model.ts'
import { coldStartVocabulary } from './recipe.ts'
import { runLogicColdStart } from './run.ts'

const plan = (config: LogicColdStartConfig): RunPlan => {
  const { model, batch, steps, curriculum, wording, start, policy } = config
  checkLogicColdStart(config)
  const shape =
    (start === null ? null : knownShape(start)) ?? logicModelConfig(model.shape, coldStartVocabulary(config))
  const { total } = modelTensors(shape, null, false)
  const memory = coldStartMemory(shape, policy)
  return {
    lines: [
      `model        ${start ?? `fresh weights, ${formatCount(total)} parameters (${shape.layers} layers of ${shape.hiddenSize})`}`,
      `training     ${steps} steps of ${batch} demonstrations, curriculum ${curriculum.kind}, wording ${wording}`,
      `evaluation   ${config.evaluation.problems} problems for each of ${config.evaluation.hops.join(', ')} hops at the end`,
      ...memoryLines(memory, { ...policy, sequence: shape.maxPositions }),
    ],
    json: { steps, batch, parameters: total, memoryBytes: memory },
  }
}

/**
 * Short chains first, then chains like the real rows; in the last eighth a sixth of the demonstrations have four or five hops,
 * so that a five-hop proof is rare but not unheard of when reinforcement begins.
 */
const START = {
  steps: 1500,
  curriculum: {
    kind: 'custom',
    sources: [
      { hops: 2, nodes: [3, 4] },
      { hops: 3, nodes: [4, 5] },
      { hops: 1 },
      { hops: 2 },
      { hops: 3 },
      { hops: 4 },
      { hops: 5 },
    ],
    knots: [
      { at: 0, weights: [1, 2, 0, 0, 0, 0, 0] },
      { at: 0.25, weights: [0.3, 2, 0.1, 0.1, 0.5, 0, 0] },
      { at: 0.4, weights: [0.1, 0.5, 0.3, 0.4, 2, 0, 0] },
      { at: 0.86, weights: [0, 0.1, 0.3, 0.4, 2, 0, 0] },
      { at: 0.88, weights: [0, 0, 0.3, 0.4, 2, 0.3, 0.3] },
      { at: 1, weights: [0, 0, 0.3, 0.4, 2, 0.3, 0.3] },
    ],
  },
  optimizer: { learningRate: { kind: 'cosine', peak: 1.5e-3, warmup: 50, floor: 0.1 } },
  evaluation: { hops: [3, 5] },
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
    start: {
      summary:
        'what made models/logic-start: mostly proofs of up to three hops, a taste of longer ones at the end',
      config: START,
    },
    growing: {
      summary: 'proofs that grow to five hops',
      config: { curriculum: { kind: 'growing' }, steps: 3000 },
    },
  },
  plan,
  run: ({ recipe: _recipe, out: _out, ...config }, options) => runLogicColdStart(config, options),
}
