/** @file Progress on stderr: one line that renews itself on a terminal, a plain line now and then elsewhere. */

import { formatDuration } from '../util/format.ts'

/** What a stream must offer; process.stderr does. */
export interface ProgressStream {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

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
const REDRAW_MS = 100

const formatMetric = (value: number): string => {
  if (Number.isInteger(value)) return String(value)
  const size = Math.abs(value)
  if (size >= 100) return value.toFixed(0)
  return size >= 0.01 ? value.toFixed(size >= 10 ? 1 : 3) : value.toExponential(1)
}

const formatRate = (perSecond: number, unit: string): string =>
  perSecond >= 0.95 ? `${perSecond.toFixed(1)} ${unit}s/s` : `${formatDuration(1 / perSecond)}/${unit}`

const bar = (share: number, width: number): string => {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width)
  return '█'.repeat(filled) + '░'.repeat(width - filled)
}

/** Shows how far a run is, how fast, how long still, and its key metrics. */
export class Progress {
  readonly #options: Required<Omit<ProgressOptions, 'label'>> & { label: string }
  #step: number
  #lastStepAt: number
  #secondsPerStep: number | null = null
  #lastShownAt = Number.NEGATIVE_INFINITY
  #lineOpen = false

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
    const interval = this.#options.stream.isTTY ? REDRAW_MS : this.#options.everyMs
    const last = step >= this.#options.total
    if (!last && now - this.#lastShownAt < interval) return
    this.#lastShownAt = now
    this.#show(this.#line(metrics))
  }

  /** Prints a line of its own above the progress line: a monitor's message, a saved checkpoint. */
  log(message: string): void {
    if (this.#options.quiet) return
    this.#clear()
    this.#options.stream.write(`${message}\n`)
  }

  /** Ends the progress line; what is printed next starts on a fresh one. */
  close(): void {
    if (this.#lineOpen) this.#options.stream.write('\n')
    this.#lineOpen = false
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

  #show(line: string): void {
    const { stream } = this.#options
    if (!stream.isTTY) {
      stream.write(`${line}\n`)
      return
    }
    const columns = stream.columns ?? 80
    const fitted = line.length < columns ? line : `${line.slice(0, columns - 2)}…`
    stream.write(`\r\x1b[2K${fitted}`)
    this.#lineOpen = true
  }

  #clear(): void {
    if (this.#lineOpen) this.#options.stream.write('\r\x1b[2K')
    this.#lineOpen = false
  }
}
