/** @file A line on stderr that renews itself on a terminal; a plain line now and then elsewhere. */

/** What a stream must offer; process.stderr does. */
export interface ProgressStream {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

const REDRAW_MS = 100

export const bar = (share: number, width: number): string => {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width)
  return '█'.repeat(filled) + '░'.repeat(width - filled)
}

export class StatusLine {
  readonly stream: ProgressStream
  readonly #everyMs: number
  readonly #now: () => number
  #lastShownAt = Number.NEGATIVE_INFINITY
  #isOpen = false

  /** @param everyMs between plain lines where the stream is no terminal */
  constructor(stream: ProgressStream, { everyMs = 5_000, now = () => performance.now() } = {}) {
    this.stream = stream
    this.#everyMs = everyMs
    this.#now = now
  }

  /** Shows another text in place of the one before, unless that one is new still. @param isLast shown in any case */
  renew(text: () => string, isLast = false): void {
    const now = this.#now()
    const interval = this.stream.isTTY ? REDRAW_MS : this.#everyMs
    if (!isLast && now - this.#lastShownAt < interval) return
    this.#lastShownAt = now
    this.#show(text())
  }

  /** Prints a line of its own above. */
  log(message: string): void {
    this.#clear()
    this.stream.write(`${message}\n`)
  }

  /** Ends the line; what is printed next starts on a fresh one. */
  close(): void {
    if (this.#isOpen) this.stream.write('\n')
    this.#isOpen = false
  }

  #show(line: string): void {
    if (!this.stream.isTTY) {
      this.stream.write(`${line}\n`)
      return
    }
    const columns = this.stream.columns ?? 80
    const fitted = line.length < columns ? line : `${line.slice(0, columns - 2)}…`
    this.stream.write(`\r\x1b[2K${fitted}`)
    this.#isOpen = true
  }

  #clear(): void {
    if (this.#isOpen) this.stream.write('\r\x1b[2K')
    this.#isOpen = false
  }
}
