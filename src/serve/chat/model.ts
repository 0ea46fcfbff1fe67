/** @file A local checkpoint as a chat server needs it: its policy, tokenizer and chat template. */

import { basename, resolve } from 'node:path'
import { ChatTemplate, loadChatTemplate } from '../../model/chat-template.ts'
import { loadConfig } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { assertTokenizerFits, loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import { LocalPolicy } from '../../policy/local/local-policy.ts'
import type { Policy } from '../../policy/policy.ts'

export interface ServedModel {
  /** Name that clients see. */
  name: string
  policy: Policy
  /** Context, vocabulary and end-of-text tokens. */
  config: Pick<ModelConfig, 'maxPositions' | 'vocabSize' | 'eosTokenIds'>
  tokenizer: Tokenizer
  template: ChatTemplate
  /** Whether the checkpoint brought its own template. */
  ownTemplate: boolean
}

/** For checkpoints without a template: the messages' texts, a blank line between them. */
const PLAIN_TEMPLATE = "{% for message in messages %}{{ message.content }}{{ '\\n\\n' }}{% endfor %}"

/**
 * Loads a checkpoint folder for serving.
 * @throws CheckpointError when there is no checkpoint, no tokenizer, or one that does not fit.
 */
export const openServedModel = async (
  folder: string,
  { name = basename(resolve(folder)), threads = 2 }: { name?: string; threads?: number } = {},
): Promise<ServedModel> => {
  const config = loadConfig(folder)
  const tokenizer = loadTokenizer(folder)
  assertTokenizerFits(tokenizer, config)
  const template = loadChatTemplate(folder)
  return {
    name,
    policy: await LocalPolicy.start({ folder }, { threads }),
    config,
    tokenizer,
    template: template ?? new ChatTemplate(PLAIN_TEMPLATE),
    ownTemplate: template !== null,
  }
}
