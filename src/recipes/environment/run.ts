/** @file Runs the environment recipe: model, world, graders and run folder put together, from the start or from a checkpoint. */

import { openPolicy } from '../../policy/open.ts'
import type { RewardedRubric } from '../../runs/rows.ts'
import { sharedRubric, splitConversations } from '../../tasks/conversation/rows.ts'
import { judgeIdentity } from '../common/judge-identity.ts'
import { openJudging } from '../common/judging.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { modelName } from '../common/remote.ts'
import { rewardedRubric } from '../common/rewarded-rubric.ts'
import { decidingHash, type Session, withRun } from '../common/session.ts'
import { loopSettings, reinforce } from '../common/training.ts'
import { checkEnvironment, type EnvironmentRunParts } from './check.ts'
import type { EnvironmentConfig } from './config.ts'
import type { Kit } from './kit.ts'
import { openEnvKit } from './openenv-kit.ts'
import { environmentRecipe } from './recipe.ts'
import { toolsKit } from './tools-kit.ts'

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
  return withRun(session, async open =>
    task.kind === 'openenv'
      ? learn(config, open, folder, await open.use(openEnvKit(config, task, folder)), options)
      : learn(config, open, folder, await open.use(toolsKit(task, folder, parts.tools)), options),
  )
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
  kit: Kit<Problem>,
  { events = {} }: RunOptions,
) => {
  const { model, seed, loss } = config
  for (const message of kit.notes) {
    run.appendEvent({ level: 'info', message })
    events.onMessage?.(message)
  }
  const { grader, figures } = await use(Promise.resolve(openJudging(config.judge)))
  const policy = await use(openPolicy(config.policy, { folder, lora: model.lora ?? undefined, seed }))
  const problem = shuffledPasses(kit.train, `environment/${seed}`)
  const recipe = () =>
    environmentRecipe(config, { policy, problem, kit, grader, ...(config.judge && { figures }) })
  return reinforce({ run, from, fork }, policy, loss, recipe, loopSettings(config, runHash(config)), events)
}
