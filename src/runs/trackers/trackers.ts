/** @file The trackers of a run, from its settings to its end. */

import { join } from 'node:path'
import { shortHash } from '../../util/canonical.ts'
import { ConfigError } from '../../util/errors.ts'
import { commandLineOf } from '../../util/invocation.ts'
import type { EventRow, RunInfo } from '../rows.ts'
import type { TrackerSettings } from './config.ts'
import { Delivered } from './delivered.ts'
import { Delivery, type DeliveryOptions } from './delivery.ts'
import { trackedSettings } from './metrics.ts'
import { Mlflow } from './mlflow.ts'
import { Shipment } from './shipment.ts'
import { TensorBoard } from './tensorboard.ts'
import type { EndStatus, OpenTrackerOptions, RunFacts, Tracker, TrackerEnv } from './tracker.ts'
import { Trackio } from './trackio.ts'

/** A tracker from its settings, not yet asked for anything. @throws TrackerError for settings that cannot be used */
export const openTracker = (
  settings: TrackerSettings,
  dir: string,
  { id }: Pick<RunInfo, 'id'>,
  options: OpenTrackerOptions = {},
): Tracker => {
  if (settings.kind === 'mlflow') return new Mlflow(settings, options)
  if (settings.kind === 'trackio') return new Trackio(settings, options)
  const { folder } = settings
  return folder === null
    ? new TensorBoard(join(dir, TENSORBOARD_FOLDER), join(dir, TENSORBOARD_FOLDER))
    : new TensorBoard(join(folder, id), folder)
}

/** What is wrong with settings of trackers, before a run begins. @throws ConfigError */
export const checkTrackers = (
  trackers: readonly TrackerSettings[] = [],
  env: TrackerEnv = process.env,
): void => {
  const known = new Map<string, number>()
  for (const [i, settings] of trackers.entries()) {
    try {
      const place = openTracker(settings, '.', { id: 'run' }, { env }).exportOptions.join(' ')
      const same = known.get(place)
      if (same !== undefined) throw new ConfigError(`the same place as trackers[${same}]; take one out`)
      known.set(place, i)
    } catch (error) {
      throw new ConfigError(`trackers[${i}]: ${(error as Error).message}`, { cause: error })
    }
  }
}

/** The folder of a run where it is noted what its trackers have. */
export const TRACKERS_FOLDER = 'trackers'

/** The folder of a run with its files for TensorBoard, unless the settings say otherwise. */
export const TENSORBOARD_FOLDER = 'tensorboard'

/** The run's rows on their way to a tracker. @throws DataError for a damaged note of what has arrived */
export const shipmentTo = (tracker: Tracker, dir: string, info: RunInfo): Shipment => {
  const kind = tracker.exportOptions[0].slice(2)
  const name = `${kind}-${shortHash(tracker.exportOptions).slice(0, 8)}.json`
  // Files are compared with the rows themselves.
  const path = tracker instanceof TensorBoard ? null : join(dir, TRACKERS_FOLDER, name)
  return new Shipment(dir, factsOf(info), tracker, new Delivered(path, Date.parse(info.createdAt)))
}

const factsOf = (info: RunInfo): RunFacts => {
  const { id, recipe, preset, seed, model, version, createdAt, config } = info
  const tags = { recipe, preset, seed, model, version }
  const given = Object.entries(tags).filter(([, value]) => value !== undefined && value !== null)
  return {
    name: id,
    createdAtMs: Date.parse(createdAt),
    settings: trackedSettings(config),
    tags: Object.fromEntries(given.map(([name, value]) => [`gradus.${name}`, String(value)])),
  }
}

/** What the trackers need of a run that is open for writing. */
export interface TrackedRun {
  dir: string
  info: RunInfo
  appendEvent(event: EventRow): void
  onAppend(listener: () => void): void
}

/** All trackers get so long for what is left at the end. */
const LAST_MS = 10_000

export interface RunTrackersOptions
  extends OpenTrackerOptions,
    Pick<DeliveryOptions, 'firstWaitMs' | 'longestWaitMs'> {
  /** Tells a person. */
  tell?(message: string): void
  lastMs?: number
}

/** The trackers of a run while it trains. Nothing here throws: what fails is logged, and stands among the run's events. */
export class RunTrackers {
  readonly #deliveries: { delivery: Delivery; tracker: Tracker }[] = []
  readonly #run: TrackedRun
  readonly #options: RunTrackersOptions

  constructor(settings: readonly TrackerSettings[], run: TrackedRun, options: RunTrackersOptions = {}) {
    this.#run = run
    this.#options = options
    for (const one of settings) this.#add(one)
    if (this.#deliveries.length === 0) return
    const poke = () => {
      for (const { delivery } of this.#deliveries) delivery.poke()
    }
    run.onAppend(poke)
    poke()
  }

  #add(settings: TrackerSettings): void {
    const { dir, info } = this.#run
    const { env, timeoutMs, firstWaitMs, longestWaitMs } = this.#options
    const controller = new AbortController()
    try {
      const tracker = openTracker(settings, dir, info, { env, timeoutMs, signal: controller.signal })
      const delivery = new Delivery(shipmentTo(tracker, dir, info), {
        tell: message => this.#warn(message),
        abort: () => controller.abort(),
        ...(firstWaitMs !== undefined && { firstWaitMs }),
        ...(longestWaitMs !== undefined && { longestWaitMs }),
      })
      this.#deliveries.push({ delivery, tracker })
    } catch (error) {
      this.#warn(`tracker ${settings.kind}: ${(error as Error).message}`)
    }
  }

  /** Delivers what is left, and says what could not be, with the command that does. */
  async close(status: EndStatus): Promise<void> {
    const { lastMs = LAST_MS } = this.#options
    await Promise.all(
      this.#deliveries.map(async ({ delivery, tracker }) => {
        const left = await delivery.close(status, lastMs)
        if (left !== null)
          this.#warn(
            `${left}; when it can be, this delivers the rest: ${exportCommand(this.#run.dir, tracker)}`,
          )
      }),
    )
  }

  /** The run's disk may be full, which is no matter of ours. */
  #warn(message: string): void {
    try {
      this.#run.appendEvent({ level: 'warning', message })
    } catch {}
    this.#options.tell?.(message)
  }
}

const exportCommand = (dir: string, { exportOptions }: Tracker): string =>
  commandLineOf(['export', dir, ...exportOptions])
