/** @file Jobs that were trained with other settings than they would be now. */

import { readRunInfo } from '../../runs/readers.ts'
import { differentSettings } from '../../runs/report/compare.ts'
import { shortJson } from '../../util/canonical.ts'
import { ConfigError } from '../../util/errors.ts'
import { decisive, isOfOtherSettings, type Job, type ResolveTraining, runDir } from '../plan/jobs.ts'
import { readRecord } from './ledger.ts'
import { canResume } from './runner.ts'

/** Differences that an error names. */
const NAMED_CHANGES = 5

/** What differs between the settings that a job was trained with and those of now. */
const changesOf = (job: Job, resolve: ResolveTraining): string => {
  const now = decisive(resolve(job.training, job.id))
  const then = decisive(readRunInfo(runDir(job)).config as Record<string, unknown>)
  const changes = differentSettings(then, now)
    .filter(({ name }) => name !== 'model.folder')
    .map(({ name, a, b }) => `${name} ${shortJson(a, 'absent')}, now ${shortJson(b, 'absent')}`)
  return changes.length === 0 ? 'its cold start has others' : changes.slice(0, NAMED_CHANGES).join('; ')
}

/**
 * Runs that are done or begun and those still to be made must be trained with the same settings: the registration's content leaves
 * presets and defaults to the code, and the weights of a given start to a folder, and both may have changed since.
 * @throws ConfigError that names what differs
 */
export const refuseOtherSettings = (jobs: readonly Job[], resolve: ResolveTraining): void => {
  for (const job of jobs) {
    const { finished, configHash, provenance = [] } = readRecord(job)
    if (!isOfOtherSettings(job, configHash)) continue
    if (!finished && !canResume(runDir(job))) continue
    const { commit } = provenance.at(-1)?.versions ?? {}
    throw new ConfigError(
      `${job.id}: was trained with other settings than it would be now: ${changesOf(job, resolve)}. Runs of both must not be compared`,
      {
        hint: `go on with the Gradus that trained it${commit === undefined ? '' : ` (commit ${commit})`}, or begin anew with another --work`,
      },
    )
  }
}
