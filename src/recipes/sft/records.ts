/** @file Learning to look things up in records: agents of mixed habits, and reflections on what they did. */

import type { z } from 'zod'
import type { ModelConfig } from '../../model/config.ts'
import type { recordsStartSchema } from '../../tasks/records/cold-start.ts'
import {
  agentPrompt,
  RECORDS_TEST_WORLD,
  RECORDS_TOKENS,
  RECORDS_VOCABULARY,
  recordsDemonstrations,
  recordsQuestion,
  recordsTokenizer,
} from '../../tasks/records/index.ts'
import type { ModelShape } from '../../train/config.ts'
import { miniatureShape } from '../common/miniature.ts'
import { assertRecordsVocabulary } from '../common/starting-model.ts'
import type { ConfigOf, LearntTask } from './learnt.ts'
import { evaluateRecords, REFLECTION_TOKENS } from './records-evaluation.ts'

/** A Llama of the given shape over the pieces of records. @throws ConfigError for heads that do not divide the width. */
export const recordsModelConfig = (shape: ModelShape): ModelConfig =>
  miniatureShape(shape, {
    vocabSize: RECORDS_VOCABULARY.length,
    bosTokenId: RECORDS_TOKENS.bos,
    eosTokenIds: [RECORDS_TOKENS.eos],
  })

/** Fresh weights with the tokenizer files that make the saved checkpoint complete. */
const freshRecordsModel = (shape: ModelShape, seed: number | string) => ({
  init: {
    config: recordsModelConfig(shape),
    seed,
    embeddingStd: shape.embeddingStd,
    files: recordsTokenizer(shape.maxPositions),
  },
})

export const learnRecords = (config: ConfigOf<z.output<typeof recordsStartSchema>>): LearntTask => {
  const { seed, batch, model, evaluation } = config
  const { hops, reflectors, referred, scaffold, calls } = config.task
  return {
    draw: recordsDemonstrations({ ...config.task, seed, batch }),
    fresh: () => freshRecordsModel(model.shape, seed),
    assertModel: assertRecordsVocabulary,
    rooms: () => [
      {
        what: 'an attempt, for a reflection',
        promptTokens:
          agentPrompt(recordsQuestion(RECORDS_TEST_WORLD, 0, { hops })).length + evaluation.maxTokens,
        newTokens: REFLECTION_TOKENS,
      },
    ],
    primarySet: 'unseen',
    isSampledOnce: true,
    evaluate: policy => step => evaluateRecords(policy, { ...evaluation, hops, calls }, step),
    words: {
      training: `${100 * reflectors}% of them reflections, ${100 * referred}% of the others with lessons`,
      more: [
        `scaffold     ${scaffold ? 'plan, research, review, answer' : 'none: idle thinking of the same length'}`,
      ],
      evaluation: 'unseen questions, without lessons and with true ones, and reflections',
    },
  }
}
