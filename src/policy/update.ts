/** @file One batch, one optimiser step; and which losses can be computed, asked before anything is run. */

import type { Datum } from '../rl/datum.ts'
import type { LossSpec } from '../rl/loss.ts'
import { ConfigError } from '../util/errors.ts'
import type { BatchStats, LossOptions, Policy, StepOptions, StepStats } from './policy.ts'

export interface UpdateOptions extends LossOptions {
  optimizer: StepOptions
}

export type UpdateStats = BatchStats & StepStats

/** What learns: a policy, with the statistics that it gives. */
interface Learner<Batch, Step> {
  accumulate(datums: readonly Datum[], options: LossOptions): Promise<Batch>
  step(optimizer: StepOptions): Promise<Step>
}

/**
 * Accumulates a batch and takes a step. Both are asked for at once, so that no call made later comes between them, and a
 * policy elsewhere is not kept waiting; a batch that fails leaves nothing to step with.
 * @throws what `accumulate` and `step` throw; no weight has changed then
 */
export const updateOnce = async <Batch extends BatchStats, Step extends StepStats>(
  policy: Learner<Batch, Step>,
  datums: readonly Datum[],
  { optimizer, ...options }: UpdateOptions,
): Promise<Batch & Step> => {
  const [batch, step] = await Promise.all([policy.accumulate(datums, options), policy.step(optimizer)])
  return { ...batch, ...step }
}

/** Why a policy in this process cannot compute a loss, in words that follow the setting's name; null when it can. */
export const lossRefusal = (spec: LossSpec, hasValueHead: boolean): string | null =>
  spec.value === null || hasValueHead
    ? null
    : '.value: expected null with a model that has no value head; open the policy with one, or take the term out'

/**
 * Refuses a loss that the policy cannot compute, before anything is sampled for it.
 * @param setting what the loss is called where it was set
 * @throws ConfigError
 */
export const assertComputable = (policy: Pick<Policy, 'refuses'>, loss: LossSpec, setting = 'loss'): void => {
  const reason = policy.refuses(loss)
  if (reason !== null) throw new ConfigError(`${setting}${reason}`)
}
