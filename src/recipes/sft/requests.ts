/** @file Learning to chat a little: answers to short requests, and a judge's verdicts on answers. */

import { join } from 'node:path'
import type { z } from 'zod'
import { chatFormatOf } from '../../model/chat-format.ts'
import { loadConfig, readCompanionFiles, saveCheckpoint } from '../../model/checkpoint.ts'
import { loadWeights } from '../../model/weights.ts'
import { latestCheckpoint } from '../../runs/readers.ts'
import type { requestsStartSchema } from '../../tasks/requests/cold-start.ts'
import { requestDemonstrations } from '../../tasks/requests/index.ts'
import { freshChatModel } from './chat-model.ts'
import type { ConfigOf, LearntTask } from './learnt.ts'
import { evaluateChat, REQUEST_SET } from './requests-evaluation.ts'

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
