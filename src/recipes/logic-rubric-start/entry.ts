/** @file The logic-rubric-start recipe as the command line knows it. */

import { LOGIC_RUBRIC_VOCABULARY } from '../../tasks/logic/thinking/index.ts'
import { withDataFiles } from '../common/data-files.ts'
import { knownShape } from '../common/known-models.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { supervisedMachine } from '../common/supervised-plan.ts'
import { checkLogicRubricStart } from './check.ts'
import { type LogicRubricStartConfig, logicRubricStartSchema } from './config.ts'

const plan = (config: LogicRubricStartConfig): RunPlan => {
  checkLogicRubricStart(config, 'plan')
  const { start, steps, batch, rubricators, hinted, reasoners, maxPositions } = config
  const tokens = LOGIC_RUBRIC_VOCABULARY.length
  const shape = knownShape(start)
  const machine = supervisedMachine(config, {
    shape: shape && { ...shape, vocabSize: tokens, maxPositions },
    ...{ rowTokens: maxPositions, atMost: true },
    sampledTokens: reasoners.problems * reasoners.samples * reasoners.maxTokens,
  })
  return {
    lines: [
      `model        ${start}, its vocabulary grown to ${tokens} tokens, its context to ${maxPositions} places`,
      `own work     ${reasoners.samples} responses to each of ${reasoners.problems} problems; kept: ${reasoners.keep}`,
      `training     ${steps} steps of ${batch} demonstrations, ${100 * rubricators}% of them rubrics, ${100 * hinted}% of the others with hints`,
      'evaluation   unseen problems, hints that are to be followed, rubrics of the grammar',
      ...machine.lines,
    ],
    json: { steps, batch, tokens, responses: reasoners.problems * reasoners.samples, ...machine.json },
  }
}

export const logicRubricStart: RecipeEntry<LogicRubricStartConfig> = withDataFiles({
  name: 'logic-rubric-start',
  summary:
    'supervised learning on a logic model’s own proofs and on rubrics about them: what rlcer starts from on the logic task',
  schema: logicRubricStartSchema,
  presets: {
    start: { summary: 'from models/logic-start, problems of three to five hops', config: {} },
    short: {
      summary: 'problems of two and three hops on short chains, a few minutes on one core',
      config: {
        steps: 300,
        problems: { hops: [2, 3], nodes: [4, 5] },
        reasoners: { problems: 500 },
        evaluation: { problems: 150 },
      },
    },
  },
  plan,
  run: async ({ recipe: _recipe, out: _out, ...config }, options) =>
    (await import('./run.ts')).runLogicRubricStart(config, options),
})
