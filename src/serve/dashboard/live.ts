/** @file Tells pages what files have gained: one clock for all who listen, which stands still when nobody does. */

const encoder = new TextEncoder()
/** A line that says nothing, so that a proxy does not take a quiet stream for a dead one. */
const BEAT_TICKS = 15

/** What a page listens to: looks for news, and returns what to send; nothing where there is none. */
export type LiveTopic = () => Promise<{ event: string; data: unknown }[]>

interface Listener {
  topic: LiveTopic
  send(text: string): void
  end(): void
  busy: boolean
}

export class Live {
  readonly #listeners = new Set<Listener>()
  readonly #everyMs: number
  #timer: NodeJS.Timeout | null = null
  #ticks = 0

  constructor(everyMs = 1_000) {
    this.#everyMs = everyMs
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** A stream of server-sent events, until the page goes. */
  stream(topic: LiveTopic, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
    let listener: Listener | null = null
    const drop = () => {
      if (listener !== null) this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
    return new ReadableStream<Uint8Array>(
      {
        start: controller => {
          listener = {
            topic,
            busy: false,
            send: text => {
              // News for a page that takes nothing are not kept in memory: it comes again, and is told how things stand.
              if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(text))
              else listener?.end()
            },
            end: () => {
              drop()
              try {
                controller.close()
              } catch {}
            },
          }
          this.#listeners.add(listener)
          signal?.addEventListener('abort', () => listener?.end(), { once: true })
          listener.send('retry: 2000\n\n')
          this.#begin()
          void this.#look(listener)
        },
        cancel: drop,
      },
      { highWaterMark: 64 },
    )
  }

  /** Ends all streams. */
  close(): void {
    for (const listener of [...this.#listeners]) listener.end()
    this.#stop()
  }

  #begin(): void {
    this.#timer ??= setInterval(() => this.#tick(), this.#everyMs)
    this.#timer.unref()
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #tick(): void {
    this.#ticks++
    for (const listener of this.#listeners) {
      if (this.#ticks % BEAT_TICKS === 0) listener.send(': still here\n\n')
      void this.#look(listener)
    }
  }

  async #look(listener: Listener): Promise<void> {
    if (listener.busy) return
    listener.busy = true
    try {
      for (const { event, data } of await listener.topic())
        listener.send(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    } catch {
      // A run may be gone, or be made anew this moment: the next look tells.
    } finally {
      listener.busy = false
    }
  }
}
