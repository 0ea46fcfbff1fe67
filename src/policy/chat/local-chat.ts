/** @file A local checkpoint that can be talked to: its policy, tokenizer, template and format. */

import { statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type ChatFormat, chatFormat } from '../../model/chat-format.ts'
import type { ModelConfig } from '../../model/config.ts'
import { type FetchModelOptions, fetchModel } from '../../model/fetch-model.ts'
import { type GenerationConfig, loadGenerationConfig } from '../../model/generation-config.ts'
import { ggufOf } from '../../model/gguf/folder.ts'
import { tokenizerFolder, wholeFolder } from '../../model/lora-files.ts'
import { modelNameOf } from '../../model/model-place.ts'
import { assertTokenizerFits } from '../../model/tokenizer.ts'
import { LocalPolicy } from '../local/local-policy.ts'
import { sourceConfig } from '../local/model-source.ts'
import type { SampleBits } from '../local/weight-sizes.ts'
import type { Policy } from '../policy.ts'
import { type ChatWords, openWords, type WordsPlace } from './words.ts'

export interface LocalChat extends ChatWords {
  /** Name that clients see. */
  name: string
  /** Which checkpoint it is, whatever it is called: for cache keys. */
  variant: string
  policy: Policy
  config: ModelConfig
  /** For other threads. */
  wordsPlace: WordsPlace
  format: ChatFormat
  /** How its makers sample it. */
  generation: GenerationConfig
}

/** What decides an answer: weights, and how a conversation becomes tokens and ends. */
const FILES = [
  ...['model.safetensors', 'model.safetensors.index.json', 'adapter_model.safetensors', 'config.json'],
  ...['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja', 'generation_config.json'],
]

/** Place, size and time of these files: another checkpoint differs in one of them, without its weights being read. */
const variantOf = (places: readonly string[], sampleBits: SampleBits, template: string | null): string =>
  JSON.stringify([
    ...places.flatMap(place => {
      const gguf = ggufOf(place)
      const paths = gguf === null ? FILES.map(name => join(place, name)) : [gguf]
      const files = paths.flatMap(path => {
        const stat = statSync(path, { throwIfNoEntry: false })
        return stat ? [[basename(path), stat.size, stat.mtimeMs]] : []
      })
      return [resolve(place), files]
    }),
    ...(sampleBits === 32 ? [] : [{ sampleBits }]),
    ...(template === null ? [] : [template]),
  ])

/** What a model is called after the place that it was named by. */
const nameOf = (place: string): string => {
  const name = modelNameOf(place)
  return name === null ? basename(resolve(place)) : [name.repo, ...(name.file ? [name.file] : [])].join('/')
}

export interface LocalChatOptions extends Pick<FetchModelOptions, 'status'> {
  /** Default: its name on the hub, or that of its folder. */
  name?: string
  threads?: number
  /** Of a weight while tokens are drawn; 32 by default. See `EngineOptions.sampleBits`. */
  sampleBits?: SampleBits
  /** Folder of an adapter that goes on the model, whatever base it names. */
  adapter?: string
  /** File with a Jinja template in place of the checkpoint's. */
  template?: string
}

/**
 * Loads a model to talk to. Without a template of its own it gets the messages' texts as they are.
 * @param place folder, or whatever else `fetchModel` takes; an adapter is put on the base that it names
 * @throws as `fetchModel`; CheckpointError when there is no checkpoint, no tokenizer, or one that does not fit.
 */
export const openLocalChat = async (
  place: string,
  {
    name = nameOf(place),
    threads = 2,
    sampleBits = 32,
    adapter,
    status,
    template: file,
  }: LocalChatOptions = {},
): Promise<LocalChat> => {
  const folder = await fetchModel(place, { status })
  const source = { folder, adapter }
  const config = sourceConfig(source)
  const wordsPlace = { folder: tokenizerFolder(folder, adapter), template: file }
  const words = openWords(wordsPlace)
  const { tokenizer, template, ownTemplate } = words
  assertTokenizerFits(tokenizer, config)
  return {
    name,
    variant: variantOf(
      [...new Set([folder, wholeFolder(folder), ...(adapter === undefined ? [] : [adapter])])],
      sampleBits,
      file === undefined ? null : template.source,
    ),
    policy: await LocalPolicy.start(source, { threads, sampleBits }),
    config,
    ...words,
    wordsPlace,
    // A model's own template writes its special tokens itself.
    format: chatFormat(tokenizer, template, config, { addSpecialTokens: !ownTemplate }),
    generation: loadGenerationConfig(wholeFolder(folder)),
  }
}
