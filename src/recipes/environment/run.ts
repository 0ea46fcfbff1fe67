/** @file Runs the environment recipe: model, world, graders and run folder put together, from the start or from a checkpoint. */

import type { MetricGroup, RewardedRubric } from '../../runs/rows.ts'
import { sharedRubric, splitConversations } from '../../tasks/conversation/rows.ts'
import { scored } from '../../tasks/scored-response.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { openJudging } from '../common/judging.ts'
import { type MethodRun, runMethod } from '../common/method-run.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { rewardedRubric } from '../common/rewarded-rubric.ts'
import { checkEnvironment, type EnvironmentRunParts } from './check.ts'
import type { EnvironmentConfig } from './config.ts'
import { environmentRecipe } from './recipe.ts'
import { openEnvTask, toolsTask } from './tasks.ts'

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runEnvironment = async (
  config: EnvironmentConfig,
  options: RunOptions,
  parts: EnvironmentRunParts = {},
): Promise<RunResult> => {
  const { task, judge } = config
  return runMethod(config, options, {
    start: checkEnvironment(config, 'run', parts),
    info: {
      primarySet: task.kind === 'openenv' ? 'unseen seeds' : 'held-out rows',
      rewardFormula: formulaOf(config),
      ...rubricInfo(config),
    },
    async learn(run) {
      const { grader, metrics } = await run.use(Promise.resolve(openJudging(judge)))
      const asked = judge ? metrics : undefined
      return task.kind === 'openenv'
        ? learn(config, run, await run.use(openEnvTask(config, task, run.folder, grader)), asked)
        : learn(config, run, await run.use(toolsTask(task, run.folder, grader, parts.tools)), asked)
    },
  })
}

/** The rubric that episodes are scored by, where there is one. */
const rubricInfo = ({ task }: EnvironmentConfig): { rubric?: RewardedRubric } => {
  if (task.kind === 'tools') return { rubric: rewardedRubric(splitConversations(task)) }
  const rubric = sharedRubric(task)
  if (rubric === null) return {}
  const named = new Set(rubric.criteria.map(({ id }) => id))
  return { rubric: rewardedRubric({ train: [], test: [{ rubric }], named }) }
}

const formulaOf = ({ reward: { environment, rubric, of }, task }: EnvironmentConfig): string =>
  [
    ...(task.kind === 'openenv'
      ? [`${environment} x the ${of === 'sum' ? 'sum' : 'last'} of the environment's rewards`]
      : []),
    ...(task.kind === 'tools' || task.rubric !== null ? [`${rubric} x the score by the rubric`] : []),
  ].join(' + ')

const learn = async <Problem>(
  config: EnvironmentConfig,
  run: MethodRun,
  task: TaskWith<Problem, 'world'>,
  metrics?: () => MetricGroup,
) => {
  run.note(task.notes)
  const policy = await run.openPolicy()
  const acted = { ...scored(task), world: task.world }
  return run.train(policy, () => environmentRecipe(config, { policy, task: acted }), metrics)
}
