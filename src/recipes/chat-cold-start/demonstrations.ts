/** @file The demonstrations of a step: answers to requests, and a judge's verdicts on answers. */

import type { ChatFormat } from '../../model/chat-format.ts'
import { drawDialogue, drawJudgement } from '../../tasks/requests/index.ts'
import type { SupervisedDatum } from '../../train/supervised.ts'
import { Rng } from '../../util/rng.ts'
import type { ChatPhase } from './config.ts'

/** The demonstrations of a step; they depend on seed and step alone. What the assistant says last is learnt, and its end. */
export const demonstrations =
  ({ batch, judged, seed }: Pick<ChatPhase, 'batch' | 'judged' | 'seed'>, format: ChatFormat) =>
  (step: number): SupervisedDatum[] =>
    Array.from({ length: batch }, (_, i) => {
      const rng = new Rng(`chat demonstration/${seed}/${(step - 1) * batch + i}`)
      const { messages, answer } = rng.next() < judged ? drawJudgement(rng) : drawDialogue(rng)
      return {
        promptTokens: format.encode(messages),
        responseTokens: [...format.tokens(answer), ...format.stopTokens.slice(0, 1)],
      }
    })
