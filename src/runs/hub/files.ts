/** @file The files of a checkpoint that are the model: what others open, without the state of the training. */

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CheckpointError } from '../../util/errors.ts'

/** Of `transformers`, PEFT and tokenizers. */
const MODEL_FILE =
  /^(?:config|generation_config|adapter_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|model\.safetensors\.index)\.json$|^(?:model|adapter_model|model-\d+-of-\d+)\.safetensors$|^(?:merges\.txt|chat_template\.jinja|tokenizer\.model)$/

export interface ModelFile {
  name: string
  path: string
  bytes: number
}

/** @throws CheckpointError for a checkpoint without weights, as those of a training service are */
export const modelFiles = (checkpoint: string): ModelFile[] => {
  const files = readdirSync(checkpoint)
    .filter(name => MODEL_FILE.test(name))
    .sort()
    .map(name => ({ name, path: join(checkpoint, name), bytes: statSync(join(checkpoint, name)).size }))
  if (!files.some(({ name }) => name.endsWith('.safetensors')))
    throw new CheckpointError(`${checkpoint}: expected weights in it, got none`, {
      hint: 'weights of a model in training on a server stay there; policy.download brings adapters here, where the server hands them out',
    })
  return files
}

/** Whether the weights are an adapter's alone. */
export const isAdapter = (files: readonly ModelFile[]): boolean =>
  files.some(({ name }) => name === 'adapter_model.safetensors')
