/** @file Where a run starts that is a fork: a checkpoint of another run, by name, kept beside the new run. */

import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { temporaryPath } from '../util/atomic.ts'
import { CheckpointError } from '../util/errors.ts'
import { checkCheckpoint, checkpointsToTry } from './checkpoints.ts'
import { guardWrite, RunError } from './errors.ts'
import { isRun } from './readers.ts'
import { stepOfName } from './run-state.ts'

/** A checkpoint to start from. */
export interface ForkSource {
  /** Folder of its run. */
  run: string
  step: number
  /** Folder of the checkpoint. */
  checkpoint: string
}

/** What a forked run keeps of the checkpoint that it started from. */
export const FORK_FOLDER = 'forked-from'

/** `50`, `step-50` and `step-000050` alike; null for another name. */
const stepNamed = (name: string): number | null => {
  const [, digits] = /^(?:step-)?(\d+)$/.exec(name) ?? []
  return digits === undefined ? null : Number(digits)
}

/** `runs/a`, `runs/a/50`, `runs/a/step-000050`, `runs/a/checkpoints/step-000050`: the run, and the step where one is named. */
const parse = (text: string, shown: string): { run: string; step: number | null } => {
  const step = stepNamed(basename(text))
  const parent = dirname(text)
  if (step !== null && isRun(parent)) return { run: parent, step }
  if (step !== null && basename(parent) === 'checkpoints' && isRun(dirname(parent)))
    return { run: dirname(parent), step }
  // Last, because a checkpoint has a config.json as well, that of its model.
  if (isRun(text)) return { run: text, step: null }
  throw new RunError(`${shown}: expected a run folder, or one with a step behind it, found no run there`, {
    hint: 'for example runs/a, or runs/a/50; gradus runs lists what there is',
  })
}

/**
 * The checkpoint that `RUN` or `RUN/STEP` names: without a step the latest.
 * @param shown what the error calls it, an option's name before it
 * @throws RunError where there is no such run or step; CheckpointError for a damaged one
 */
export const findFork = (text: string, shown = `--from ${text}`): ForkSource => {
  const { run, step } = parse(text, shown)
  const folders = checkpointsToTry(run)
  const steps = folders.map(folder => stepOfName(basename(folder))!)
  const at = step === null ? 0 : steps.indexOf(step)
  if (folders[at] === undefined)
    throw new RunError(
      `${shown}: expected a checkpoint${step === null ? '' : ` of step ${step}`}, got ${steps.length === 0 ? 'a run without any' : `those of steps ${steps.toSorted((a, b) => a - b).join(', ')}`}`,
      {
        hint:
          steps.length === 0
            ? 'let it train to its first checkpoint'
            : 'name one of these; checkpoint.keepLast says how many a run keeps',
      },
    )
  const { problems } = checkCheckpoint(folders[at])
  if (problems.length > 0)
    throw new CheckpointError(`${shown}: checkpoint ${folders[at]} is damaged: ${problems.join('; ')}`, {
      hint: 'name another one as RUN/STEP; gradus runs check says which are whole',
    })
  return { run, step: steps[at], checkpoint: folders[at] }
}

/** Files of a checkpoint are never written again, so that a second name for them is as good as a copy. */
const linkOrCopy = (from: string, to: string): void => {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}

/**
 * Keeps a checkpoint in a run's folder, whatever becomes of the run that it is of: by links where the disk has them, else as a
 * copy. Returns its path.
 * @throws RunError for a failed write
 */
export const keepFork = (dir: string, { checkpoint }: ForkSource): string => {
  const folder = join(dir, FORK_FOLDER)
  const temporary = temporaryPath(folder)
  guardWrite(folder, () => {
    mkdirSync(temporary, { recursive: true })
    // A critic of its own has a folder within.
    for (const entry of readdirSync(checkpoint, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const target = join(temporary, relative(checkpoint, entry.parentPath))
      mkdirSync(target, { recursive: true })
      linkOrCopy(join(entry.parentPath, entry.name), join(target, entry.name))
    }
    rmSync(folder, { recursive: true, force: true })
    renameSync(temporary, folder)
  })
  return folder
}

/** Where a forked run keeps what it started from; null for a run that is no fork. */
export const forkFolder = (dir: string): string | null => {
  const folder = join(dir, FORK_FOLDER)
  return existsSync(folder) ? folder : null
}
