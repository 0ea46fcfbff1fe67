/** @file What every method refuses before it trains, and the model that it starts from. */

import type { MemorySettings } from '../../memory/config.ts'
import { assertSameTokenizer } from '../../model/chat-format.ts'
import { isRemote } from '../../policy/open.ts'
import { monitorsThat } from '../../train/monitors/config.ts'
import { checkMemoryFile, type LessonMemorySettings } from '../options/memory.ts'
import { checkSft } from '../sft/check.ts'
import { phaseConfig } from '../sft/config.ts'
import { hasOwnCritic, withCriticLoss } from './critic.ts'
import { assertActions, assertLoss, modelMayBeMissing, type RunMode, refuse } from './refuse.ts'
import { checkRemote, remoteTokenizerFolder, type ServerLacks } from './remote.ts'
import { wholeModel } from './starting-model.ts'
import type { TrainingConfig } from './training.ts'

type CheckedConfig = Pick<
  TrainingConfig,
  'policy' | 'model' | 'rollout' | 'loss' | 'critic' | 'checkpoint' | 'monitors' | 'pipeline'
> & {
  /** Null, or absent: no cold start. */
  coldStart?: object | null
  memory?: LessonMemorySettings | MemorySettings
}

/** What a method says of its checks. */
interface CheckedMethod {
  /** What makes a model to start from, for hints. */
  starts: string
  /** Settings of its own that are on although no server can do them. */
  remote?: ServerLacks
  /** Refuses settings of its own. */
  settings(): void
  /** Refuses a model that cannot read the task. */
  assertReads?(folder: string): void
}

/**
 * The checkpoint that a method starts from; null when a cold start makes one, and in a plan when it comes later. Of a model on a
 * server the folder with its words.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkMethod = (
  config: CheckedConfig,
  purpose: RunMode,
  { starts, remote = [], settings, assertReads }: CheckedMethod,
): string | null => {
  const { policy, loss, critic = null, memory, monitors, coldStart = null } = config
  checkRemote(config, purpose, starts, [
    critic?.own !== undefined &&
      (critic.own.folder !== null || critic.own.lora !== undefined) && [
        'critic.own',
        "nothing in it with policy.kind tinker, whose critic has the policy's model and adapter",
        'set it to {}',
      ],
    critic !== null &&
      critic.coef !== 1 && [
        'critic.coef',
        '1 with policy.kind tinker, whose server weighs the value loss itself',
        'leave it out',
      ],
    critic !== null &&
      monitorsThat(monitors, ['rollback']).length > 0 && [
        'monitors',
        'no rollback beside a critic with policy.kind tinker, whose critic loads a state only at its start',
        'choose pause or stop',
      ],
    ...remote,
  ])
  settings()
  if ('sampler' in policy && !isRemote(policy) && policy.sampler !== null && !config.pipeline)
    refuse(
      'policy.sampler: expected null without pipeline, where sampling and learning take turns and a second engine would only take memory',
      'set pipeline to true, or policy.sampler to null',
    )
  const head = hasOwnCritic(config) ? null : critic
  assertLoss(policy, config.critic === undefined ? loss : withCriticLoss(loss, head), head !== null)
  assertActions(config)
  if (memory) checkMemoryFile(memory, purpose)
  const given = givenModel(config, starts, purpose)
  if (given !== null) assertReads?.(given)
  checkCriticModel(critic, given, purpose)
  if (coldStart !== null) checkSft(phaseConfig(coldStart), 'run')
  return given
}

/** @param start the policy's, where it is there. @throws CheckpointError for a critic's model that cannot be used beside it */
const checkCriticModel = (critic: TrainingConfig['critic'], start: string | null, purpose: RunMode): void => {
  const folder = critic?.own?.folder ?? null
  if (folder === null || modelMayBeMissing(folder, purpose)) return
  const model = wholeModel(folder, 'critic.own.folder')
  if (start !== null) assertSameTokenizer(start, model, 'critic.own.folder')
}

const givenModel = (
  { policy, model, coldStart = null }: CheckedConfig,
  starts: string,
  purpose: RunMode,
): string | null => {
  if (isRemote(policy)) return remoteTokenizerFolder(policy, purpose)
  if (coldStart !== null && model.folder !== null)
    refuse(
      'model.folder: expected nothing beside coldStart, which makes the model',
      'set one of the two to null',
    )
  if (coldStart === null && model.folder === null)
    refuse(
      'model.folder: expected a checkpoint to start from, got nothing',
      `make one with \`gradus train ${starts}\`, or use a preset that brings one`,
    )
  return model.folder === null || modelMayBeMissing(model.folder, purpose)
    ? null
    : wholeModel(model.folder, 'model.folder')
}

/** @throws ConfigError for a cold start with a task that it does not teach */
export const refuseColdStart = (
  { coldStart, task }: { coldStart: object | null; task: { kind: string } },
  teaches: string,
): void => {
  if (coldStart !== null && task.kind !== teaches)
    refuse(
      `coldStart: expected nothing with task "${task.kind}"`,
      `it teaches ${teaches}; start from model.folder`,
    )
}
