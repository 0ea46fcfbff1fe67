/** @file What a run of ruscarl would do and need: steps, tokens, judge calls, cost, memory. Nothing is run or called. */

import { modelPath } from '../../model/model-place.ts'
import { conversationSizes, type DataSizes } from '../../tasks/conversation/sizes.ts'
import { mainTest, type Task } from '../../tasks/task.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import { mean } from '../../util/statistics.ts'
import { evaluationLine } from '../common/evaluation-config.ts'
import { trainingJudges } from '../common/judge-plan.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { methodPlan, stepTokens } from '../common/plan.ts'
import type { RunPlan } from '../common/recipe.ts'
import { shapeFolder } from '../common/remote.ts'
import { scaffoldLine, scaffoldWork } from '../common/scaffold.ts'
import type { StepWork } from '../common/step-work.ts'
import { taskModel } from '../common/word-models.ts'
import { optionLines } from '../options/options.ts'
import { checkRuscarl } from './check.ts'
import { isScaffolded, type RuscarlConfig } from './config.ts'
import { scaffolding } from './scaffold.ts'

/** Problems whose prompts are measured. */
const MEASURED = 5000

/** Of a task that needs no files. */
export const madeSizes = <Problem>(task: Task<Problem>): DataSizes => {
  const [, test] = mainTest(task)
  const measured = test.slice(0, MEASURED)
  const rubrics = measured.map(problem => task.rubric(problem).criteria)
  const plain = measured.map(problem => task.prompt(problem).length)
  return {
    ...{ train: task.stream ? Number.POSITIVE_INFINITY : task.train.length, test: test.length },
    ...{ criteria: mean(rubrics.map(({ length }) => length)), judged: 0, conversationCharacters: 0 },
    ...{ promptTokens: mean(plain), longestPrompt: Math.max(...plain) },
    scaffoldedTokens: mean(measured.map((problem, p) => task.prompt(problem, rubrics[p]).length)),
    ...{ likelihood: false, assumed: false, tokensEstimated: false },
  }
}

/** Sizes of the configured task's data. @throws DataError for a file that is there and cannot be used */
export const dataSizes = (config: RuscarlConfig): DataSizes => {
  const { task, scaffold } = config
  if (task.kind === 'packing') return madeSizes(MINIATURES.packing.open(task))
  const place = shapeFolder(config)
  const folder = place === null ? null : modelPath(place)
  return conversationSizes({ task, folder, scaffold: scaffolding(scaffold) })
}

export const dataLines = (config: RuscarlConfig, data: DataSizes): string[] => {
  const { task } = config
  return task.kind === 'packing'
    ? [`data         packing lists, ${data.train} trips to train on, ${formatInteger(data.test)} to test on`]
    : [
        `data         ${task.file}${data.assumed ? ' (not there yet: HealthBench as the paper used it is assumed)' : ''}: ${formatInteger(data.train)} conversations to train on, ${formatInteger(data.test)} to test on`,
        `             ${data.criteria.toFixed(2)} criteria a rubric, ${data.judged.toFixed(2)} of them for the judge; prompts of ${formatInteger(data.promptTokens)} tokens${data.tokensEstimated ? ' (at four characters a token)' : ''}${isScaffolded(config) ? `, with the whole scaffold ${formatInteger(data.scaffoldedTokens)}` : ''}`,
      ]
}

/** Samples as the ladder and the decay show them the rubric; with the ratio `plain` they are scored and learnt from without it. */
const scaffoldedWork = (
  { scaffold, steps, rollout, ratio }: RuscarlConfig,
  data: DataSizes,
): Pick<StepWork, 'roles' | 'scorings'> => {
  const { prompts, samples, maxTokens: newTokens } = rollout
  const { promptTokens: plain, scaffoldedTokens: whole, criteria } = data
  const usual = scaffoldWork(scaffold, { steps, samples, criteria }, { plain, whole })
  const groups = prompts * usual.prompts
  const learnt = { groups: prompts, promptTokens: plain }
  return {
    roles: [
      {
        ...{ name: 'policy', groups, samples: (prompts * samples) / groups },
        ...{ promptTokens: usual.promptTokens, newTokens },
        ...(ratio === 'plain' && { learnt }),
      },
    ],
    scorings: Number(data.likelihood) + (ratio === 'plain' ? usual.shown : 0),
  }
}

/** @throws ConfigError, DataError, CheckpointError for what a run would refuse, but for a model and data that come later */
export const planRuscarl = (config: RuscarlConfig): RunPlan => {
  checkRuscarl(config, 'plan')
  const { rollout, steps, scaffold, ratio, task, evaluation, sft } = config
  const { dynamicSampling } = config.exploration
  const data = dataSizes(config)
  const judging = trainingJudges(config, data)
  const { minibatches, epochs } = config
  const tokensPerStep = stepTokens(rollout)
  const passes = (steps * rollout.prompts) / data.train
  return methodPlan(
    config,
    taskModel('packing'),
    {
      tokens: isScaffolded(config) ? data.scaffoldedTokens : data.promptTokens,
      longest:
        task.kind === 'packing' ? data.longestPrompt : Math.min(data.longestPrompt, task.maxPromptTokens),
      // Every sample has a prompt of its own while it is scaffolded.
      together: rollout.prompts * rollout.samples,
      sets: evaluation.scaffolded ? 2 : 1,
      scorings: Number(data.likelihood),
      ...(scaffold.group.kind !== 'none' && {
        roles: [
          {
            ...{ groups: rollout.prompts * rollout.samples, samples: 1 },
            ...{ promptTokens: data.scaffoldedTokens, newTokens: rollout.maxTokens },
          },
        ],
      }),
    },
    {
      start: sft
        ? `; then ${sft.steps} supervised steps on what ${sft.teacher ?? 'the starting policy'} writes under the whole scaffold`
        : '',
      lines: [
        ...dataLines(config, data),
        `training     ${steps} steps of ${rollout.prompts} prompts x ${rollout.samples} samples (${passes.toFixed(1)} passes), at most ${formatInteger(rollout.maxTokens)} tokens each: up to ${formatInteger(tokensPerStep)} new tokens a step, ${formatCount(tokensPerStep * steps)} in all`,
        // The metrics of the plan are without it.
        ...(dynamicSampling
          ? [
              `             dynamic sampling: up to ${1 + dynamicSampling.rounds} times the samples, tokens and grading of a step, when no group has a spread`,
            ]
          : []),
        scaffoldLine(scaffold, ratio),
        ...optionLines(config),
      ],
      learning: `${minibatches * epochs} updates a step, `,
      evaluation: [...judging.lines, evaluationLine(config, { test: data.test, noun: 'problems' })],
      json: { data, ...judging.json },
      work: { ...scaffoldedWork(config, data), judges: judging.judges },
    },
  )
}
