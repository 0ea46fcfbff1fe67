/** @file Runs the environment recipe: model, world, graders and run folder put together, from the start or from a checkpoint. */

import { needsJudge } from '../../grade/rubric-grader.ts'
import { openPolicy, refusedLoss } from '../../policy/open.ts'
import type { MetricGroup, RewardedRubric } from '../../runs/rows.ts'
import {
  needJudge,
  readConversations,
  sharedRubric,
  splitConversations,
} from '../../tasks/conversation/rows.ts'
import { scored } from '../../tasks/scored-response.ts'
import type { TaskWith } from '../../tasks/task.ts'
import type { Tool } from '../../tools/index.ts'
import { ConfigError } from '../../util/errors.ts'
import { judgeIdentity } from '../common/judge-identity.ts'
import { checkFleet, openJudging } from '../common/judging.ts'
import { givenModel } from '../common/phase.ts'
import { comesLater, type Purpose } from '../common/purpose.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { checkRemote, modelName } from '../common/remote.ts'
import { rewardedRubric } from '../common/rewarded-rubric.ts'
import { decidingHash, type Session, withRun } from '../common/session.ts'
import { loopSettings, reinforce } from '../common/training.ts'
import type { EnvironmentConfig } from './config.ts'
import { openEnvTask } from './openenv-task.ts'
import { environmentRecipe } from './recipe.ts'
import { toolsTask } from './tools-task.ts'

/** Parts of a run in place of the configured ones. */
export interface EnvironmentRunParts {
  /** With `task.kind: tools`. */
  tools?: readonly Tool[]
}

const refuse = (key: string, expected: string, hint: string): never => {
  throw new ConfigError(`${key}: expected ${expected}`, { hint })
}

/**
 * The checkpoint to start from; null in a plan where it comes later. The server of an environment is not asked: it may be
 * started later.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkEnvironment = (
  config: EnvironmentConfig,
  purpose: Purpose,
  { tools }: EnvironmentRunParts = {},
): string | null => {
  const { task, reward, judge, rollout, loss, policy } = config
  checkRemote(config, purpose)
  const refused = refusedLoss(policy, {}, loss)
  if (refused !== null) throw new ConfigError(`loss: ${refused}`)
  if (rollout.samples < 2)
    refuse(
      'rollout.samples',
      `at least 2, got ${rollout.samples}`,
      'episodes of a problem are compared with each other',
    )
  if (reward.environment === 0 && reward.rubric === 0)
    refuse('reward', 'something that is paid for, got weights of 0 alone', 'set environment or rubric')
  if (task.kind === 'openenv' && task.rubric === null && reward.environment === 0)
    refuse(
      'task.rubric',
      'a rubric where nothing else is paid for, got none',
      'name one, or set reward.environment',
    )
  if (task.kind === 'tools' && task.tools.length === 0 && !tools && purpose === 'run')
    refuse(
      'task.tools',
      'at least one tool, got none',
      'name MCP servers, a local search index, or a search over HTTP',
    )
  if (task.kind === 'tools' && reward.rubric === 0)
    refuse('reward.rubric', 'a weight: tools pay nothing by themselves', 'set reward.rubric')
  if (judge !== null) checkFleet(judge.fleet, 'judge.fleet')
  checkRubrics(config, purpose)
  return givenModel({ ...config, coldStart: null }, 'sft', purpose)
}

/** What is there of rubrics and rows is read; criteria that only a judge can grade need one. */
const checkRubrics = ({ task, judge }: EnvironmentConfig, purpose: Purpose): void => {
  const { rubric = null } = task
  const shared = rubric === null || comesLater(rubric, purpose) ? null : sharedRubric({ rubric })
  const files = task.kind === 'tools' ? [task.file, task.testFile].filter(file => file !== null) : []
  const rows = files
    .filter(file => !comesLater(file, purpose))
    .flatMap(file => readConversations(file, shared, task.kind === 'tools' ? task.columns : undefined))
  if (judge === null && ((shared !== null && needsJudge(shared)) || needJudge(rows)))
    refuse('judge', 'one for criteria that no rule checks, got nothing', 'set judge.fleet.endpoints')
}

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
