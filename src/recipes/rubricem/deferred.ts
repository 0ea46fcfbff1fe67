/** @file A batch that is learnt from a step later: what was put off, in checkpoints as plain JSON, and back. */

import { z } from 'zod'
import type { GroupedDatum } from '../../rl/rollout.ts'
import { CheckpointError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'

const ids = z.array(z.int().min(0))
const floats = z.array(z.number()).transform(values => Float32Array.from(values))
const batchSchema = z.array(
  z
    .strictObject({
      group: z.string(),
      promptTokens: ids,
      tokens: ids.transform(values => Int32Array.from(values)),
      ...{ mask: floats, oldLogprobs: floats, advantages: floats },
    })
    .transform(({ group, ...datum }): GroupedDatum => ({ group, datum })),
)

/** Log-probs of sampling go with the batch: the policy is another one when it is learnt from. */
export class DeferredBatch {
  #batch: readonly GroupedDatum[] = []

  /** Puts a batch off. @returns the one that was put off before */
  swap(batch: readonly GroupedDatum[]): readonly GroupedDatum[] {
    const before = this.#batch
    this.#batch = batch
    return before
  }

  save(): unknown {
    return this.#batch.map(({ group, datum: { promptTokens, tokens, mask, oldLogprobs, advantages } }) => {
      const kept = { promptTokens, tokens, mask, oldLogprobs, advantages }
      const lists = Object.entries(kept).map(([name, values]) => [name, Array.from(values)])
      return { group, ...Object.fromEntries(lists) }
    })
  }

  /** @throws CheckpointError for something else than `save` gives */
  load(value: unknown): void {
    this.#batch = parseWith(batchSchema, value, "recipe's state: deferred batch", CheckpointError)
  }
}
