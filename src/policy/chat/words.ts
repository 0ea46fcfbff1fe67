/** @file Between a model's conversations and its tokens: the tokenizer and the chat template of a folder. */

import { ChatTemplate, loadChatTemplate } from '../../model/chat-template.ts'
import { loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts'

/** Where they are read from. */
export interface WordsPlace {
  folder: string
  /** File with a Jinja template in place of the folder's. */
  template?: string
}

export interface ChatWords {
  tokenizer: Tokenizer
  template: ChatTemplate
  /** Whether there is a template: the folder's, or the one that was given. */
  ownTemplate: boolean
}

/** For checkpoints without a template: the messages' texts, a blank line between them. */
const PLAIN_TEMPLATE = "{% for message in messages %}{{ message.content }}{{ '\\n\\n' }}{% endfor %}"

/** @throws CheckpointError when there is no tokenizer, or a file is damaged */
export const openWords = ({ folder, template: file }: WordsPlace): ChatWords => {
  const tokenizer = loadTokenizer(folder)
  const own = loadChatTemplate(folder, file)
  return { tokenizer, template: own ?? new ChatTemplate(PLAIN_TEMPLATE), ownTemplate: own !== null }
}
