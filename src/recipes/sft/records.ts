/** @file Learning to look things up in records: agents of mixed habits, and reflections on what they did. */

import type { z } from 'zod'
import type { recordsStartSchema } from '../../tasks/records/cold-start.ts'
import {
  agentPrompt,
  RECORDS_TEST_WORLD,
  recordsDemonstrations,
  recordsQuestion,
} from '../../tasks/records/index.ts'
import { assertWords, freshModel } from '../common/word-models.ts'
import type { ConfigOf, LearntTask } from './learnt.ts'
import { evaluateRecords, REFLECTION_TOKENS } from './records-evaluation.ts'

export const learnRecords = (config: ConfigOf<z.output<typeof recordsStartSchema>>): LearntTask => {
  const { seed, batch, model, evaluation } = config
  const { hops, reflectors, referred, scaffold, calls } = config.task
  return {
    draw: recordsDemonstrations({ ...config.task, seed, batch }),
    fresh: () => freshModel('records', model.shape, seed),
    assertModel: assertWords('records'),
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
