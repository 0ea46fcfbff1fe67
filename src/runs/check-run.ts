/** @file A run examined without touching it: what is whole, what is damaged, what a killed process left. */

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { largestOf } from '../util/descriptive.ts'
import { describeFailure } from '../util/file-failure.ts'
import { hashFile, readManifest, unlistedFiles } from '../util/manifest.ts'
import {
  type CheckedCheckpoint,
  checkCheckpoint,
  checkpointsToTry,
  pointedTo,
  type RunMoment,
} from './checkpoints.ts'
import { lockHolder } from './lock.ts'
import { hasCheckpoints, isRun, readRunInfo } from './readers.ts'
import { numberedRows, rowDamage, stepOf, stepProblems } from './row-extent.ts'
import type { RunInfo } from './rows.ts'
import { leftoversOf } from './run-folder.ts'
import { ROW_FILES } from './run-rows.ts'

/** One thing in a run that was looked at. */
export interface Examined {
  /** Path within the run: `checkpoints/step-000050`, `metrics.jsonl`. */
  name: string
  /** What is damaged; none: it is whole. */
  problems: string[]
  /** What is no damage, but good to know. */
  notes: string[]
}

export interface RunExamination {
  dir: string
  /** Nothing is damaged, in phases of its own neither. */
  whole: boolean
  /** The checkpoint that `--resume` goes on from; null where there is none. */
  resumesFrom: string | null
  /** Who writes it now. */
  lockedBy: string | null
  examined: Examined[]
  /** Paths of what killed saves left; the next start removes them. */
  leftovers: string[]
  /** Runs of earlier phases within it. */
  phases: RunExamination[]
}

/** Phases that recipes keep in folders of their own within a run. */
const PHASES = ['cold-start', 'sft']

/**
 * Examines a run: configuration, row files, every checkpoint, `latest`, leftovers, lock. Reads only; a run that goes on may be
 * examined, and its row that is half written is no damage.
 * @throws RunError when there is no run
 */
export const examineRun = (dir: string): RunExamination => {
  if (!isRun(dir)) readRunInfo(dir)
  return examine(dir)
}

/** A phase that kept checkpoints was a run, whatever became of its config.json. */
const isPhase = (dir: string): boolean => isRun(dir) || hasCheckpoints(dir)

const examine = (dir: string): RunExamination => {
  const holder = lockHolder(dir)
  const checked = checkpointsToTry(dir).map(folder => checkCheckpoint(folder))
  const usable = checked.find(({ problems, moment }) => problems.length === 0 && rowsAgree(dir, moment))
  // What a resume would like to go on from: rows are damaged where they are not those of then.
  const moment = checked.find(({ problems }) => problems.length === 0)?.moment ?? null
  const examined = [
    configuration(dir, moment),
    ...ROW_FILES.filter(file => isExpected(dir, file, moment)).map(file =>
      rowFile(dir, file, moment, holder !== null),
    ),
    ...checked.map(each => checkpoint(dir, each)),
    ...latest(dir, checked),
  ]
  const phases = PHASES.map(name => join(dir, name))
    .filter(isPhase)
    .map(examine)
  const whole = examined.every(({ problems }) => problems.length === 0) && phases.every(phase => phase.whole)
  const leftovers = holder === null ? leftoversOf(dir) : []
  return {
    dir,
    whole,
    resumesFrom: usable?.dir ?? null,
    lockedBy: holder?.who ?? null,
    examined,
    leftovers,
    phases,
  }
}

/** Most recipes have no rubrics that evolve. */
const isExpected = (dir: string, file: string, moment: RunMoment | null): boolean =>
  file !== 'rubrics.jsonl' || existsSync(join(dir, file)) || (moment?.rows[file]?.rows ?? 0) > 0

const rowsAgree = (dir: string, moment: RunMoment | null): boolean =>
  moment === null ||
  Object.entries(moment.rows).every(([file, extent]) => rowDamage(join(dir, file), extent) === null)

const configuration = (dir: string, moment: RunMoment | null): Examined => {
  const name = 'config.json'
  let info: RunInfo
  try {
    info = readRunInfo(dir)
  } catch (error) {
    return { name, problems: [(error as Error).message], notes: [] }
  }
  const now = hashFile(join(dir, name))
  const changed = moment?.config && moment.config.sha256 !== now.sha256
  if (!changed) return { name, problems: [], notes: [] }
  const extended = info.extensions?.findLast(({ step }) => step >= moment!.step)
  return extended
    ? { name, problems: [], notes: [`settings changed by a resume after step ${extended.step}`] }
    : { name, problems: ['it was changed since the checkpoint was saved'], notes: [] }
}

const rowFile = (dir: string, file: string, moment: RunMoment | null, living: boolean): Examined => {
  const path = join(dir, file)
  const extent = moment?.rows[file]
  const damage = extent ? rowDamage(path, extent) : null
  if (!existsSync(path)) return { name: file, problems: damage ? [damage] : [], notes: ['not there'] }
  let rows: ReturnType<typeof numberedRows>
  try {
    rows = numberedRows(path)
  } catch (error) {
    const why = describeFailure(error)?.what ?? (error as Error).message
    return { name: file, problems: [`${file}: cannot be read: ${why}`], notes: [] }
  }
  const torn = rows.at(-1)?.row === null
  const broken = rows.slice(0, torn ? -1 : undefined).filter(({ row }) => row === null)
  const steps = rows.flatMap(({ row }) => stepOf(row) ?? [])
  const problems = [
    ...broken.map(({ line }) => `${file}:${line}: not JSON`),
    ...(file === 'metrics.jsonl' ? stepProblems(steps).map(problem => `${file}: ${problem}`) : []),
    ...(damage ? [damage] : []),
  ]
  const last = steps.length > 0 ? `, up to step ${largestOf(steps)}` : ''
  const tail = living ? 'its last row is being written' : 'its last row is torn; the next start drops it'
  return {
    name: file,
    problems: [...new Set(problems)],
    notes: [`${rows.length - Number(torn)} rows${last}`, ...(torn ? [tail] : [])],
  }
}

const checkpoint = (dir: string, { name, dir: folder, problems, moment }: CheckedCheckpoint): Examined => {
  const notes =
    moment === null && problems.length === 0 ? ['saved without a manifest: cannot be checked'] : []
  const extra = moment === null ? [] : unlistedFiles(folder, readManifest(folder)!)
  if (extra.length > 0) notes.push(`files that were not saved with it: ${extra.join(', ')}`)
  if (moment && problems.length === 0 && !rowsAgree(dir, moment))
    notes.push('the rows are not those of when it was saved')
  return { name: join('checkpoints', name), problems, notes }
}

const latest = (dir: string, checked: readonly CheckedCheckpoint[]): Examined[] => {
  if (checked.length === 0) return []
  const name = join('checkpoints', 'latest')
  const named = pointedTo(dir)
  const found = checked.some(each => each.name === named)
  const newest = basename(checked.toSorted((a, b) => b.step - a.step)[0].dir)
  const what = named === '' ? 'it is missing or empty' : `it names ${named}, which is not there`
  return [
    {
      name,
      problems: found ? [] : [`${what}; the newest whole one is taken`],
      notes: found && named !== newest ? [`it names ${named}; ${newest} is newer`] : [],
    },
  ]
}
