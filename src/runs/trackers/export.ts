/** @file A run as it lies there, delivered to a tracker: what has arrived before is not sent again. */

import { takeLock } from '../lock.ts'
import { readEvals, readEvents, readRunInfo } from '../readers.ts'
import { runStatus } from '../report/data.ts'
import type { TrackerSettings } from './config.ts'
import type { Shipment } from './shipment.ts'
import { TensorBoard } from './tensorboard.ts'
import { type EndStatus, type OpenTrackerOptions, TrackerError } from './tracker.ts'
import { openTracker, shipmentTo } from './trackers.ts'

export interface ExportedRun {
  dir: string
  where: string
  /** Rows of the run, and those that were sent now; the others had arrived before. */
  rows: number
  sent: number
  /** Its rows are others than those that were delivered before, so that a new run was begun at the tracker. */
  replaced: boolean
}

export interface ExportRunOptions extends OpenTrackerOptions {
  /** What it is called there. Default: as its folder. */
  name?: string
  /** Tries of what may pass by itself. Default 4. */
  tries?: number
  /** Before the second try; each one after it waits twice as long. Default 1000. */
  firstWaitMs?: number
}

/**
 * Delivers a run, finished or not. To a server one that trains can only be delivered by its own training, which may be at it.
 * @throws TrackerError where it cannot be; RunError where there is no run, or it is being written; DataError for a broken file
 */
export const exportRun = async (
  dir: string,
  settings: TrackerSettings,
  options: ExportRunOptions = {},
): Promise<ExportedRun> => {
  const recorded = readRunInfo(dir)
  const info = { ...recorded, id: options.name ?? recorded.id }
  const tracker = openTracker(settings, dir, info, options)
  const lock = tracker instanceof TensorBoard ? null : takeLock(dir)
  try {
    const shipment = shipmentTo(tracker, dir, info)
    await finish(shipment, endOf(dir), options)
    const { sent, replaced } = shipment
    return { dir, where: tracker.where, rows: shipment.count().rows, sent, replaced: replaced > 0 }
  } finally {
    lock?.release()
  }
}

const finish = async (
  shipment: Shipment,
  end: EndStatus,
  { tries = 4, firstWaitMs = 1000 }: ExportRunOptions,
): Promise<void> => {
  for (let nth = 1; ; nth++) {
    try {
      return await shipment.finish(end)
    } catch (error) {
      if (!(error instanceof TrackerError) || error.lasting || nth === tries) throw error
      const waitMs = Math.max(error.retryAfterMs ?? 0, firstWaitMs * 2 ** (nth - 1))
      await new Promise(resolve => setTimeout(resolve, waitMs))
    }
  }
}

const endOf = (dir: string): EndStatus => {
  const last = readEvals(dir).at(-1)?.step ?? null
  if (runStatus(dir, readRunInfo(dir), last) === 'finished') return 'finished'
  return readEvents(dir).at(-1)?.level === 'error' ? 'failed' : 'stopped'
}
