/** @file Which checkpoint a run goes on from: the latest whole one whose rows are there as they were. */

import { basename } from 'node:path'
import { CheckpointError } from '../util/errors.ts'
import {
  type CheckedCheckpoint,
  checkCheckpoint,
  checkpointsToTry,
  type RunMoment,
  rowProblems,
} from './checkpoints.ts'
import { RunError } from './errors.ts'
import { assertSameConfig, type RunState } from './run-state.ts'

export interface ResumeOptions {
  /** What changed in the configuration, in words, for the error. */
  changes?: string
  /** Take row files as they are, damaged or not. */
  acceptRows?: boolean
}

export interface ChosenCheckpoint {
  checkpoint: CheckedCheckpoint & { state: RunState }
  /** How much of each row file belongs to it; null where that is not to be asked. */
  moment: RunMoment | null
  warnings: string[]
  /** Folders of damaged checkpoints. */
  aside: string[]
}

/**
 * @param configHash what the configuration must have been, one of several; absent: any
 *
 * Looks from the latest checkpoint backwards. Damaged files speak against a checkpoint itself, damaged rows against all that
 * were saved after those rows: an earlier one makes them again.
 * @throws RunError where there is none; CheckpointError where none will do; ConfigError when settings changed
 */
export const chooseCheckpoint = (
  dir: string,
  configHash?: string | readonly string[],
  { changes, acceptRows = false }: ResumeOptions = {},
): ChosenCheckpoint => {
  const folders = checkpointsToTry(dir)
  if (folders.length === 0) throw nothingSaved(dir)
  const passedOver: string[] = []
  const aside: string[] = []
  let rowsDamaged = false
  for (const folder of folders) {
    const checkpoint = checkCheckpoint(folder)
    const { name, problems, state, moment } = checkpoint
    if (problems.length > 0 || state === null) {
      passedOver.push(`checkpoint ${name} is damaged: ${problems.join('; ')}`)
      aside.push(folder)
      continue
    }
    if (configHash !== undefined) assertSameConfig(folder, state, configHash, changes)
    const damaged = moment ? rowProblems(dir, moment) : []
    if (damaged.length > 0 && !acceptRows) {
      passedOver.push(`rows from before checkpoint ${name} are damaged: ${damaged.join('; ')}`)
      rowsDamaged = true
      continue
    }
    const warnings = [
      ...(passedOver.length > 0 ? [goingBack(dir, checkpoint, passedOver)] : []),
      ...damaged.map(problem => `${problem}; taken as it is, as was asked (--accept-rows)`),
    ]
    const sound = damaged.length === 0 ? moment : null
    return { checkpoint: { ...checkpoint, state }, moment: sound, warnings, aside }
  }
  throw noneWillDo(dir, passedOver, rowsDamaged)
}

const goingBack = (dir: string, { name }: CheckedCheckpoint, passedOver: readonly string[]): string =>
  `${basename(dir)}: ${passedOver.join('. ')}. Going on from ${name}; the steps after it are made again`

const nothingSaved = (dir: string): RunError =>
  new RunError(`${dir}: there is nothing to resume: no checkpoint was saved yet`, {
    hint: 'with --resume-or-start it begins again in this folder',
  })

const noneWillDo = (dir: string, passedOver: readonly string[], rowsDamaged: boolean): CheckpointError =>
  new CheckpointError(`${dir}: no checkpoint will do. ${passedOver.join('. ')}`, {
    hint: rowsDamaged
      ? 'put the damaged files back from a copy, go on with the rows as they are (--accept-rows), or train again in another folder'
      : 'put the damaged files back from a copy, or train again in another folder',
  })
