/** @file How settings are refused. */

import { refusedLoss } from '../../policy/open.ts'
import type { LossSpec } from '../../rl/loss.ts'
import { ConfigError } from '../../util/errors.ts'

/**
 * @param message `KEY: expected WHAT`, with what came where that is told
 * @param hint what to do
 * @throws ConfigError
 */
export const refuse = (message: string, hint: string): never => {
  throw new ConfigError(message, { hint })
}

/** @throws ConfigError for a loss that the policy would not compute */
export const assertLoss = (
  policy: Parameters<typeof refusedLoss>[0],
  loss: LossSpec,
  valueHead = false,
): void => {
  const reason = refusedLoss(policy, { valueHead }, loss)
  if (reason !== null) throw new ConfigError(`loss${reason}`)
}
