/** @file A batch that is learnt from a step later: what was put off, in checkpoints as plain JSON, and back. */

import { z } from 'zod'
import type { GroupedDatum } from '../../rl/rollout.ts'
import { CheckpointError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'

const numbers = z.array(z.number())
const datumSchema = z.strictObject({
  group: z.string(),
  promptTokens: z.array(z.int().min(0)),
  tokens: z.array(z.int().min(0)),
  mask: numbers,
  oldLogprobs: numbers,
  advantages: numbers,
})
const batchSchema = z.array(datumSchema)

/** Log-probs of sampling go with the batch: the policy is another one when it is learnt from (spec 5.5). */
export class DeferredBatch {
  #batch: readonly GroupedDatum[] = []

  /** Puts a batch off. @returns the one that was put off before */
  swap(batch: readonly GroupedDatum[]): readonly GroupedDatum[] {
    const before = this.#batch
    this.#batch = batch
    return before
  }

  save(): unknown {
    return this.#batch.map(({ group, datum }) => ({
      group,
      promptTokens: Array.from(datum.promptTokens),
      tokens: Array.from(datum.tokens),
      mask: Array.from(datum.mask),
      oldLogprobs: Array.from(datum.oldLogprobs),
      advantages: Array.from(datum.advantages),
    }))
  }

  /** @throws CheckpointError for something else than `save` gives */
  load(value: unknown): void {
    const batch = parseWith(batchSchema, value, "recipe's state: deferred batch", CheckpointError)
    this.#batch = batch.map(({ group, promptTokens, tokens, ...datum }) => ({
      group,
      datum: {
        promptTokens,
        tokens: Int32Array.from(tokens),
        mask: Float32Array.from(datum.mask),
        oldLogprobs: Float32Array.from(datum.oldLogprobs),
        advantages: Float32Array.from(datum.advantages),
      },
    }))
  }
}
