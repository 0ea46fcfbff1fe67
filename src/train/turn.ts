/** @file A training that goes back to a healthy checkpoint, or forth again to where it was: the run's files, the weights, the state. */

import { cpSync, existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Policy } from '../policy/policy.ts'
import { dropTakenUp, giveUp, type SoundCheckpoint, soundCheckpoint, takeUpAgain } from '../runs/given-up.ts'
import type { EventRow } from '../runs/rows.ts'
import type { RunFolder } from '../runs/run-folder.ts'
import { dropJournal } from './journal.ts'
import { type ActingState, actingOf, afterRollback, afterUndoing } from './monitors/acting.ts'
import { loadState, RECIPE_STATE, saveState } from './recipe-state.ts'

/** Where a training goes on after a turn. */
export interface TurnedRun {
  step: number
  acting: ActingState
  /** The run ends there. */
  ended: boolean
}

export interface TurnRequest {
  /** Where the training is, with a checkpoint. */
  step: number
  acting: ActingState
  trainedMs: number
  /** The newest step that may be gone back to, and how often checkpoints are saved; absent: forth to what was given up. */
  back?: { through: number; every: number }
  /** The run ends where it goes back to. */
  ends?: boolean
  /** The event that tells it. */
  tell(step: number): EventRow
}

/**
 * Goes where the request says. Without a checkpoint to go back to the run ends where it is; without what was given up it goes on.
 * @param say tells a person
 * @throws RunError for a failed write
 */
export const turnRun = async (
  policy: Policy,
  run: RunFolder,
  request: TurnRequest,
  say: (text: string) => void = () => {},
): Promise<TurnedRun> => {
  const { step, acting, trainedMs, back, ends = false } = request
  const remains: (() => Promise<void>)[] = []
  const onRemove = (dir: string) => {
    const remove = policy.forget?.(dir)
    if (remove) remains.push(remove)
  }
  const target = back ? soundCheckpoint(run.dir, back.through, back.every) : takeUpAgain(run, onRemove)
  const tell = (event: EventRow) => {
    run.appendEvent(event)
    say(`step ${event.step}: ${event.message}`)
  }
  if (target === null) {
    tell(back ? nowhere(step, back.through) : { step, level: 'info', control: 'refused', message: GONE })
    if (back) await sealHere(run, request)
    return { step, acting, ended: back !== undefined }
  }
  if (back) giveUp(run, target, step, onRemove)
  const next = back ? afterRollback(acting, ends) : afterUndoing(actingOf(target.state.recipe), acting)
  tell(request.tell(target.step))
  const dir = await seal(run, target, { finished: false, trainedMs, acting: next })
  if (!back) dropTakenUp(run)
  await Promise.all(remains.map(remove => remove()))
  await policy.load(dir)
  return { step: target.step, acting: next, ended: back !== undefined && ends }
}

const GONE = 'no rollback was undone: what was given up is damaged'

const nowhere = (step: number, through: number): EventRow => ({
  ...{ step, level: 'warning', action: 'stop' },
  message: `stopped: there is no whole checkpoint at or before step ${through} to go back to`,
})

/** Keeps that the run ended where it is. */
const sealHere = async (run: RunFolder, { step, acting, trainedMs }: TurnRequest): Promise<void> => {
  const here = soundCheckpoint(run.dir, step)
  const held = acting.held && { ...acting.held, action: 'stop' as const }
  if (here) await seal(run, here, { finished: false, trainedMs, acting: { ...acting, held } })
}

/** The checkpoint again with the state of now: a kill finds the turn done. What was sampled ahead is of streams that are over. */
const seal = (run: RunFolder, { dir, state }: SoundCheckpoint, recipe: object): Promise<string> =>
  run.writeCheckpoint({ ...state, recipe }, folder => {
    cpSync(dir, folder, { recursive: true, filter: path => !OWN.includes(basename(path)) })
    dropJournal(folder)
    if (existsSync(join(folder, RECIPE_STATE))) saveState(folder, { now: loadState(folder).now, begun: [] })
  })

/** What a checkpoint is sealed with. */
const OWN: readonly string[] = ['manifest.json', 'run-state.json']
