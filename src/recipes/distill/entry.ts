/** @file The distill recipe as the command line knows it, and what a run of it would do and need. Nothing is run or called. */

import { formatCount, formatInteger } from '../../util/format.ts'
import { taskFiles, withDataFiles } from '../common/data-files.ts'
import { evaluationLine } from '../common/evaluation-config.ts'
import { trainingJudges } from '../common/judge-plan.ts'
import { methodPlan, stepTokens } from '../common/plan.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { taskModel } from '../common/word-models.ts'
import { optionLines } from '../options/options.ts'
import { quickPacking } from '../ruscarl/entry.ts'
import { dataLines, dataSizes, madeSizes } from '../ruscarl/plan.ts'
import { checkDistill, isUnmeasured } from './check.ts'
import { type DistillConfig, distillSchema, ruscarlFrame } from './config.ts'

/** @throws ConfigError, DataError, CheckpointError for what a run would refuse, but for a model and data that come later */
export const planDistill = (config: DistillConfig): RunPlan => {
  const { task, mayLackJudge, conversations } = checkDistill(config, 'plan')
  const { rollout, steps, teacher, rewards, minibatches, epochs, evaluation } = config
  const like = ruscarlFrame(config)
  const data = task ? madeSizes(task) : dataSizes(like)
  const gradedSteps = rewards === null ? 0 : Math.max(0, steps - rewards.after)
  const taught = steps - gradedSteps
  const judging = trainingJudges({ ...like, gradedSteps }, data)
  const { promptTokens, scaffoldedTokens: whole, longestPrompt } = data
  const { prompts, samples, maxTokens: newTokens } = rollout
  const newPerStep = stepTokens(rollout)
  const readPerStep = prompts * samples * (whole + newTokens)
  const role = { groups: prompts, samples, promptTokens, newTokens }
  return methodPlan(
    { ...config, coldStart: null },
    taskModel('packing'),
    {
      ...{ tokens: whole, longest: longestPrompt, together: prompts, roles: [role] },
      sets: evaluation.scaffolded ? 2 : 1,
      scorings: Number(data.likelihood && gradedSteps > 0),
      teacher: {
        frozen: teacher === 'start',
        passes: ((taught / Math.max(1, steps)) * (whole + newTokens)) / (promptTokens + newTokens),
      },
    },
    {
      lines: [
        ...(task
          ? [
              `data         ${config.task.kind}, ${task.stream ? 'new problems without end' : `${formatInteger(data.train)} problems`} to train on, ${formatInteger(data.test)} to test on; prompts of ${formatInteger(whole)} tokens with what the teacher is shown`,
            ]
          : dataLines(like, data)),
        `training     ${taught} steps of distillation${rewards === null ? '' : `, then ${gradedSteps} by rubric rewards`}, ${prompts} prompts x ${samples} samples, at most ${formatInteger(newTokens)} tokens each: up to ${formatInteger(newPerStep)} new tokens a step, ${formatCount(newPerStep * steps)} in all`,
        `teacher      ${teacher === 'start' ? 'the model that it starts from' : 'the policy as it is'}, shown the rubric: reads up to ${formatInteger(readPerStep)} tokens a step, ${formatCount(readPerStep * taught)} in all`,
        ...optionLines(config),
      ],
      learning: `${minibatches * epochs} updates a step, `,
      evaluation:
        mayLackJudge && isUnmeasured(config, conversations)
          ? ['evaluation   none: criteria that no rule checks, and no judge; distillation needs none']
          : [...judging.lines, evaluationLine(config, { test: data.test, noun: 'problems' })],
      json: { data, ...judging.json, teacherTokensPerStep: readPerStep },
      work: { judges: judging.judges },
    },
  )
}

export const distillEntry: RecipeEntry<DistillConfig> = withDataFiles(
  {
    name: 'distill',
    summary:
      'the model that is shown the rubric teaches the one that is not, token by token, without a judge',
    schema: distillSchema,
    presets: {
      quick: quickPacking(),
      own: {
        summary: 'rows.jsonl in this folder, and the small chat model that ships',
        config: {
          model: { folder: 'package:models/chat-start' },
          task: { kind: 'conversations', file: 'rows.jsonl', holdOut: 16 },
        },
      },
    },
    plan: planDistill,
    run: async (config, options) => (await import('./run.ts')).runDistill(config, options),
  },
  taskFiles,
)
