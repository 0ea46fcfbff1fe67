/** @file A request on its way through a fleet, and the line that requests wait in. */

import type { JudgeError } from '../util/errors.ts'
import { Cancellation } from './cancellation.ts'
import type { ChatRequest, ChatResponse } from './chat-model.ts'
import type { Endpoint, EndpointCall } from './endpoint.ts'

export class FleetJob {
  attempts = 0
  done = false
  /** The call in progress, where there is one. */
  running: { endpoint: Endpoint; call: EndpointCall } | null = null
  lastEndpoint: Endpoint | null = null
  lastError: JudgeError | null = null
  /** Since when it could have been called. */
  readySinceMs: number
  stopDeadline: () => void = () => {}
  stopWaiting: () => void = () => {}
  readonly request: ChatRequest
  readonly characters: number
  readonly resolve: (response: ChatResponse) => void
  readonly reject: (error: unknown) => void
  readonly cancellation = new Cancellation()
  /** Links of the queue. */
  previous: FleetJob | null = null
  next: FleetJob | null = null
  queued = false

  constructor(
    request: ChatRequest,
    characters: number,
    nowMs: number,
    resolve: (response: ChatResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = request
    this.characters = characters
    this.readySinceMs = nowMs
    this.resolve = resolve
    this.reject = reject
  }
}

/** A doubly linked line: in at either end, out anywhere, all in constant time. */
export class JobQueue {
  #first: FleetJob | null = null
  #last: FleetJob | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): FleetJob | null {
    return this.#first
  }

  /** To the end: a new request. */
  push(job: FleetJob): void {
    job.queued = true
    job.previous = this.#last
    job.next = null
    if (this.#last) this.#last.next = job
    else this.#first = job
    this.#last = job
    this.#size++
  }

  /** To the front: a request that has waited already and comes back. */
  unshift(job: FleetJob): void {
    job.queued = true
    job.next = this.#first
    job.previous = null
    if (this.#first) this.#first.previous = job
    else this.#last = job
    this.#first = job
    this.#size++
  }

  /** Takes a job out; does nothing for one that is not in. */
  remove(job: FleetJob): void {
    if (!job.queued) return
    job.queued = false
    if (job.previous) job.previous.next = job.next
    else this.#first = job.next
    if (job.next) job.next.previous = job.previous
    else this.#last = job.previous
    job.previous = null
    job.next = null
    this.#size--
  }
}
