/** @file From a configuration to a service with its HTTP face. */

import { AccessLog } from './access-log.ts'
import type { AppParts } from './app.ts'
import type { RewardConfig } from './config.ts'
import { type OpenGrading, openGrading } from './grading.ts'
import { RewardMetrics } from './metrics.ts'
import { ReadinessCheck } from './readiness.ts'
import { RewardService } from './service.ts'
import { serviceToken } from './token.ts'

export interface OpenOptions {
  /** Folder that file names of the configuration are relative to. Default: the current one. */
  folder?: string
  /** Where lines of the access log go; nowhere when absent. */
  writeLog?: (line: string) => void
  env?: Readonly<Record<string, string | undefined>>
}

/** A service of what grades: its metrics, its probes, its token. */
export const assembleService = (
  config: RewardConfig,
  grading: OpenGrading,
  { writeLog, env }: Omit<OpenOptions, 'folder'> = {},
): AppParts => {
  const token = serviceToken(config.server, env)
  const service = new RewardService(config, grading)
  const metrics = new RewardMetrics(service.queue, () => grading.metrics())
  service.onResult((result, criteria) => metrics.result(result, criteria))
  return {
    service,
    metrics,
    token,
    readiness: new ReadinessCheck(grading.probes),
    log: writeLog === undefined ? null : new AccessLog(writeLog, config.log),
  }
}

/**
 * Opens the reward service of a configuration: `rewardApp` is its HTTP application, `startRewardServer` puts it on a port.
 * @throws ConfigError, DataError, CheckpointError naming what cannot be used
 * @example
 * const criteria = [{ id: 'brief', text: 'At most three words', points: 1, verifier: { kind: 'rule', fn: 'length', params: { max: 3 } } }]
 * const { service } = await rewardService(parseRewardConfig({ rubrics: { short: { criteria } } }))
 * service.config.routes.map(({ path }) => path) // [ '/v1/grade', '/openrlhf', '/slime', '/verify' ]
 * await service.close()
 */
export const rewardService = async (config: RewardConfig, options: OpenOptions = {}): Promise<AppParts> => {
  // Refused before anything is opened.
  serviceToken(config.server, options.env)
  let parts: AppParts | undefined
  const grading = await openGrading(config, options.folder ?? '.', (...call) =>
    parts?.metrics.judged(...call),
  )
  parts = assembleService(config, grading, options)
  return parts
}
