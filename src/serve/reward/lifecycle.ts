/** @file Serving, draining, shut: which requests are still accepted, and when the last one is answered. */

export class Lifecycle {
  private state: 'serving' | 'draining' | 'shut' = 'serving'
  private open = 0
  private waiting: (() => void)[] = []

  /** New work should go elsewhere, though it is still accepted. */
  get draining(): boolean {
    return this.state !== 'serving'
  }

  /** New work is refused. */
  get shut(): boolean {
    return this.state === 'shut'
  }

  /** Requests that are not answered yet. */
  get openRequests(): number {
    return this.open
  }

  beginDraining(): void {
    if (this.state === 'serving') this.state = 'draining'
  }

  refuse(): void {
    this.state = 'shut'
  }

  enter(): void {
    this.open += 1
  }

  leave(): void {
    this.open -= 1
    if (this.open > 0) return
    for (const resolve of this.waiting.splice(0)) resolve()
  }

  /** True when every request is answered within `timeoutMs`. */
  async idle(timeoutMs: number): Promise<boolean> {
    if (this.open === 0) return true
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>(resolve => {
      timer = setTimeout(() => resolve(false), timeoutMs)
    })
    const answered = new Promise<boolean>(resolve => {
      this.waiting.push(() => resolve(true))
    })
    const idle = await Promise.race([answered, late])
    clearTimeout(timer)
    return idle
  }
}
