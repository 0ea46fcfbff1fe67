/** @file Runs the environment recipe: model, world, graders and run folder put together, from the start or from a checkpoint. */

import { openPolicy } from '../../policy/open.ts'
import type { MetricGroup, RewardedRubric } from '../../runs/rows.ts'
import { sharedRubric, splitConversations } from '../../tasks/conversation/rows.ts'
import { scored } from '../../tasks/scored-response.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { judgeIdentity } from '../common/judge-identity.ts'
import { openJudging } from '../common/judging.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { modelName } from '../common/remote.ts'
import { rewardedRubric } from '../common/rewarded-rubric.ts'
import { decidingHash, type Session, withRun } from '../common/session.ts'
import { loopSettings, reinforce } from '../common/training.ts'
import { checkEnvironment, type EnvironmentRunParts } from './check.ts'
import type { EnvironmentConfig } from './config.ts'
import { openEnvTask } from './openenv-task.ts'
import { environmentRecipe } from './recipe.ts'
import { toolsTask } from './tools-task.ts'

/** What must stay the same between stop and resume: of server and judge who they are, not where they run. */
const runHash = ({ judge, task, ...config }: EnvironmentConfig): string => {
  const decisive =
    task.kind === 'openenv'
      ? { ...task, url: '', headers: {}, connectTimeoutMs: 0, timeoutMs: 0, attempts: 0 }
      : task
  return decidingHash({ ...config, task: decisive, judge: judge && judgeIdentity(judge) })
}

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runEnvironment = async (
  config: EnvironmentConfig,
  options: RunOptions,
  parts: EnvironmentRunParts = {},
): Promise<RunResult> => {
  const folder = checkEnvironment(config, 'run', parts)!
  const { recipe, seed, steps, task } = config
  const session = {
    ...options,
    info: {
      ...{ config, recipe, model: modelName(config), seed, steps },
      primarySet: task.kind === 'openenv' ? 'unseen seeds' : 'held-out rows',
      rewardFormula: formulaOf(config),
      ...rubricInfo(config),
    },
    configHash: runHash(config),
    hashOf: (other: object) => runHash(other as EnvironmentConfig),
  }
  return withRun(session, async open => {
    const { grader, figures } = await open.use(Promise.resolve(openJudging(config.judge)))
    const asked = config.judge ? figures : undefined
    return task.kind === 'openenv'
      ? learn(config, open, folder, await open.use(openEnvTask(config, task, folder, grader)), options, asked)
      : learn(
          config,
          open,
          folder,
          await open.use(toolsTask(task, folder, grader, parts.tools)),
          options,
          asked,
        )
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
  { run, from, fork, use }: Session,
  folder: string,
  task: TaskWith<Problem, 'world'>,
  { events = {} }: RunOptions,
  figures?: () => MetricGroup,
) => {
  const { model, seed, loss } = config
  for (const message of task.notes) {
    run.appendEvent({ level: 'info', message })
    events.onMessage?.(message)
  }
  const policy = await use(openPolicy(config.policy, { folder, lora: model.lora ?? undefined, seed }))
  const acted = { ...scored(task), world: task.world }
  const recipe = () => environmentRecipe(config, { policy, task: acted, figures })
  return reinforce({ run, from, fork }, policy, loss, recipe, loopSettings(config, runHash(config)), events)
}
