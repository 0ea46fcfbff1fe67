/** @file What comes before a recipe's own training: the checkpoint that it starts from, given or made by an earlier phase. */

import { existsSync, rmSync } from 'node:fs'
import { isRemote, type PipelinedPolicySettings, type PolicySettings } from '../../policy/open.ts'
import { latestCheckpoint } from '../../runs/readers.ts'
import { ConfigError } from '../../util/errors.ts'
import type { RunOptions, RunResult } from './recipe.ts'
import { remoteTokenizerFolder } from './remote.ts'
import { modelMayBeMissing, type RunMode } from './run-mode.ts'
import { wholeModel } from './starting-model.ts'

export interface StartSettings {
  policy: PolicySettings | PipelinedPolicySettings
  model: { folder: string | null }
  /** Null: no cold start. */
  coldStart: unknown
}

/**
 * The checkpoint that a configuration names; null when a cold start makes one, and when it comes later. Of a model on a server
 * the folder with its words.
 * @param coldStartRecipe what makes a model to start from, for the hint
 * @throws ConfigError for none and for both; CheckpointError for a folder without a whole model
 */
export const givenModel = (
  { policy, model, coldStart }: StartSettings,
  coldStartRecipe: string,
  purpose: RunMode,
): string | null => {
  if (isRemote(policy)) return remoteTokenizerFolder(policy, purpose)
  if (coldStart !== null && model.folder !== null)
    throw new ConfigError('model.folder: expected nothing beside coldStart, which makes the model', {
      hint: 'set one of the two to null',
    })
  if (coldStart === null && model.folder === null)
    throw new ConfigError('model.folder: expected a checkpoint to start from, got nothing', {
      hint: `make one with \`gradus train ${coldStartRecipe}\`, or use a preset that brings one`,
    })
  return model.folder === null || modelMayBeMissing(model.folder, purpose)
    ? null
    : wholeModel(model.folder, 'model.folder')
}

/** What a phase takes over from its run. */
export type PhaseOptions = Pick<RunOptions, 'events' | 'acceptRows'>

/**
 * Runs a phase in a folder of its own, goes on with it, or finds it done. Its checkpoint; null when it was asked to stop.
 * @param isOfUse whether a phase that was killed before its first checkpoint has left something to go on with
 */
export const runPhase = async (
  dir: string,
  { events, acceptRows }: PhaseOptions,
  run: (options: RunOptions) => Promise<RunResult>,
  isOfUse: (dir: string) => boolean = () => false,
): Promise<string | null> => {
  const resume = latestCheckpoint(dir) !== null || isOfUse(dir)
  if (!resume && existsSync(dir)) rmSync(dir, { recursive: true, force: true })
  const { finished, checkpoint } = await run({ dir, resume, events, acceptRows })
  return finished ? checkpoint : null
}
