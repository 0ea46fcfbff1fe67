/** @file How settings are refused, and what they are checked for: a plan, or a run. */

import { existsSync } from 'node:fs'
import { holdsModel, type ModelPart } from '../../model/fetch-model.ts'
import { modelNameOf, modelPath } from '../../model/model-place.ts'
import { refusedLoss } from '../../policy/open.ts'
import type { LossSpec } from '../../rl/loss.ts'
import { type MonitorSettings, monitorsThat } from '../../train/monitors/config.ts'
import { ConfigError } from '../../util/errors.ts'
import { resolveShipped } from '../../util/package.ts'
import { hasRows } from '../../util/prefetched-rows.ts'

/** A plan may name a model and data that are to be put in place later, and says so; a run may not. */
export type RunMode = 'plan' | 'run'

/** `hf://datasets/...`, `https://...`: nothing that could come to lie on this disk under that name. */
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i

/**
 * Whether a file or folder is to be put in place later. Prefetched rows (`data-files.ts`) are there.
 * @throws ConfigError for an address, which no run can open
 */
export const mayBeMissing = (path: string, purpose: RunMode): boolean => {
  if (hasRows(path)) return false
  if (ADDRESS.test(path))
    throw new ConfigError(`${path}: expected a file or folder of this machine, got an address`, {
      hint: 'download it first, and name the copy',
    })
  return purpose === 'plan' && !existsSync(resolveShipped(path))
}

/** The same for a model; one with a name on the hub comes when the run fetches it. */
export const modelMayBeMissing = (place: string, purpose: RunMode, only: ModelPart = 'all'): boolean =>
  modelNameOf(place) === null
    ? mayBeMissing(place, purpose)
    : purpose === 'plan' && !holdsModel(modelPath(place), only)

/**
 * @param message `KEY: expected WHAT`, with what came where that is reported
 * @param hint what to do
 * @throws ConfigError
 */
export const refuse = (message: string, hint: string): never => {
  throw new ConfigError(message, { hint })
}

/** @throws ConfigError for what monitors cannot do in a training */
export const assertActions = ({
  monitors,
  loss,
  checkpoint,
}: {
  monitors: MonitorSettings | null
  loss: LossSpec
  checkpoint: { every: number }
}): void => {
  const [raising] = monitorsThat(monitors, ['raise-kl'])
  if (raising !== undefined && (loss.kl.kind === 'none' || loss.kl.coef === 0))
    refuse(
      `monitors.${raising}.action: expected another than raise-kl: the loss has no KL term (loss.kl), so there is no coefficient to raise and no reference to stay near`,
      'give the loss one (`loss: {preset: ..., kl: {kind: k3, coef: 0.001}}`), or choose pause, rollback or stop',
    )
  const [going] = monitorsThat(monitors, ['rollback'])
  if (going !== undefined && checkpoint.every === 0)
    refuse(
      `checkpoint.every: expected above 0 with monitors.${going}.action rollback, which goes back to a checkpoint`,
      'save every few steps (`checkpoint: {every: 10}`)',
    )
}

/** @throws ConfigError for what monitors cannot do in supervised learning */
export const assertSupervisedActions = ({ monitors }: { monitors: MonitorSettings | null }): void => {
  const [name] = monitorsThat(monitors, ['rollback', 'raise-kl'])
  if (name !== undefined)
    refuse(
      `monitors.${name}.action: expected warn, pause or stop in supervised learning, which neither goes back nor has a KL term, got ${monitors![name]!.action}`,
      'choose pause or stop',
    )
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
