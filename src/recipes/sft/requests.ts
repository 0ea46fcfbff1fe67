/** @file Learning to chat a little: answers to short requests, and a judge's verdicts on answers. */

import { join } from 'node:path'
import type { z } from 'zod'
import { type ChatFormat, chatFormat, chatFormatOf } from '../../model/chat-format.ts'
import { ChatTemplate } from '../../model/chat-template.ts'
import { loadConfig, readCompanionFiles, saveCheckpoint } from '../../model/checkpoint.ts'
import { createTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import { loadWeights } from '../../model/weights.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import { latestCheckpoint } from '../../runs/readers.ts'
import type { requestsStartSchema } from '../../tasks/requests/cold-start.ts'
import { CHAT_TEMPLATE, chatTokenizer, requestDemonstrations, TOKENS } from '../../tasks/requests/index.ts'
import type { ModelShape } from '../../train/config.ts'
import { ConfigError } from '../../util/errors.ts'
import { miniatureShape } from '../common/miniature.ts'
import type { ConfigOf, LearntTask } from './learnt.ts'
import { evaluateChat, REQUEST_SET } from './requests-evaluation.ts'

interface FreshChat {
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

/** Of the run, beside its checkpoints: the model in half precision, half as large, which is what ships. */
const MODEL_FOLDER = 'model'

/** The last checkpoint's model without the state of its training, in half precision. */
const saveSmall = (dir: string): void => {
  const checkpoint = latestCheckpoint(dir)
  if (checkpoint === null) return
  const config = loadConfig(checkpoint)
  const content = { config, weights: loadWeights(checkpoint, config), files: readCompanionFiles(checkpoint) }
  saveCheckpoint(join(dir, MODEL_FOLDER), content, { dtype: 'float16' })
}

/** @param folder of a chat model that is there; null: fresh weights, or a model that comes later */
export const learnRequests = (
  config: ConfigOf<z.output<typeof requestsStartSchema>>,
  folder: string | null,
): LearntTask => {
  const { seed, batch, model, evaluation } = config
  const { vocabulary, judged, promptWeight } = config.task
  const fresh = folder === null ? freshChatModel(model.shape, vocabulary, seed) : null
  const format = fresh?.format ?? chatFormatOf(folder!, 'recipe "sft"')
  return {
    draw: requestDemonstrations({ batch, seed, judged, promptWeight }, format),
    fresh: () => fresh!.source,
    assertModel: () => {},
    rooms: () => [],
    primarySet: REQUEST_SET,
    isSampledOnce: true,
    evaluate: policy => step => evaluateChat(policy, format, evaluation, step),
    words: {
      training: `${100 * judged}% of them verdicts of a judge`,
      evaluation: 'unseen requests, and unseen questions to the judge',
    },
    finish: saveSmall,
  }
}
