/** @file Checks of the model that a run starts from, before anything is loaded or written. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../model/checkpoint.ts'
import { isAdapterFolder, tokenizerFolder, wholeFolder } from '../../model/lora-files.ts'
import { isModel } from '../../model/model-files.ts'
import { modelPath } from '../../model/model-place.ts'
import { assertTokenizerFits, hasTokenizer, loadTokenizer } from '../../model/tokenizer.ts'
import { checkWeights } from '../../model/weights.ts'
import { ADAPTER_FOLDER, REFERENCE_FILE, readReference } from '../../policy/tinker/checkpoint.ts'
import { latestCheckpoint } from '../../runs/readers.ts'
import { LOGIC_TOKENS, LOGIC_VOCABULARY, LONG_LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import { CheckpointError } from '../../util/errors.ts'

/**
 * The path of a model, `package:` names and those on the hub resolved, which `fetchModel` has fetched.
 * @param key setting that named it, for errors
 * @throws CheckpointError when there is no model.
 */
export const existingModel = (path: string, key: string): string => {
  const folder = modelPath(path)
  if (isModel(folder) || isAdapterFolder(folder)) return refuseRun(folder, key)
  const brought = join(folder, ADAPTER_FOLDER)
  if (existsSync(join(folder, REFERENCE_FILE)) && isAdapterFolder(brought)) return refuseRun(brought, key)
  if (existsSync(join(folder, REFERENCE_FILE))) throw elsewhere(folder, key)
  throw new CheckpointError(`${key}: ${folder} holds no model`, {
    hint: 'check the path; a checkpoint folder has config.json and model.safetensors, a GGUF file ends in .gguf, and hf://OWNER/NAME is a model on the hub',
  })
}

const elsewhere = (folder: string, key: string): CheckpointError => {
  const { url, sampler, state } = readReference(folder)
  if (sampler === null)
    return new CheckpointError(`${key}: ${folder} is a critic on the server ${url}, as ${state}`, {
      hint: "name the policy's checkpoint, the folder above",
    })
  return new CheckpointError(`${key}: the weights of ${folder} are on the server ${url}, as ${sampler}`, {
    hint: `fetch the adapter, where the server hands it out, and name its folder: \`curl -L ${url}${archivePath(sampler)} | tar x\``,
  })
}

/** Where the protocol has the weights of a path as an archive. */
const archivePath = (path: string): string =>
  `/api/v1/training_runs/${path.replace('tinker://', '').replace('/', '/checkpoints/')}/archive`

/**
 * The same for a model that is about to be loaded: its weights fit its configuration.
 * @throws CheckpointError when there is no model, and for missing, broken or misshapen weights; those of adapters are left alone
 */
export const wholeModel = (path: string, key: string): string => {
  const folder = existingModel(path, key)
  if (!isAdapterFolder(folder)) checkWeights(folder, loadConfig(folder))
  return folder
}

/** A run's folder has a config.json, too: the run's. */
const refuseRun = (folder: string, key: string): string => {
  const checkpoint = existsSync(join(folder, 'checkpoints')) ? latestCheckpoint(folder) : null
  if (checkpoint === null) return folder
  throw new CheckpointError(`${key}: expected a checkpoint, got the run ${folder}`, {
    hint: `its latest checkpoint is ${checkpoint}`,
  })
}

/** Whether a folder's tokenizer is the small model's own word list. */
export const hasLogicTokenizer = (folder: string): boolean => {
  const words = tokenizerFolder(folder)
  return hasTokenizer(words) && loadTokenizer(words).idOf('\nquestion:') === LOGIC_TOKENS.question
}

/**
 * Refuses a model that cannot read the logic task's word-level tokens.
 * @throws CheckpointError when its vocabulary is too small, or its tokenizer another one.
 */
export const assertLogicVocabulary = (folder: string): void => {
  if (isAdapterFolder(folder)) return
  const config = loadConfig(folder)
  if (hasTokenizer(folder)) {
    assertTokenizerFits(loadTokenizer(folder), config)
    if (hasLogicTokenizer(folder)) return
    throw new CheckpointError(`${folder}: its tokenizer is not the logic task's word list`, {
      hint: 'use task.prompt "chat" for a pretrained chat model, or start from `gradus train logic-cold-start`',
    })
  }
  if (config.vocabSize >= LOGIC_VOCABULARY.length) return
  throw new CheckpointError(
    `${folder}: the logic task has ${LOGIC_VOCABULARY.length} tokens, but the model's vocab_size is ${config.vocabSize}`,
    { hint: 'start from a model that `gradus train logic-cold-start` made' },
  )
}

/**
 * How many tokens of the logic task a model reads: those of the first vocabulary, or all of the long one; of an adapter those
 * of its base.
 * @throws CheckpointError where there is no model
 */
export const logicTokensOf = (folder: string): number => {
  const place = wholeFolder(folder)
  const { length } = LONG_LOGIC_VOCABULARY
  const isLong = hasTokenizer(place)
    ? loadTokenizer(place).idOf(LONG_LOGIC_VOCABULARY[length - 1]) === length - 1
    : loadConfig(place).vocabSize >= length
  return isLong ? length : LOGIC_VOCABULARY.length
}

/** Places of the context of a model in a folder, of an adapter those of its base. @throws CheckpointError */
export const contextLength = (folder: string): number => loadConfig(wholeFolder(folder)).maxPositions
