/** @file What the small chat model learns: answers to requests, and a judge's verdicts on answers. */

import { z } from 'zod'
import type { ChatFormat } from '../../model/chat-format.ts'
import type { SupervisedDatum } from '../../rl/datum.ts'
import { Rng } from '../../util/rng.ts'
import { fraction } from '../../util/setting-shapes.ts'
import { drawDialogue } from './dialogue.ts'
import { drawJudgement } from './judged.ts'

export const requestsStartSchema = z.strictObject({
  kind: z.literal('requests').describe('Requests to a small chat model.'),
  vocabulary: z
    .int()
    .min(1024)
    .max(8192)
    .default(2048)
    .describe('Size of the vocabulary. The tokenizer is learnt.'),
  judged: fraction
    .default(0.35)
    .describe("Share of the demonstrations that are a judge's verdict on an answer."),
  promptWeight: fraction
    .default(0.2)
    .describe('Loss weight of the text before an answer. Questions teach the language as well.'),
})

type Teacher = z.output<typeof requestsStartSchema> & { seed: number | string; batch: number }

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
export const requestDemonstrations =
  (
    { batch, judged, promptWeight, seed }: Pick<Teacher, 'batch' | 'judged' | 'promptWeight' | 'seed'>,
    format: ChatFormat,
  ) =>
  (step: number): SupervisedDatum[] =>
    Array.from({ length: batch }, (_, i) => {
      const rng = new Rng(`chat demonstration/${seed}/${(step - 1) * batch + i}`)
      const drawn = rng.next() < judged ? drawJudgement(rng) : drawDialogue(rng)
      return demonstrationOf(drawn, format, promptWeight)
    }).sort((a, b) => b.responseTokens.length - a.responseTokens.length)
