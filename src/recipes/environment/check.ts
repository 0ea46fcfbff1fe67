/** @file What a training in an environment refuses before it starts; its plan refuses the same. */

import { needsJudge } from '../../grade/rubric-grader.ts'
import { needJudge, readConversations, sharedRubric } from '../../tasks/conversation/rows.ts'
import type { Tool } from '../../tools/index.ts'
import { checkMethod } from '../common/method-check.ts'
import { mayBeMissing, type RunMode, refuse } from '../common/refuse.ts'
import { checkOptions } from '../options/options.ts'
import type { EnvironmentConfig } from './config.ts'

/** Parts of a run in place of the configured ones. */
export interface EnvironmentRunParts {
  /** With `task.kind: tools`. */
  tools?: readonly Tool[]
}

/**
 * The checkpoint to start from; null in a plan where it comes later. The server of an environment is not asked: it may be
 * started later.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkEnvironment = (
  config: EnvironmentConfig,
  purpose: RunMode,
  { tools }: EnvironmentRunParts = {},
): string | null =>
  checkMethod(config, purpose, { starts: 'sft', settings: () => checkSettings(config, purpose, tools) })

const checkSettings = (config: EnvironmentConfig, purpose: RunMode, tools?: readonly Tool[]): void => {
  const { task, reward, rollout } = config
  if (rollout.samples < 2)
    refuse(
      `rollout.samples: expected at least 2, got ${rollout.samples}`,
      'episodes of a problem are compared with each other',
    )
  if (reward.environment === 0 && reward.rubric === 0)
    refuse('reward: expected something that is paid for, got weights of 0 alone', 'set environment or rubric')
  if (task.kind === 'openenv' && task.rubric === null && reward.environment === 0)
    refuse(
      'task.rubric: expected a rubric where nothing else is paid for, got none',
      'name one, or set reward.environment',
    )
  if (task.kind === 'tools' && task.tools.length === 0 && !tools && purpose === 'run')
    refuse(
      'task.tools: expected at least one tool, got none',
      'name MCP servers, a local search index, or a search over HTTP',
    )
  if (task.kind === 'tools' && reward.rubric === 0)
    refuse('reward.rubric: expected a weight: tools pay nothing by themselves', 'set reward.rubric')
  checkOptions(config, { unheard: 'episodes, which are not shown to a held-out judge' })
  checkRubrics(config, purpose)
}

/** What is there of rubrics and rows is read; criteria that only a judge can grade need one. */
const checkRubrics = ({ task, judge }: EnvironmentConfig, purpose: RunMode): void => {
  const { rubric = null } = task
  const shared = rubric === null || mayBeMissing(rubric, purpose) ? null : sharedRubric({ rubric })
  const files = task.kind === 'tools' ? [task.file, task.testFile].filter(file => file !== null) : []
  const rows = files
    .filter(file => !mayBeMissing(file, purpose))
    .flatMap(file => readConversations(file, shared, task.kind === 'tools' ? task.columns : undefined))
  if (judge === null && ((shared !== null && needsJudge(shared)) || needJudge(rows)))
    refuse('judge: expected one for criteria that no rule checks, got nothing', 'set judge.fleet.endpoints')
}
