/** @file The policy that the reinforcement starts from: a given checkpoint, or what a cold start and an SFT phase make. */

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { latestCheckpoint } from '../../runs/run-folder.ts'
import { ConfigError } from '../../util/errors.ts'
import { runChecklistColdStart } from '../checklist-cold-start/run.ts'
import type { RunEvents, RunOptions, RunResult } from '../recipe.ts'
import { assertPackingVocabulary, existingModel } from '../starting-model.ts'
import type { RuscarlConfig } from './config.ts'
import { hasDemonstrations, runSft } from './sft.ts'
import type { TrainingTask } from './task.ts'

/** The checkpoint that the configuration names, checked; null when a cold start makes one. */
export const givenModel = ({ model, coldStart: phase, task }: RuscarlConfig): string | null => {
  if (phase !== null && model.folder !== null)
    throw new ConfigError('model.folder: expected nothing beside coldStart, which makes the model', {
      hint: 'set one of the two to null',
    })
  if (phase !== null) return null
  if (model.folder === null)
    throw new ConfigError('model.folder: expected a checkpoint to start from, got nothing', {
      hint: 'make one with `gradus train checklist-cold-start`, or use a preset that brings one',
    })
  const folder = existingModel(model.folder, 'model.folder')
  if (task.kind === 'packing') assertPackingVocabulary(folder)
  return folder
}

const PHASES = { coldStart: 'cold-start', sft: 'sft' } as const

/** Whether an earlier phase of a run has begun. */
export const hasPhase = (config: RuscarlConfig, dir: string): boolean =>
  (['coldStart', 'sft'] as const).some(
    phase => config[phase] !== null && existsSync(join(dir, PHASES[phase])),
  )

/**
 * Runs a phase, goes on with it, or finds it done. Its checkpoint; null when it was asked to stop.
 * @param isOfUse whether a phase that was killed before its first checkpoint has left something to go on with
 */
const phase = async (
  dir: string,
  events: RunEvents,
  run: (options: RunOptions) => Promise<RunResult>,
  isOfUse: (dir: string) => boolean = () => false,
): Promise<string | null> => {
  const resume = latestCheckpoint(dir) !== null || isOfUse(dir)
  if (!resume) rmSync(dir, { recursive: true, force: true })
  const { finished, checkpoint } = await run({ dir, resume, events })
  return finished ? checkpoint : null
}

/** Runs the cold start of packing. */
export const coldStart = (config: RuscarlConfig, runDir: string, events: RunEvents): Promise<string | null> =>
  phase(join(runDir, PHASES.coldStart), events, options =>
    runChecklistColdStart({ ...config.coldStart!, monitors: config.monitors }, options),
  )

/** Runs the SFT phase where there is one; the starting policy as it is where there is none. */
export const supervised = async <Problem>(
  config: RuscarlConfig,
  task: TrainingTask<Problem>,
  folder: string,
  runDir: string,
  events: RunEvents,
): Promise<string | null> => {
  const { sft } = config
  if (sft === null) return folder
  const run = (options: RunOptions) => runSft(config, sft, task, folder, options)
  return phase(join(runDir, PHASES.sft), events, run, dir => hasDemonstrations(config, dir))
}
