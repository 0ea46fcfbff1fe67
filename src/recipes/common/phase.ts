/** @file A phase before a recipe's own training, in a folder of its own. */

import { existsSync, rmSync } from 'node:fs'
import { latestCheckpoint } from '../../runs/readers.ts'
import type { RunOptions, RunResult } from './recipe.ts'

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
