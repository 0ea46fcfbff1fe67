/** @file Progress on stderr: one line that renews itself on a terminal, a plain line now and then elsewhere. */

import { formatDuration } from '../util/format.ts'
import { bar, type ProgressStream, StatusLine } from '../util/status-line.ts'

export type { ProgressStream } from '../util/status-line.ts'

export interface ProgressOptions {
  /** Steps in all. */
  total: number
  /** Steps already done before this process began (a resume), so that the rate is of this process alone. */
  done?: number
  label?: string
  /** What a step is called. Default `step`. */
  unit?: string
  /** Print nothing but errors: with --json, say. */
  quiet?: boolean
  stream?: ProgressStream
  /** Time between plain lines where the stream is no terminal; between redraws on a terminal it is 100 ms. */
  everyMs?: number
  /** Clock in ms; for tests. */
  now?: () => number
}

/** Weight of the newest step in the moving rate: about the last dozen steps count. */
const RATE_WEIGHT = 0.15

const formatMetric = (value: number): string => {
  if (Number.isInteger(value)) return String(value)
  const size = Math.abs(value)
  if (size >= 100) return value.toFixed(0)
  return size >= 0.01 ? value.toFixed(size >= 10 ? 1 : 3) : value.toExponential(1)
}

const formatRate = (perSecond: number, unit: string): string =>
  perSecond >= 0.95 ? `${perSecond.toFixed(1)} ${unit}s/s` : `${formatDuration(1 / perSecond)}/${unit}`

/** Shows how far a run is, how fast, how long still, and its key metrics. */
export class Progress {
  readonly #options: Required<Omit<ProgressOptions, 'label'>> & { label: string }
  #step: number
  #lastStepAt: number
  #secondsPerStep: number | null = null
  readonly #status: StatusLine

  constructor(options: ProgressOptions) {
    this.#options = {
      done: 0,
      label: '',
      unit: 'step',
      quiet: false,
      stream: process.stderr,
      everyMs: 5_000,
      now: () => performance.now(),
      ...options,
    }
    this.#step = this.#options.done
    this.#lastStepAt = this.#options.now()
    this.#status = new StatusLine(this.#options.stream, this.#options)
  }

  /**
   * Call after each step (1-based count of steps done) with the metrics to show, in order. `stepSeconds` is what the step itself
   * took; without it the time since the last call counts, evaluations between them included.
   */
  update(
    step: number,
    metrics: Record<string, number | null | undefined> = {},
    stepSeconds?: number | null,
  ): void {
    const now = this.#options.now()
    const advanced = step - this.#step
    // The run went back to an earlier checkpoint.
    if (advanced < 0) this.#step = step
    if (advanced > 0) {
      const seconds = stepSeconds ?? (now - this.#lastStepAt) / 1000 / advanced
      this.#secondsPerStep =
        this.#secondsPerStep === null
          ? seconds
          : this.#secondsPerStep + RATE_WEIGHT * (seconds - this.#secondsPerStep)
      this.#step = step
      this.#lastStepAt = now
    }
    if (this.#options.quiet) return
    this.#status.renew(() => this.#line(metrics), step >= this.#options.total)
  }

  /** Prints a line of its own above the progress line: a monitor's message, a saved checkpoint. */
  log(message: string): void {
    if (this.#options.quiet) return
    this.#status.log(message)
  }

  /** Ends the progress line; what is printed next starts on a fresh one. */
  close(): void {
    this.#status.close()
  }

  #line(metrics: Record<string, number | null | undefined>): string {
    const { total, label, stream, unit } = this.#options
    const width = String(total).length
    const parts = [`${String(this.#step).padStart(width)}/${total}`]
    if (this.#secondsPerStep !== null && this.#secondsPerStep > 0) {
      parts.push(formatRate(1 / this.#secondsPerStep, unit))
      const left = (total - this.#step) * this.#secondsPerStep
      parts.push(left > 0 ? `${formatDuration(left)} left` : 'done')
    }
    for (const [name, value] of Object.entries(metrics)) {
      if (typeof value === 'number') parts.push(`${name} ${formatMetric(value)}`)
    }
    const head = stream.isTTY ? `${bar(this.#step / total, 16)} ` : ''
    return `${label === '' ? '' : `${label} `}${head}${parts.join(' · ')}`
  }
}
