/** @file The probes of a job: which are still to be done, and doing them. */

import { existsSync } from 'node:fs'
import { MINIATURES } from '../../recipes/common/miniatures.ts'
import type { RubricTask } from '../../recipes/common/rubric-task.ts'
import type { RuscarlConfig } from '../../recipes/ruscarl/config.ts'
import { conversationTraining } from '../../recipes/ruscarl/conversations.ts'
import { latestCheckpoint, readRunInfo } from '../../runs/readers.ts'
import { scored } from '../../tasks/scored-response.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { ConfigError } from '../../util/errors.ts'
import { type Job, runDir } from '../plan/jobs.ts'
import { probeFile } from '../run/finished.ts'
import { probe } from './probe.ts'
import type { ProbeSettings } from './schema.ts'

/** Probes of a job that have not been done. */
export const missingProbes = (probes: readonly ProbeSettings[], job: Job): ProbeSettings[] =>
  job.kind === 'arm'
    ? probes.filter(({ name, arms }) => arms.includes(job.arm) && !existsSync(probeFile(job, name)))
    : []

/**
 * Measures a finished job and writes beside its run what each probe found, as soon as it is there.
 * @throws ConfigError for a run that cannot be probed
 */
export const runProbes = async (probes: readonly ProbeSettings[], job: Job): Promise<void> => {
  const missing = missingProbes(probes, job)
  if (missing.length === 0) return
  const config = readRunInfo(runDir(job)).config as RuscarlConfig
  const trained = latestCheckpoint(runDir(job))
  const initial = config.model.folder
  if (trained === null || initial === null)
    throw new ConfigError(`${job.id}: expected a trained checkpoint and the one that it started from`, {
      hint: 'probe arms that were trained from a cold start of the registration',
    })
  const { truth, close } = probedTask(config, initial)
  const subject = { task: truth, maxTokens: config.rollout.maxTokens }
  try {
    for await (const { name, result } of probe(missing, subject, { trained, initial }))
      writeFileAtomic(probeFile(job, name), `${JSON.stringify(result)}\n`)
  } finally {
    await close()
  }
}

/** What a run was trained on, graded for the truth. @param initial the model that reads its prompts */
const probedTask = (config: RuscarlConfig, initial: string): Pick<RubricTask<unknown>, 'truth' | 'close'> => {
  const { task } = config
  return task.kind === 'packing'
    ? { truth: scored<unknown>(MINIATURES.packing.open(task)), close: async () => {} }
    : conversationTraining({ ...config, task }, initial)
}
