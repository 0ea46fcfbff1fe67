/** @file The rubric-as-reward recipe as the command line knows it. */

import { longestPrompt } from '../../tasks/logic/lengths.ts'
import { formatInteger } from '../../util/format.ts'
import { type DataFile, withDataFiles } from '../common/data-files.ts'
import { shorterStart } from '../common/evaluation-config.ts'
import { methodPlan, stepTokens } from '../common/plan.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { optionLines } from '../options/options.ts'
import { checkRubricAsReward, modelOf } from './check.ts'
import {
  type RubricAsRewardConfig,
  rubricAsRewardSchema,
  type SourceSettings,
  trainingSteps,
} from './config.ts'
import { primarySet } from './evaluation.ts'
import { goalOf } from './lengths.ts'
import { rubricAsRewardPresets } from './presets.ts'
import { testSources, trainingSources } from './problems.ts'
import { conditionWeights } from './rewards.ts'
import { describeSmallerTest, describeSources, sourceSizes } from './sources.ts'

/** Tokens of a prompt, roughly: 15 sentences as words, or with instructions through a chat template. */
const PROMPT_TOKENS = { miniature: 130, chat: 600 }

const rewardLine = ({ condition, weights, credit, method }: RubricAsRewardConfig): string => {
  const used = Object.entries(weights ?? conditionWeights(condition))
  const sum = used.map(([id, weight]) => `${Number(weight.toFixed(3))} ${id}`).join(' + ')
  const how = method === 'rejection' ? 'rejection' : `${credit} credit, ${method}`
  return `${condition}${sum === '' ? '' : `: 3 x (${sum})`}, ${how}`
}

const plan = (config: RubricAsRewardConfig): RunPlan => {
  checkRubricAsReward(config, 'plan')
  const { rollout, task, evaluation } = config
  const trained = trainingSources(config, true)
  const tested = testSources(config, true)
  const steps = trainingSteps(config)
  const promptTokens = Math.max(PROMPT_TOKENS[task.prompt], longestPrompt({ hops: goalOf(task.hops) }))
  const prompts = {
    ...{ tokens: promptTokens, longest: promptTokens, together: rollout.prompts },
    sets: evaluation.sets.length + Number(tested !== null),
  }
  return methodPlan({ ...config, steps }, modelOf(config), prompts, {
    lines: [
      `task         ${trained?.map(({ name }) => name).join(' + ') ?? task.file ?? `generated, hops ${JSON.stringify(task.hops)}, ${task.style}`}, ${task.prompt} prompt`,
      ...describeSources('training', trained ?? []),
      ...describeSources('test', tested ?? []),
      ...describeSmallerTest(tested ?? [], tested === null ? 0 : evaluation.problems),
      `reward       ${rewardLine(config)}`,
      ...optionLines(config),
      `steps        ${steps}, each ${rollout.prompts} problems x ${rollout.samples} samples, at most ${rollout.maxTokens} tokens: up to ${formatInteger(stepTokens(rollout))} new tokens a step`,
    ],
    evaluation: [
      'grading      by rules and solver in this process: no judge model, no network',
      `evaluation   ${evaluation.problems} problems on ${[...(tested === null ? [] : [primarySet(config)]), ...evaluation.sets].join(', ')}, before and after${shorterStart({ steps, evaluation })}`,
    ],
    json: {
      ...(trained && { trainingSources: sourceSizes(trained) }),
      ...(tested && { testSources: sourceSizes(tested) }),
    },
  })
}

const sourceFiles = (sources: readonly SourceSettings[] = []): DataFile[] =>
  sources.map(source => ({ path: 'path' in source ? source.path : null }))

export const rubricAsRewardEntry: RecipeEntry<RubricAsRewardConfig> = withDataFiles(
  {
    name: 'rubric-as-reward',
    summary: 'reinforcement learning against the five-criterion logic rubric, every step checked by a solver',
    schema: rubricAsRewardSchema,
    presets: rubricAsRewardPresets,
    plan,
    run: async (config, options) => (await import('./run.ts')).runRubricAsReward(config, options),
  },
  ({ task, evaluation }) => [
    { path: task.file },
    { path: evaluation.realFile },
    ...sourceFiles(task.sources),
    ...sourceFiles(evaluation.sources),
  ],
)
