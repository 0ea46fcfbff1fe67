/** @file The demonstrations of a step: answers to requests, and a judge's verdicts on answers. */

import type { ChatFormat } from '../../model/chat-format.ts'
import { drawDialogue, drawJudgement } from '../../tasks/requests/index.ts'
import type { SupervisedDatum } from '../../train/supervised.ts'
import { Rng } from '../../util/rng.ts'
import type { ChatPhase } from './config.ts'

/** A conversation with its answer: all of it is learnt, what stands before the answer with a weight of its own. */
const demonstrationOf = (
  { messages, answer }: { messages: Parameters<ChatFormat['encode']>[0]; answer: string },
  format: ChatFormat,
  promptWeight: number,
): SupervisedDatum => {
  const [start, ...asked] = format.encode(messages)
  const said = [...format.tokens(answer), ...format.stopTokens.slice(0, 1)]
  const weights = new Float32Array(asked.length + said.length).fill(1).fill(promptWeight, 0, asked.length)
  return { promptTokens: [start], responseTokens: [...asked, ...said], responseWeights: weights }
}

/** The demonstrations of a step, by length, so that little of a micro-batch is padding; they depend on seed and step alone. */
export const demonstrations =
  (
    { batch, judged, promptWeight, seed }: Pick<ChatPhase, 'batch' | 'judged' | 'promptWeight' | 'seed'>,
    format: ChatFormat,
  ) =>
  (step: number): SupervisedDatum[] =>
    Array.from({ length: batch }, (_, i) => {
      const rng = new Rng(`chat demonstration/${seed}/${(step - 1) * batch + i}`)
      const drawn = rng.next() < judged ? drawJudgement(rng) : drawDialogue(rng)
      return demonstrationOf(drawn, format, promptWeight)
    }).sort((a, b) => b.responseTokens.length - a.responseTokens.length)
