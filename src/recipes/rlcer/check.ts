/** @file What a run of rlcer refuses before it trains; its plan refuses the same. */

import { fewestTokens } from '../../model/automaton.ts'
import type { ModelConfig } from '../../model/config.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { questionFiles } from '../../tasks/questions/index.ts'
import { mainTest, type TaskWith } from '../../tasks/task.ts'
import { ConfigError } from '../../util/errors.ts'
import { givenModel } from '../common/phase.ts'
import { startShape } from '../common/plan.ts'
import { checkRemote, withoutCritic } from '../common/remote.ts'
import { mayBeMissing, type RunMode } from '../common/run-mode.ts'
import { assertWords, taskModel } from '../common/word-models.ts'
import { checkSft } from '../sft/check.ts'
import { phaseConfig } from '../sft/config.ts'
import { checkRlcerSettings, checkThoughtAnchors } from './check-settings.ts'
import type { RlcerConfig } from './config.ts'
import { withMiniature, withRlcerTask } from './tasks.ts'
import { checkVerifier, type RlcerRunParts } from './verifiers.ts'

/**
 * The checkpoint to start from; null when a cold start makes one, and in a plan when it comes later.
 * @param parts in place of those that the configuration's endpoints serve
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkRlcer = (
  config: RlcerConfig,
  purpose: RunMode,
  parts: RlcerRunParts = {},
): string | null => {
  const { task, critic, rubricator } = config
  checkRemote(config, purpose, 'arithmetic-cold-start', [
    withoutCritic(critic),
    rubricator.constrained && [
      'rubricator.constrained',
      'false with policy.kind tinker, whose server holds samples to no grammar',
      'set it to false',
    ],
  ])
  checkRlcerSettings(config)
  checkThoughtAnchors(config, purpose)
  const given = givenModel(
    config,
    task.kind === 'logic' ? 'logic-rubric-start' : 'arithmetic-cold-start',
    purpose,
  )
  checkVerifier(config, purpose, parts)
  if (task.kind !== 'questions') checkMiniature(config, given)
  // What is there of files and model is read.
  else if (given !== null && !questionFiles(task).some(file => mayBeMissing(file, purpose)))
    withRlcerTask(config, given, () => null)
  return given
}

const checkMiniature = (config: RlcerConfig, given: string | null): void => {
  const isLogic = config.task.kind === 'logic'
  if (given !== null) assertWords(isLogic ? 'logic-rubrics' : 'arithmetic')(given)
  if (config.coldStart !== null) checkSft(phaseConfig(config.coldStart), 'run')
  const shape = modelShape(config)
  withMiniature(config, task => shape && checkRoom(task, config, shape))
}

/** Shape of the model at the start; null where it is unknown before the model is there. */
export const modelShape = (config: RlcerConfig): ModelConfig | null =>
  startShape(config, taskModel('arithmetic'))

/** Test problems that are looked at for their lengths. */
const FITTED = 64

/**
 * A question leaves room for thinking, and with as much thinking as there may be for a rubric; and there is room for a rubric
 * in what a rubricator may write.
 */
const checkRoom = <Problem>(
  task: TaskWith<Problem, 'rubricator'>,
  { rollout, rubricator, evaluation }: RlcerConfig,
  { maxPositions }: ModelConfig,
): void => {
  const { enabled, maxTokens, format } = rubricator
  const { minCriteria: min } = format
  const shortest = task.rubricator.automaton?.({ min, max: min })
  const rubricTokens = shortest ? fewestTokens(shortest) : 0
  if (enabled && maxTokens < rubricTokens)
    throw new ConfigError(
      `rubricator.maxTokens: expected at least ${rubricTokens}, which the shortest rubric of ${format.minCriteria} criteria has, got ${maxTokens}; what is cut off is no rubric`,
      { hint: 'raise it, or lower rubricator.format.minCriteria' },
    )
  for (const problem of mainTest(task)[1].slice(0, FITTED)) {
    const { length } = task.prompt(problem)
    const name = `problem ${task.id(problem)}`
    assertRoom(name, length, Math.max(rollout.maxTokens, evaluation.maxTokens ?? 0), maxPositions)
    assertRoom(
      `${name} with ${rollout.maxTokens} tokens of thinking, for a rubric (rubricator.maxTokens)`,
      length + rollout.maxTokens,
      rubricator.maxTokens,
      maxPositions,
    )
  }
}
