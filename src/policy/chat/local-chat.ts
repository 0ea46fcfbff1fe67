/** @file A local checkpoint that can be talked to: its policy, tokenizer, template and format. */

import { statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type ChatFormat, chatFormat } from '../../model/chat-format.ts'
import { ChatTemplate, loadChatTemplate } from '../../model/chat-template.ts'
import { loadConfig } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { type GenerationConfig, loadGenerationConfig } from '../../model/generation-config.ts'
import { assertTokenizerFits, loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import { LocalPolicy } from '../local/local-policy.ts'
import type { Policy } from '../policy.ts'

export interface LocalChat {
  /** Name that clients see. */
  name: string
  /** Which checkpoint it is, whatever it is called: for cache keys. */
  variant: string
  policy: Policy
  config: ModelConfig
  tokenizer: Tokenizer
  template: ChatTemplate
  format: ChatFormat
  /** Whether there is a template: the checkpoint's, or the one that was given. */
  ownTemplate: boolean
  /** How its makers sample it. */
  generation: GenerationConfig
}

export interface LocalChatOptions {
  name?: string
  threads?: number
  /** File with a Jinja template in place of the checkpoint's. */
  template?: string
}

/** For checkpoints without a template: the messages' texts, a blank line between them. */
const PLAIN_TEMPLATE = "{% for message in messages %}{{ message.content }}{{ '\\n\\n' }}{% endfor %}"

const WEIGHTS = ['model.safetensors', 'model.safetensors.index.json', 'adapter_model.safetensors']

/** Place, size and time of the weights: another checkpoint differs in one of them, without its weights being read. */
const variantOf = (folder: string): string => {
  const files = WEIGHTS.flatMap(name => {
    const stat = statSync(join(folder, name), { throwIfNoEntry: false })
    return stat ? [[name, stat.size, stat.mtimeMs]] : []
  })
  return JSON.stringify([resolve(folder), files])
}

/**
 * Loads a checkpoint folder to talk to. Without a template of its own it gets the messages' texts as they are.
 * @throws CheckpointError when there is no checkpoint, no tokenizer, or one that does not fit.
 */
export const openLocalChat = async (
  folder: string,
  { name = basename(resolve(folder)), threads = 2, template: file }: LocalChatOptions = {},
): Promise<LocalChat> => {
  const config = loadConfig(folder)
  const tokenizer = loadTokenizer(folder)
  assertTokenizerFits(tokenizer, config)
  const own = loadChatTemplate(folder, file)
  const template = own ?? new ChatTemplate(PLAIN_TEMPLATE)
  return {
    name,
    variant: variantOf(folder),
    policy: await LocalPolicy.start({ folder }, { threads }),
    config,
    tokenizer,
    template,
    // A model's own template writes its special tokens itself.
    format: chatFormat(tokenizer, template, config, { addSpecialTokens: own === null }),
    ownTemplate: own !== null,
    generation: loadGenerationConfig(folder),
  }
}
