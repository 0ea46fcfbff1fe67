/** @file Fresh chat models, with a tokenizer that is learnt from the conversations. */

import { type ChatFormat, chatFormat } from '../../model/chat-format.ts'
import { ChatTemplate } from '../../model/chat-template.ts'
import { createTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import { CHAT_TEMPLATE, chatTokenizer, TOKENS } from '../../tasks/requests/index.ts'
import type { ModelShape } from '../../train/config.ts'
import { ConfigError } from '../../util/errors.ts'
import { miniatureShape } from '../common/miniature.ts'

export interface FreshChat {
  source: ModelSource & Required<Pick<ModelSource, 'init'>>
  tokenizer: Tokenizer
  format: ChatFormat
}

/** Of the longest questions to the judge, in the smallest vocabulary. */
const LEAST_POSITIONS = 256

/**
 * Fresh weights with the tokenizer files that make the saved checkpoint complete.
 * @throws ConfigError for heads that do not divide the width, and for a context that is too short
 */
export const freshChatModel = (shape: ModelShape, vocabulary: number, seed: number | string): FreshChat => {
  if (shape.maxPositions < LEAST_POSITIONS)
    throw new ConfigError(
      `model.shape.maxPositions: expected at least ${LEAST_POSITIONS}, got ${shape.maxPositions}; a longer question to the judge would not fit`,
    )
  const files = chatTokenizer(vocabulary, shape.maxPositions)
  const tokenizer = createTokenizer(
    JSON.parse(files['tokenizer.json']),
    JSON.parse(files['tokenizer_config.json']),
  )
  const end = tokenizer.idOf(TOKENS.end)!
  const config = miniatureShape(shape, {
    vocabSize: tokenizer.vocabSize,
    bosTokenId: tokenizer.idOf(TOKENS.start)!,
    eosTokenIds: [end],
  })
  return {
    source: { init: { config, seed, embeddingStd: shape.embeddingStd, files } },
    tokenizer,
    format: chatFormat(tokenizer, new ChatTemplate(CHAT_TEMPLATE), config),
  }
}
