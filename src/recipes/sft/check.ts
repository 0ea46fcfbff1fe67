/** @file What a run of sft refuses before it trains; its plan refuses the same. */

import { chatFormatOf } from '../../model/chat-format.ts'
import { loadConfig } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { wholeFolder } from '../../model/lora-files.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { isRemote } from '../../policy/open.ts'
import { ConfigError } from '../../util/errors.ts'
import { mayBeMissing, modelMayBeMissing, type RunMode } from '../common/refuse.ts'
import { checkRemote, remoteTokenizerFolder } from '../common/remote.ts'
import { wholeModel } from '../common/starting-model.ts'
import type { SftConfig } from './config.ts'
import type { LearntTask } from './learnt.ts'
import { learnLogic } from './logic.ts'
import { learnLogicRubrics } from './logic-rubrics.ts'
import { learnArithmetic, learnPacking } from './miniatures.ts'
import { learnRecords } from './records.ts'
import { learnRequests } from './requests.ts'
import { readSftRows, type SftRows } from './rows.ts'

/** Model and rows, or model and task; of what comes later, in a plan, nothing. */
export interface Checked {
  source: ModelSource | null
  rows: SftRows | null
  task: LearntTask | null
  /** Of a task's model that is trained. */
  shape?: ModelConfig
}

/**
 * Model, and rows or task.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkSft = (config: SftConfig, purpose: RunMode): Checked => {
  const { task, data, policy } = config
  checkRemote(config, purpose, null, [
    isRemote(policy) &&
      policy.sampler !== null && [
        'policy.sampler',
        'null where a model learns from demonstrations: nothing is sampled',
        'set it to null',
      ],
    task !== null && [
      'task',
      'null with policy.kind tinker, which learns rows of a file',
      'name them in data, and set task to null',
    ],
  ])
  if (task === null) return { ...checkRows(config, purpose), task: null }
  if (data !== null)
    throw new ConfigError('data: expected nothing beside task, whose demonstrations are learnt', {
      hint: 'set one of the two to null',
    })
  return { ...checkTask(config, purpose), rows: null }
}

const checkRows = (config: SftConfig, purpose: RunMode): Pick<Checked, 'source' | 'rows'> => {
  const { model, data, policy, seed } = config
  if (!isRemote(policy) && model.folder === null)
    throw new ConfigError('model.folder: expected a chat model to start from, got nothing', {
      hint: 'name the folder of a checkpoint with tokenizer.json and a chat template',
    })
  const later = { source: null, rows: null }
  const words = isRemote(policy) ? remoteTokenizerFolder(policy, purpose) : null
  if (isRemote(policy) && words === null) return later
  if (data !== null && mayBeMissing(data, purpose)) return later
  if (!isRemote(policy) && modelMayBeMissing(model.folder!, purpose)) return later
  const folder = words ?? wholeModel(model.folder!, 'model.folder')
  const rows = readSftRows(config, chatFormatOf(folder, 'recipe "sft"'))
  return { rows, source: { folder, lora: model.lora ?? undefined, seed } }
}

/** The task of the settings. @param folder of a model that is there */
const learntTask = ({ task, ...config }: SftConfig, folder: string | null): LearntTask => {
  switch (task!.kind) {
    case 'logic':
      return learnLogic({ ...config, task: task! }, folder)
    case 'logic-rubrics':
      return learnLogicRubrics({ ...config, task: task! })
    case 'packing':
      return learnPacking({ ...config, task: task! })
    case 'arithmetic':
      return learnArithmetic({ ...config, task: task! })
    case 'records':
      return learnRecords({ ...config, task: task! })
    case 'requests':
      return learnRequests({ ...config, task: task! }, folder)
  }
}

const checkTask = (config: SftConfig, purpose: RunMode): Omit<Checked, 'rows'> => {
  const { folder: place, lora } = config.model
  const isLater = place !== null && modelMayBeMissing(place, purpose)
  const folder = place === null || isLater ? null : wholeModel(place, 'model.folder')
  const task = learntTask(config, folder)
  if (place === null && lora !== null)
    throw new ConfigError(
      'model.lora: expected null with fresh weights, all of which are trained, got an adapter',
      {
        hint: 'set it to null, or name a model in model.folder',
      },
    )
  if (task.isSampledOnce && config.evaluation.samples !== 1)
    throw new ConfigError(
      `evaluation.samples: expected 1 with task.kind ${config.task!.kind}, got ${config.evaluation.samples}`,
      { hint: 'leave it out, and raise evaluation.problems' },
    )
  if (isLater) return { source: null, task }
  if (folder !== null) task.assertModel(folder)
  const source = folder === null ? task.fresh() : { folder, lora: lora ?? undefined, seed: config.seed }
  const started = source.init?.config ?? loadConfig(wholeFolder(folder!))
  const shape = task.grown?.shape(started) ?? started
  const { maxPositions } = shape
  for (const { what, promptTokens, newTokens } of task.rooms(maxPositions))
    assertRoom(what, promptTokens, newTokens, maxPositions)
  return { source, task, shape }
}
