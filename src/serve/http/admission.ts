/** @file Who is let in: so many requests at once, so many bytes of bodies, so much memory; the rest is told when to come back. */

import { getHeapStatistics } from 'node:v8'
import type { Refusal } from './exchange.ts'
import type { FrontLimits } from './limits.ts'

/** Answers looked back on to tell the present pace. */
const PACE_OF = 64
/** Memory is looked at so often at most; to ask for it takes tens of microseconds. */
const MEMORY_FRESH_MS = 200

type Limits = Pick<FrontLimits, 'requests' | 'requestsPerConnection' | 'heldBytes' | 'memoryBytes'>

export interface AdmissionClock {
  nowMs(): number
  residentBytes(): number
  /** Share of what this thread's JavaScript may fill: beyond, the process ends, however much memory the machine has. */
  heapShare(): number
}

const SYSTEM: AdmissionClock = {
  nowMs: () => performance.now(),
  residentBytes: () => process.memoryUsage.rss(),
  heapShare: () => {
    const { used_heap_size: used, heap_size_limit: most } = getHeapStatistics()
    return used / most
  },
}

const MOST_HEAP_SHARE = 0.75

const overloaded = (reason: string, message: string, retryAfterS: number): Refusal => ({
  kind: 'overloaded',
  status: 429,
  message: `${message}; come back in ${retryAfterS} s`,
  retryAfterS,
  reason,
})

/** Counts what is under way. */
export class Admission {
  readonly #limits: Limits
  readonly #clock: AdmissionClock
  #requests = 0
  #bytes = 0
  #answeredAtMs: number[] = []
  #full = false
  #lookedAtMs = Number.NEGATIVE_INFINITY

  constructor(limits: Limits, clock: AdmissionClock = SYSTEM) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Requests that were let in and are not answered. */
  get requests(): number {
    return this.#requests
  }

  /** Bytes of their bodies, and of answers that are not taken yet. */
  get heldBytes(): number {
    return this.#bytes
  }

  /** When what is under way will be answered at the present pace: 1 to 60 s. */
  get retryAfterS(): number {
    const [first] = this.#answeredAtMs
    if (first === undefined) return 1
    const spanS = (this.#clock.nowMs() - first) / 1000
    return Math.min(60, Math.max(1, Math.ceil((this.#requests * spanS) / this.#answeredAtMs.length)))
  }

  /** Lets a request in, or says why not. @param onConnection requests under way on its connection, this one included */
  enter(onConnection: number): Refusal | null {
    const { requests, requestsPerConnection, memoryBytes, heldBytes } = this.#limits
    const wait = this.retryAfterS
    if (onConnection > requestsPerConnection)
      return overloaded('connection', `${onConnection - 1} requests are under way on this connection`, wait)
    if (this.#requests >= requests)
      return overloaded('requests', `${this.#requests} requests are under way`, wait)
    if (this.#bytes >= heldBytes)
      return overloaded('bytes', `${this.#bytes} bytes of requests are held in memory`, wait)
    if (this.#isFull(memoryBytes)) return overloaded('memory', 'the memory of this server is used up', wait)
    this.#requests += 1
    return null
  }

  /** Counts bytes of a body that came in, or says that there is no room for them. */
  hold(bytes: number): Refusal | null {
    if (this.#bytes + bytes > this.#limits.heldBytes)
      return overloaded('bytes', `${this.#bytes} bytes of requests are held in memory`, this.retryAfterS)
    this.#bytes += bytes
    return null
  }

  /** Counts bytes of an answer, which are there whether there is room or not, until they are given back. */
  keep(bytes: number): void {
    this.#bytes += bytes
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes
  }

  /** A request that was let in is over. @param bytes that were held for it */
  leave(bytes: number): void {
    this.#requests -= 1
    this.#bytes -= bytes
    this.#answeredAtMs.push(this.#clock.nowMs())
    if (this.#answeredAtMs.length > PACE_OF) this.#answeredAtMs.shift()
  }

  #isFull(memoryBytes: number): boolean {
    const nowMs = this.#clock.nowMs()
    if (nowMs - this.#lookedAtMs > MEMORY_FRESH_MS) {
      this.#full = this.#clock.residentBytes() > memoryBytes || this.#clock.heapShare() > MOST_HEAP_SHARE
      this.#lookedAtMs = nowMs
    }
    return this.#full
  }
}
