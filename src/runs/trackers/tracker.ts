/** @file A tracker: what shows metrics of runs elsewhere (TensorBoard, MLflow, trackio), as a run sees it. */

import { GradusError } from '../../util/errors.ts'

/** What a tracker is told of a run, once. */
export interface RunFacts {
  /** Name of the run's folder. */
  name: string
  /** Milliseconds since 1970. */
  createdAtMs: number
  /** The resolved configuration, by dotted path: `optimizer.learningRate.peak`. */
  settings: Readonly<Record<string, string>>
  /** Recipe, preset, seed, version and the like. */
  tags: Readonly<Record<string, string>>
}

/** The metrics of one row of a run. */
export interface TrackedPoint {
  file: 'metrics' | 'evals'
  /** Which row of its file, from 1. */
  nth: number
  /** Names the row: `metrics/12`, `evals/3`. */
  key: string
  step: number
  /** When the run was begun plus what its steps took until then: the same whenever the row is read. Milliseconds since 1970. */
  atMs: number
  /** Finite numbers by name: `reward`, `criteria/C1`, `eval/real/accuracy`. */
  metrics: Readonly<Record<string, number>>
  /** Of this row and those before it in its file, without the timings, which are others when a step is made again. */
  digest: string
}

/** How a run ended: stopped ones may go on later. */
export type EndStatus = 'finished' | 'stopped' | 'failed'

/** What is open holds the points that were delivered to it before, or nothing of them. */
export type Opened = 'known' | 'new'

/** One place that shows metrics. Its functions are called one at a time, and again after they failed. */
export interface Tracker {
  /** In words, without secrets: `MLflow at http://localhost:5000`. */
  readonly where: string
  /** What `gradus export RUN` needs to deliver to the same place: `['--mlflow', 'http://localhost:5000']`. */
  readonly exportOptions: readonly string[]
  /** What of a repeated request it takes once: a row by its key, or each metric by its value and time. */
  readonly takesOnce: 'row' | 'metric'
  /** Most points that one call of `log` takes. */
  readonly mostPoints: number
  /**
   * Begins a run there, or goes on with it.
   * @param identity the same one is the same run; made here, and kept before it is first used
   * @throws TrackerError
   */
  open(run: RunFacts, identity: string): Promise<Opened>
  /** Delivers points in their order. The same points again change nothing. @throws TrackerError */
  log(points: readonly TrackedPoint[]): Promise<void>
  /** @param atMs time of the last row, by which points have theirs. Milliseconds since 1970 @throws TrackerError */
  end(status: EndStatus, atMs: number): Promise<void>
  /** Marks the run as one whose steps were made again with other metrics; a new one is opened after it. @throws TrackerError */
  replace(): Promise<void>
}

export type TrackerEnv = Readonly<Record<string, string | undefined>>

export interface OpenTrackerOptions {
  env?: TrackerEnv
  signal?: AbortSignal
  /** Of one request. */
  timeoutMs?: number
}

/** A tracker that cannot be reached, or refuses. */
export class TrackerError extends GradusError {
  /** It will fail the same way again: a wrong token, no such path, a refusal. */
  readonly lasting: boolean
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number

  constructor(
    message: string,
    options: { hint?: string; cause?: unknown; lasting?: boolean; retryAfterMs?: number } = {},
  ) {
    super(message, options)
    this.lasting = options.lasting ?? false
    this.retryAfterMs = options.retryAfterMs
  }
}
